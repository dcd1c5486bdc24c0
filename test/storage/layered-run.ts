import type { Engine } from "../../src/storage/engine.js";
import { branchKey, historyRecordKey } from "../../src/storage/history-keys.js";
import { prefixRange, tenantPrefix } from "../../src/storage/keys.js";
import { LayeredEngine } from "../../src/storage/layered-engine.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import type { Operation } from "../../src/storage/operation.js";
import { Shard } from "../../src/storage/shard.js";
import type { Cursor, KeyRange } from "../../src/storage/store.js";
import type { Random } from "../fuzz/random.js";
import { applyBacklog } from "./apply-backlog.js";

const SMALL = { operations: 3, bytes: 1e6, stepOperations: 1, stepBytes: 1e6 };
/** Zeros and neighbours: what an encoding of keys gets wrong. */
export const NAMES = ["", "\0", "\0\0", "\x01", "a", "a\0", "a\0b", "a\x01", "ab", "b", "\xff", "\xff\xff"];
export const ORIGIN = 7;
export type Content = ReadonlyMap<string, string>;

export function keyOf(tenant: number, name: string): Buffer {
  return Buffer.concat([tenantPrefix(tenant), Buffer.of(2), Buffer.from(name, "latin1")]);
}

/** A shard with layers on an engine in memory, and what it should hold. */
export class Run {
  readonly log = new MemoryCommitLog();
  layers!: LayeredEngine;
  shard!: Shard;
  micros = 1_000_000;
  readonly now = new Map<number, Map<string, string>>([[ORIGIN, new Map()]]);
  /** What tenants were after commits, from when their past is kept. */
  readonly past = new Map<number, Map<number, Content>>();
  readonly times = new Map<number, number>();

  /** As the engine was at an earlier moment. */
  private saved: MemoryEngine | null = null;

  constructor(
    readonly random: Random,
    public memory = new MemoryEngine(),
  ) {}

  /** After a power cut the engine may be at any commit: at this one, if `rewind` comes. */
  save(): void {
    this.saved = copyOf(this.memory);
  }

  rewind(): void {
    this.memory = copyOf(this.saved ?? new MemoryEngine());
  }

  async open(): Promise<void> {
    this.layers = new LayeredEngine(this.memory);
    const { log, layers } = this;
    this.shard = await Shard.open({ engine: layers, layers, log, largeSizes: SMALL, now: () => ++this.micros });
  }

  async flush(): Promise<void> {
    this.shard.flush();
    await applyBacklog(this.shard);
    if (this.shard.failed !== null) throw this.shard.failed;
    while (this.shard.durableSequence < this.shard.committedSequence) await Promise.resolve();
  }

  async commit(writes: readonly { readonly key: Buffer; readonly value: Buffer | null }[]): Promise<number> {
    const isLarge = writes.length >= SMALL.operations;
    // A large commit waits for the one before it.
    if (isLarge && this.shard.hasBacklog) await this.flush();
    const tx = this.shard.begin();
    for (const { key, value } of writes) {
      if (value === null) tx.delete(key);
      else tx.put(key, value);
    }
    if (isLarge) {
      const turns = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: async () => {} };
      await tx.prepareCommit(turns);
    }
    return tx.commit();
  }

  async write(tenant: number): Promise<void> {
    const writes = Array.from({ length: 1 + this.random.below(5) }, () => {
      const name = NAMES[this.random.below(NAMES.length)]!;
      return { name, value: this.random.below(3) === 0 ? null : `${this.random.below(1e6)}` };
    });
    const content = this.now.get(tenant)!;
    for (const { name, value } of writes) {
      if (value === null) content.delete(name);
      else content.set(name, value);
    }
    const sequence = await this.commit(
      writes.map(({ name, value }) => ({
        key: keyOf(tenant, name),
        value: value === null ? null : Buffer.from(value),
      })),
    );
    this.remember(tenant, sequence);
  }

  remember(tenant: number, sequence: number): void {
    this.past.get(tenant)?.set(sequence, new Map(this.now.get(tenant)));
  }

  /** As after the last commit up to `sequence`. */
  contentAt(tenant: number, sequence: number): Content | null {
    let found: Content | null = null;
    for (const [at, content] of this.past.get(tenant) ?? []) if (at <= sequence) found = content;
    return found;
  }

  async keep(tenant: number): Promise<void> {
    const sequence = await this.commit([{ key: historyRecordKey(tenant), value: Buffer.from("{}") }]);
    if (!this.past.has(tenant)) this.past.set(tenant, new Map());
    this.remember(tenant, sequence);
  }

  async fork(origin: number, tenant: number, at: number | null): Promise<void> {
    await this.flush();
    const start = at === null ? null : { sequence: at, micros: 0 };
    const record = { origin, start, root: ORIGIN, name: `branch ${tenant}` };
    const sequence = await this.commit([{ key: branchKey(tenant), value: Buffer.from(JSON.stringify(record)) }]);
    await this.flush();
    if (!this.past.has(origin)) this.past.set(origin, new Map());
    this.remember(origin, sequence);
    this.now.set(tenant, new Map(this.contentAt(origin, at ?? sequence)!));
  }

  /** Nothing was forked from it. */
  async end(tenant: number): Promise<void> {
    const { origin } = this.layers.branchOf(tenant)!;
    await this.commit([{ key: branchKey(tenant), value: null }]);
    await this.flush();
    this.now.delete(tenant);
    this.past.delete(tenant);
    // What it needed of the past may be gone.
    if (this.layers.oldestOf(origin) === null) this.past.delete(origin);
  }
}

function copyOf(engine: MemoryEngine): MemoryEngine {
  const copy = new MemoryEngine();
  const { keys, values } = engine.cursor({ gte: Buffer.of(0), lt: Buffer.alloc(6, 0xff) }).next(1e6);
  copy.write(keys.map((key, i) => ({ key, value: values[i]! })));
  return copy;
}

export function read(
  engine: Pick<Engine, "cursor">,
  tenant: number,
  low: string,
  high: string | null,
  reverse: boolean,
): Content {
  const whole = prefixRange(tenantPrefix(tenant));
  const cursor = engine.cursor({
    gte: low === "" ? whole.gte : keyOf(tenant, low),
    lt: high === null ? whole.lt : keyOf(tenant, high),
    reverse,
  });
  return entries(cursor, reverse);
}

export function entries(cursor: Cursor, reverse: boolean): Content {
  const found: [string, string][] = [];
  for (;;) {
    const { keys, values } = cursor.next(2);
    for (let i = 0; i < keys.length; i++) {
      found.push([Buffer.from(keys[i]!.subarray(5)).toString("latin1"), Buffer.from(values[i]!).toString()]);
    }
    if (keys.length < 2) break;
  }
  cursor.close();
  return new Map(reverse ? found.reverse() : found);
}

export function part(content: Content, low: string, high: string | null): Content {
  const inRange = [...content].filter(([name]) => name >= low && (high === null || name < high));
  return new Map(inRange.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Counts what cursors and other reads give, and deletions. */
export class CountingEngine extends MemoryEngine {
  read = 0;
  got = 0;
  deleted = 0;

  override getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const values = super.getMany(keys);
    this.got += values.filter((value) => value !== undefined).length;
    return values;
  }

  override write(operations: readonly Operation[]): void {
    for (const { value } of operations) if (value === null) this.deleted++;
    super.write(operations);
  }

  override cursor(range: KeyRange): Cursor {
    const cursor = super.cursor(range);
    return {
      next: (max) => {
        const entries = cursor.next(max);
        this.read += entries.keys.length;
        return entries;
      },
      close: () => cursor.close(),
    };
  }
}
