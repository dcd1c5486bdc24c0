/**
 * Keeps the past of tenants, and lays branches over their origins. Stands between RocksDB and the record cache.
 *
 * A tenant's **history** is what its entries were before each commit, by key and commit. The value of a key after commit S is what the
 * first later commit replaced, or else the value of now. So a reader of the past needs no snapshot that is held open.
 *
 * A **branch** is a tenant that reads through: where it has neither written nor deleted an entry, it has its origin's as it was after
 * the commit at which it was forked. The history of an origin is kept from that commit on for as long as the branch is there.
 *
 * Both are ordered by records (history-keys.ts), which are commits like others, so that a replay of the log makes the same again. An
 * installation without such records pays a comparison per written operation.
 */
import { DbError, sqlError } from "../protocol/errors.js";
import type { EngineMetrics, RecordCacheMetrics } from "../protocol/thread-metrics.js";
import type { Engine } from "./engine.js";
import { branchCursor, cursorAsOf, entriesOf, readReplaced, replacedValue } from "./history-cursors.js";
import {
  branchPrefix,
  hiddenKey,
  hiddenPrefix,
  hiddenRange,
  historyRecordPrefix,
  isRecordKey,
  layerRecordOf,
  ofTenant,
  rangeOfTenant,
  readHiddenKey,
  readReplacedKey,
  readStamp,
  replacedKey,
  replacedPrefix,
  replacedRange,
  sequenceValue,
  sinceKey,
  stampKey,
  stampOf,
  stampsPrefix,
  stampValue,
} from "./history-keys.js";
import { APPLIED_SEQUENCE_KEY, isOwnOnly, prefixEnd, prefixRange, SPACE, tenantOfKey, tenantPrefix } from "./keys.js";
import { LoadPart } from "./load-run.js";
import type { CommitStamp, Operation } from "./operation.js";
import { keyText } from "./ordered-map.js";
import type { OperationPart } from "./packed-operations.js";
import type { Cursor, KeyRange } from "./store.js";

/** The record of a branch: what makes it, and what its feature keeps there. */
export interface BranchRecord {
  /** The tenant or branch that it was forked from. */
  readonly origin: number;
  /** The commit that it begins with: it has what its origin had after it. Null in the record: the one that makes the record. */
  readonly start: CommitStamp | null;
  /** The tenant that the branch, and those that it was forked from, belong to. */
  readonly root: number;
  readonly name: string;
  readonly createdAt: string;
  readonly createdBy: string;
  /** Milliseconds since the epoch; null: it stays. */
  readonly expiresAtMs: number | null;
}

export interface Branch extends BranchRecord {
  readonly start: CommitStamp;
  /** Operations since the engine was opened: whether somebody has written meanwhile. */
  writes: number;
}

export class LayeredEngine implements Engine {
  private readonly branches = new Map<number, Branch>();
  /** Tenants with a record of their own that their past is kept. */
  private readonly recorded = new Set<number>();
  /** Whose past is kept, and the oldest commit that can be read. */
  private readonly kept = new Map<number, CommitStamp>();
  private isRecovering = true;

  constructor(private readonly engine: Engine) {
    for (const { key, value } of entriesOf(this.engine.cursor(prefixRange(branchPrefix()))))
      this.learnBranch(layerRecordOf(key)!.tenant, value);
    for (const { key } of entriesOf(this.engine.cursor(prefixRange(historyRecordPrefix()))))
      this.recorded.add(layerRecordOf(key)!.tenant);
    for (const tenant of [...this.recorded, ...[...this.branches.values()].map(({ origin }) => origin)]) {
      const since = this.engine.get(sinceKey(tenant, "history"));
      if (since !== undefined) this.kept.set(tenant, readStamp(since));
    }
  }

  /** The log has been replayed: from now on each commit comes once. */
  recovered(): void {
    this.isRecovering = false;
  }

  /** It has to be told of which commit each operation is, of all of them. */
  get keepsHistory(): boolean {
    return this.kept.size > 0;
  }

  branchOf(tenant: number): Branch | null {
    return this.branches.get(tenant) ?? null;
  }

  /** The number of a tenant's branch; null: it has none of that name. */
  branchNamed(root: number, name: string): number | null {
    for (const [tenant, branch] of this.branches) if (branch.root === root && branch.name === name) return tenant;
    return null;
  }

  /** All branches that belong to a tenant, by their numbers. */
  branchesUnder(root: number): readonly (readonly [number, Branch])[] {
    return [...this.branches].filter(([, branch]) => branch.root === root);
  }

  /** Up to `max` of those whose time is over and from which none was forked. */
  expired(nowMs: number, max: number): readonly number[] {
    const found: number[] = [];
    for (const [tenant, { expiresAtMs }] of this.branches) {
      if (found.length === max) break;
      const isOver = expiresAtMs !== null && expiresAtMs <= nowMs;
      if (isOver && this.branchesOf(tenant).length === 0) found.push(tenant);
    }
    return found;
  }

  /** Those that were forked from it. */
  branchesOf(origin: number): readonly number[] {
    return [...this.branches].filter(([, branch]) => branch.origin === origin).map(([tenant]) => tenant);
  }

  /** The oldest commit after which a tenant can be read; null: its past is not kept. */
  oldestOf(tenant: number): CommitStamp | null {
    return this.kept.get(tenant) ?? null;
  }

  /** A tenant's newest commit at that time; null: there was none since its past is kept. */
  commitAt(tenant: number, micros: number): CommitStamp | null {
    const cursor = this.engine.cursor({
      gte: stampKey(tenant, 0),
      lt: stampKey(tenant, micros + 1),
      reverse: true,
    });
    const { keys, values } = cursor.next(1);
    cursor.close();
    return keys.length === 0 ? null : stampOf(keys[0]!, values[0]!);
  }

  /** Reads everything as it was after that commit. The tenant's past has to be kept since then. */
  asOf(sequence: number): Engine {
    return new EngineAsOf(this, sequence);
  }

  /** Throws 72000 when the tenant's past has been forgotten up to a later commit meanwhile. */
  requireReadable(tenant: number, sequence: number): void {
    const oldest = this.kept.get(tenant);
    if (oldest !== undefined && oldest.sequence <= sequence) return;
    throw sqlError("72000", "the past that the statement reads has been forgotten meanwhile");
  }

  /** The tenant's commit of that number, or the one before; null: it is not among the newest ones. */
  stampOf(tenant: number, sequence: number): CommitStamp | null {
    const cursor = this.engine.cursor({ ...prefixRange(stampsPrefix(tenant)), reverse: true });
    const { keys, values } = cursor.next(STAMPS_MAX);
    cursor.close();
    for (let i = 0; i < keys.length; i++) {
      const stamp = stampOf(keys[i]!, values[i]!);
      if (stamp.sequence <= sequence) return stamp;
    }
    return null;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const own = this.engine.get(key);
    if (own !== undefined || this.branches.size === 0) return own;
    const branch = this.branches.get(tenantOfKey(key));
    if (branch === undefined || isOwnOnly(key) || this.engine.get(hiddenKey(key)) !== undefined) return undefined;
    return this.getAsOf(ofTenant(key, branch.origin), branch.start.sequence);
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    if (this.branches.size === 0) return this.engine.getMany(keys);
    return this.engine.getMany(keys).map((own, i) => own ?? this.get(keys[i]!));
  }

  getAsOf(key: Uint8Array, sequence: number): Uint8Array | undefined {
    const cursor = this.engine.cursor({ gte: replacedKey(key, sequence + 1), lt: prefixEnd(replacedKey(key, LATEST)) });
    const { values } = cursor.next(1);
    cursor.close();
    return values.length === 0 ? this.get(key) : (readReplaced(values[0]!) ?? undefined);
  }

  cursor(range: KeyRange): Cursor {
    const tenant = tenantOfKey(range.gte);
    const branch = this.branches.get(tenant);
    if (branch === undefined || isOwnOnly(range.gte)) return this.engine.cursor(range);
    const whole: KeyRange = { gte: range.gte, lt: range.lt, reverse: range.reverse === true };
    const own = this.engine.cursor(whole);
    const hidden = this.engine.cursor(hiddenRange(whole));
    const origin = this.cursorAsOf(rangeOfTenant(whole, branch.origin), branch.start.sequence);
    return branchCursor(own, hidden, origin, whole, tenant);
  }

  cursorAsOf(range: KeyRange, sequence: number): Cursor {
    const whole: KeyRange = { gte: range.gte, lt: range.lt, reverse: range.reverse === true };
    return cursorAsOf(this.cursor(whole), (part) => this.engine.cursor(part), sequence, whole);
  }

  write(operations: readonly Operation[], persisted?: boolean): void {
    const isPlain = this.kept.size === 0 && this.branches.size === 0 && !operations.some(({ key }) => isRecordKey(key));
    this.engine.write(isPlain ? operations : this.layered(operations), persisted);
  }

  /** The operations, and with them what is kept beside the entries that they change. */
  private layered(operations: readonly Operation[]): Operation[] {
    const made: Operation[] = [];
    // A commit that the engine gets in parts may come again after a crash, when it has some of them already.
    const mayHave = this.isRecovering || operations.at(-1)?.key !== APPLIED_SEQUENCE_KEY;
    const seen = new Map<string, Uint8Array | null>();
    const newest = new Map<string, number>();
    const before = (key: Uint8Array): Uint8Array | undefined => {
      const text = keyText(key);
      return seen.has(text) ? (seen.get(text) ?? undefined) : this.get(key);
    };
    for (const operation of operations) {
      const { key, value, commit } = operation;
      const tenant = tenantOfKey(key);
      const text = keyText(key);
      // A commit may have a key twice; what it replaced is what was there before the first time.
      if (this.keeps(tenant, key) && commit !== undefined && newest.get(text) !== commit.sequence) {
        const replaced = replacedKey(key, commit.sequence);
        newest.set(text, commit.sequence);
        if (!mayHave || this.engine.get(replaced) === undefined) {
          made.push({ key: replaced, value: replacedValue(before(key)) });
        }
        made.push({ key: stampKey(tenant, commit.micros), value: sequenceValue(commit.sequence) });
      }
      const branch = this.branches.get(tenant);
      if (branch !== undefined) {
        branch.writes++;
        if (!isOwnOnly(key)) made.push({ key: hiddenKey(key), value: value === null ? NO_BYTES : null });
      }
      made.push(operation);
      seen.set(text, value);
      if (isRecordKey(key)) made.push(...this.noteRecord(operation));
    }
    return made;
  }

  private keeps(tenant: number, key: Uint8Array): boolean {
    return this.kept.has(tenant) && key[4] !== SPACE.idempotency;
  }

  /** Takes note of a record. Answers what the engine has to keep for it. */
  private noteRecord({ key, value, commit }: Operation): Operation[] {
    const record = layerRecordOf(key);
    if (record === null) return [];
    const { kind, tenant } = record;
    if (kind === "history") {
      if (value === null) this.recorded.delete(tenant);
      else this.recorded.add(tenant);
      return this.keepWhatIsNeeded(tenant, commit);
    }
    const before = this.branches.get(tenant);
    if (value === null) {
      this.branches.delete(tenant);
      this.engine.clear(prefixRange(hiddenPrefix(tenant)));
      const gone = { key: sinceKey(tenant, "branch"), value: null };
      return before === undefined ? [gone] : [gone, ...this.keepWhatIsNeeded(before.origin, commit)];
    }
    const made = this.learnBranch(tenant, value, commit);
    return [...made, ...this.keepWhatIsNeeded(this.branches.get(tenant)!.origin, commit)];
  }

  private learnBranch(tenant: number, value: Uint8Array, commit?: CommitStamp): Operation[] {
    const record = JSON.parse(Buffer.from(value).toString()) as BranchRecord;
    const known = this.engine.get(sinceKey(tenant, "branch"));
    const start = record.start ?? (known === undefined ? commit! : readStamp(known));
    this.branches.set(tenant, { ...record, start, writes: 0 });
    return [{ key: sinceKey(tenant, "branch"), value: stampValue(start) }];
  }

  private keepWhatIsNeeded(tenant: number, commit: CommitStamp | undefined): Operation[] {
    const isNeeded = this.recorded.has(tenant) || this.branchesOf(tenant).length > 0;
    if (isNeeded === this.kept.has(tenant)) return [];
    const since = sinceKey(tenant, "history");
    if (isNeeded) {
      this.kept.set(tenant, commit!);
      return [
        { key: since, value: stampValue(commit!) },
        { key: stampKey(tenant, commit!.micros), value: sequenceValue(commit!.sequence) },
      ];
    }
    this.kept.delete(tenant);
    this.engine.clear(prefixRange(replacedPrefix(tenant)));
    this.engine.clear(prefixRange(stampsPrefix(tenant)));
    return [{ key: since, value: null }];
  }

  /**
   * Forgets what a tenant was before that commit, up to `max` entries at a time: answers where to go on, null when all is done. What a
   * branch begins with is never forgotten.
   */
  forget(tenant: number, before: CommitStamp, from: Uint8Array | null, max: number): Uint8Array | null {
    const since = this.kept.get(tenant);
    if (since === undefined) return null;
    let to = before;
    for (const { origin, start } of this.branches.values()) {
      if (origin === tenant && start.sequence < to.sequence) to = start;
    }
    if (to.sequence < since.sequence || (to.sequence === since.sequence && from === null)) return null;
    const range = prefixRange(replacedPrefix(tenant));
    const cursor = this.engine.cursor({ ...range, gte: from ?? range.gte, only: "keys" });
    const { keys } = cursor.next(max);
    cursor.close();
    const gone = keys.filter((key) => readReplacedKey(key).sequence <= to.sequence);
    this.kept.set(tenant, to);
    this.engine.write([
      { key: sinceKey(tenant, "history"), value: stampValue(to) },
      ...gone.map((key) => ({ key, value: null })),
    ]);
    this.engine.clear({ gte: stampKey(tenant, 0), lt: stampKey(tenant, to.micros) });
    return keys.length < max ? null : keys.at(-1)!;
  }

  /**
   * Keys whose entries a branch has written or deleted since its start, in order: up to `max` of them after `after`. They may have the
   * same entries again.
   */
  changedKeys(tenant: number, after: Uint8Array | null, max: number): readonly Uint8Array[] {
    const whole = prefixRange(tenantPrefix(tenant));
    const range = after === null ? whole : { ...whole, gte: Buffer.concat([after, Buffer.of(0)]) };
    const own = this.engine.cursor({ ...range, only: "keys" });
    const hidden = this.engine.cursor({ ...hiddenRange(range), only: "keys" });
    const keys = [...own.next(max).keys, ...hidden.next(max).keys.map(readHiddenKey)];
    own.close();
    hidden.close();
    return keys.sort(Buffer.compare).slice(0, max);
  }

  /** Whether a commit after that one has written in the range. The past of its tenant is kept since then. */
  changedSince(range: KeyRange, sequence: number): boolean {
    for (const { key } of entriesOf(this.engine.cursor({ ...replacedRange(range), only: "keys" }))) {
      if (readReplacedKey(key).sequence > sequence) return true;
    }
    return false;
  }

  /** Whether there is a moment that can still be read at which the key had another entry, or none. */
  remembers(key: Uint8Array): boolean {
    if (!this.kept.has(tenantOfKey(key))) return false;
    const cursor = this.engine.cursor({ gte: replacedKey(key, 0), lt: prefixEnd(replacedKey(key, LATEST)) });
    const { keys } = cursor.next(1);
    cursor.close();
    return keys.length > 0;
  }

  clear(range: Pick<KeyRange, "gte" | "lt">): void {
    this.engine.clear(range);
  }

  writeElsewhere(parts: readonly OperationPart[]): Promise<void> | null {
    if (this.isLayered(parts)) return null;
    return this.engine.writeElsewhere?.(parts) ?? null;
  }

  private isLayered(parts: readonly OperationPart[]): boolean {
    const isOf = (key: Uint8Array): boolean => {
      const tenant = tenantOfKey(key);
      return this.kept.has(tenant) || this.branches.has(tenant) || layerRecordOf(key) !== null;
    };
    return parts.some((part) => (part instanceof LoadPart ? isOf(part.lastKey) : part.some(({ key }) => isOf(key))));
  }

  entriesInMemory(): number {
    return this.engine.entriesInMemory();
  }

  storedBytes(): number {
    return this.engine.storedBytes();
  }

  metrics(): EngineMetrics | null {
    return this.engine.metrics();
  }

  recordCache(): RecordCacheMetrics | null {
    return this.engine.recordCache();
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}

/** Reads the past only. */
class EngineAsOf implements Engine {
  constructor(
    private readonly engine: LayeredEngine,
    private readonly sequence: number,
  ) {}

  get(key: Uint8Array): Uint8Array | undefined {
    this.engine.requireReadable(tenantOfKey(key), this.sequence);
    return this.engine.getAsOf(key, this.sequence);
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return keys.map((key) => this.get(key));
  }

  cursor(range: KeyRange): Cursor {
    const tenant = tenantOfKey(range.gte);
    this.engine.requireReadable(tenant, this.sequence);
    const cursor = this.engine.cursorAsOf(range, this.sequence);
    return {
      next: (max) => {
        this.engine.requireReadable(tenant, this.sequence);
        return cursor.next(max);
      },
      close: () => cursor.close(),
    };
  }

  write(): never {
    throw new DbError("read_only_transaction");
  }

  clear(): never {
    throw new DbError("read_only_transaction");
  }

  entriesInMemory(): number {
    return 0;
  }

  storedBytes(): number {
    return 0;
  }

  metrics(): null {
    return null;
  }

  recordCache(): null {
    return null;
  }

  async close(): Promise<void> {}
}

const NO_BYTES = new Uint8Array(0);
/** Commits that are looked through for the time of one. */
const STAMPS_MAX = 10_000;
/** No commit has a greater sequence. */
const LATEST = 2 ** 48 - 1;
