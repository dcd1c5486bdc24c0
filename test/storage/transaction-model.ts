/**
 * A naive model of the shard, one history of whole states, and an interpreter that runs the same random steps on the
 * model and on a real shard and compares every answer. Used by transaction-model.test.ts.
 */
import { deepStrictEqual, strictEqual } from "node:assert";
import fc from "fast-check";
import type { Shard } from "../../src/storage/shard.js";
import type { Cursor } from "../../src/storage/store.js";
import type { Isolation, ShardTransaction } from "../../src/storage/transaction.js";
import { get, key, rows } from "./shards.js";

const ISOLATIONS: Isolation[] = ["serializable", "serializable", "snapshot", "read committed"];
const NAMES = ["", "\0", "a", "a\0", "b", "\x80", "\xfe\xfe"];

const name = fc.nat(NAMES.length - 1);
const who = fc.nat(3);
/** Transaction 3 mostly stays open, so that old snapshots are read. */
const ending = fc.oneof({ arbitrary: fc.nat(2), weight: 9 }, fc.constant(3));
const step = fc.oneof(
  {
    arbitrary: fc.record({ kind: fc.constant("begin" as const), who, isolation: fc.nat(3), readOnly: fc.nat(7) }),
    weight: 8,
  },
  { arbitrary: fc.record({ kind: fc.constant("get" as const), who, name }), weight: 3 },
  fc.record({ kind: fc.constant("getMany" as const), who, names: fc.array(name, { maxLength: 4 }) }),
  { arbitrary: fc.record({ kind: fc.constant("put" as const), who, name, value: fc.nat(99) }), weight: 10 },
  { arbitrary: fc.record({ kind: fc.constant("delete" as const), who, name }), weight: 2 },
  {
    arbitrary: fc.record({ kind: fc.constant("scan" as const), who, low: name, high: name, reverse: fc.boolean() }),
    weight: 3,
  },
  { arbitrary: fc.record({ kind: fc.constant("next" as const), who, max: fc.integer({ min: 1, max: 4 }) }), weight: 5 },
  fc.record({ kind: fc.constant("savepoint" as const), who }),
  fc.record({ kind: fc.constant("rollbackTo" as const), who, index: fc.nat(2) }),
  fc.record({ kind: fc.constant("release" as const), who, index: fc.nat(2) }),
  fc.record({ kind: fc.constant("refresh" as const), who }),
  { arbitrary: fc.record({ kind: fc.constant("commit" as const), who: ending }), weight: 8 },
  { arbitrary: fc.record({ kind: fc.constant("commitLarge" as const), who: ending }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant("apply" as const), who }), weight: 8 },
  fc.record({ kind: fc.constant("rollback" as const), who: ending }),
  { arbitrary: fc.record({ kind: fc.constant("flush" as const), who }), weight: 3 },
);
export const steps = fc.array(step, { minLength: 20, maxLength: 120, size: "max" });
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const NEVER_YIELD = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: () => Promise.resolve() };

type State = ReadonlyMap<string, string>;

interface ModelCursor {
  readonly real: Cursor;
  readonly expected: string[];
  readonly low: string;
  readonly high: string;
  readonly reverse: boolean;
  last: string | null;
  finished: boolean;
}

interface ModelTransaction {
  readonly real: ShardTransaction;
  readonly isolation: Isolation;
  state: State;
  snapshot: number;
  writes: Map<string, { readonly value: string | null; readonly snapshot: number }>;
  readonly reads: Set<string>;
  readonly cursors: ModelCursor[];
  readonly savepoints: { readonly id: number; readonly writes: ModelTransaction["writes"] }[];
}

/** One run on a shard, in a range of keys of its own. */
export class ModelRun {
  private readonly shard: Shard;
  private readonly prefix: string;
  private readonly open: (ModelTransaction | null)[] = [null, null, null, null];
  private state: State = new Map();
  private readonly commits: { readonly sequence: number; readonly keys: ReadonlySet<string> }[] = [];

  constructor(shard: Shard, prefix: string) {
    this.shard = shard;
    this.prefix = prefix;
  }

  async run(all: readonly Step[]): Promise<void> {
    try {
      for (const each of all) await this.step(each);
    } finally {
      for (const transaction of this.open) transaction?.real.rollback();
      this.shard.flush();
      await this.applyAll();
    }
  }

  private async applyAll(): Promise<void> {
    while (this.shard.hasBacklog) {
      this.shard.flush();
      await this.shard.backlogReady();
      this.shard.applySome();
    }
  }

  private async step(each: Step): Promise<void> {
    const transaction = this.open[each.who]!;
    if (each.kind === "flush") {
      this.shard.flush();
    } else if (each.kind === "apply") {
      // The log's sync may end.
      for (let i = 0; i < 5; i++) await Promise.resolve();
      this.shard.applySome();
    } else if (each.kind === "commitLarge") {
      if (transaction === null) return;
      await this.applyAll();
      await transaction.real.prepareCommit(NEVER_YIELD);
      this.open[each.who] = null;
      this.commit(transaction);
    } else if (each.kind === "begin") {
      if (transaction === null) this.begin(each.who, ISOLATIONS[each.isolation]!, each.readOnly === 0);
    } else if (transaction !== null) {
      this.stepIn(transaction, each);
    }
  }

  private begin(who: number, isolation: Isolation, readOnly: boolean): void {
    const real = this.shard.begin({ readOnly, isolation });
    const state = this.state;
    const snapshot = this.shard.committedSequence;
    strictEqual(real.snapshot, snapshot);
    this.open[who] = {
      real,
      isolation,
      state,
      snapshot,
      writes: new Map(),
      reads: new Set(),
      cursors: [],
      savepoints: [],
    };
  }

  private stepIn(
    transaction: ModelTransaction,
    each: Exclude<Step, { kind: "begin" | "flush" | "apply" | "commitLarge" }>,
  ): void {
    const { real, savepoints } = transaction;
    switch (each.kind) {
      case "get":
        strictEqual(get(real, this.name(each.name)), this.read(transaction, each.name));
        break;
      case "getMany": {
        const values = real.getMany(each.names.map((index) => key(this.name(index))));
        deepStrictEqual(
          values.map((value) => (value === undefined ? undefined : Buffer.from(value).toString("latin1"))),
          each.names.map((index) => this.read(transaction, index)),
        );
        break;
      }
      case "put":
        this.write(transaction, each.name, String(each.value));
        break;
      case "delete":
        this.write(transaction, each.name, null);
        break;
      case "scan":
        this.scan(transaction, this.name(each.low), this.name(each.high), each.reverse);
        break;
      case "next":
        this.next(transaction.cursors.at(-1), each.max);
        break;
      case "savepoint":
        savepoints.push({ id: real.savepoint(), writes: new Map(transaction.writes) });
        break;
      case "rollbackTo": {
        const savepoint = savepoints[each.index];
        if (savepoint === undefined) break;
        real.rollbackTo(savepoint.id);
        transaction.writes = new Map(savepoint.writes);
        savepoints.length = each.index + 1;
        break;
      }
      case "release":
        if (savepoints[each.index] === undefined) break;
        real.release(savepoints[each.index]!.id);
        savepoints.length = each.index;
        break;
      case "refresh":
        if (transaction.isolation !== "read committed") break;
        real.refresh();
        transaction.state = this.state;
        transaction.snapshot = this.shard.committedSequence;
        break;
      case "commit":
        this.open[each.who] = null;
        this.commit(transaction);
        break;
      case "rollback":
        this.open[each.who] = null;
        real.rollback();
    }
  }

  private name(index: number): string {
    return this.prefix + NAMES[index]!;
  }

  private read(transaction: ModelTransaction, index: number): string | undefined {
    const text = this.name(index);
    const own = transaction.writes.get(text);
    if (own !== undefined) return own.value ?? undefined;
    transaction.reads.add(text);
    return transaction.state.get(text);
  }

  private write(transaction: ModelTransaction, index: number, value: string | null): void {
    const text = this.name(index);
    try {
      if (value === null) transaction.real.delete(key(text));
      else transaction.real.put(key(text), key(value));
    } catch (error) {
      strictEqual((error as { code: string }).code, "read_only_transaction");
      return;
    }
    strictEqual(transaction.real.readOnly, false);
    const snapshot = transaction.writes.get(text)?.snapshot ?? transaction.snapshot;
    transaction.writes.set(text, { value, snapshot });
  }

  private scan(transaction: ModelTransaction, low: string, high: string, reverse: boolean): void {
    const seen = new Map(transaction.state);
    for (const [text, { value }] of transaction.writes) {
      if (value === null) seen.delete(text);
      else seen.set(text, value);
    }
    const expected = [...seen]
      .filter(([text]) => text >= low && text < high)
      .map(([text, value]) => `${text}=${value}`)
      .sort((a, b) => (a.slice(0, a.lastIndexOf("=")) < b.slice(0, b.lastIndexOf("=")) ? -1 : 1));
    if (reverse) expected.reverse();
    const real = transaction.real.scan({ gte: key(low), lt: key(high), reverse });
    transaction.cursors.push({ real, expected, low, high, reverse, last: null, finished: false });
  }

  private next(cursor: ModelCursor | undefined, max: number): void {
    if (cursor === undefined) return;
    const expected = cursor.expected.splice(0, max);
    deepStrictEqual(rows(cursor.real, max), expected);
    const last = expected.at(-1);
    if (last !== undefined) cursor.last = last.slice(0, last.lastIndexOf("="));
    if (expected.length < max) cursor.finished = true;
  }

  private commit(transaction: ModelTransaction): void {
    const expected = this.conflict(transaction);
    if (transaction.writes.size === 0) {
      strictEqual(transaction.real.commit(), transaction.snapshot);
      return;
    }
    let sequence: number;
    try {
      sequence = transaction.real.commit();
    } catch (error) {
      strictEqual((error as Error).message, expected);
      return;
    }
    strictEqual(null, expected);
    const state = new Map(this.state);
    for (const [text, { value }] of transaction.writes) {
      if (value === null) state.delete(text);
      else state.set(text, value);
    }
    this.state = state;
    this.commits.push({ sequence, keys: new Set(transaction.writes.keys()) });
  }

  private conflict(transaction: ModelTransaction): string | null {
    const writtenAfter = (sequence: number, matches: (text: string) => boolean) =>
      this.commits.some((commit) => commit.sequence > sequence && [...commit.keys].some(matches));
    for (const [text, { snapshot }] of transaction.writes) {
      if (writtenAfter(snapshot, (each) => each === text)) {
        return "could not serialize access due to concurrent update";
      }
    }
    if (transaction.isolation !== "serializable") return null;
    const isRead = (text: string) => transaction.reads.has(text) || transaction.cursors.some((c) => hasSeen(c, text));
    return writtenAfter(transaction.snapshot, isRead)
      ? "could not serialize access due to read/write dependencies among transactions"
      : null;
  }
}

function hasSeen({ low, high, last, finished, reverse }: ModelCursor, text: string): boolean {
  if (text < low || text >= high) return false;
  if (finished) return true;
  return last !== null && (reverse ? text >= last : text <= last);
}
