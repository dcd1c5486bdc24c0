/**
 * Keeps the past of tenants, and lays branches over their origins. Stands between RocksDB and the record cache.
 *
 * A tenant's **history** is what its entries were before each commit, by key and commit. The value of a key after
 * commit S is what the first later commit replaced, or else the value of now. So a reader of the past needs no snapshot
 * that is held open.
 *
 * A **branch** is a tenant that reads through: where it has neither written nor deleted an entry, it has its origin's
 * as it was after the commit at which it was forked. The history of an origin is kept from that commit on for as long
 * as the branch is there.
 *
 * Both are ordered by records (history-keys.ts), which are commits like others, so that a replay of the log makes the
 * same again. An installation without such records pays a comparison per written operation.
 */
import { sqlError } from "../protocol/errors.js";
import type { EngineMetrics, RecordCacheMetrics } from "../protocol/thread-metrics.js";
import { BranchBytes } from "./branch-bytes.js";
import { type Branch, BranchList, type BranchRecord } from "./branch-list.js";
import { BranchOrigins } from "./branch-origins.js";
import { changedKeys } from "./changed-keys.js";
import type { Engine } from "./engine.js";
import { EngineAsOf } from "./engine-as-of.js";
import { FlatBranches } from "./flat-branches.js";
import { branchCursor, cursorAsOf, entriesOf } from "./history-cursors.js";
import {
  branchPrefix,
  flatPrefix,
  flatRecordKey,
  hiddenKey,
  hiddenPrefix,
  hiddenRange,
  historyRecordPrefix,
  isRecordKey,
  layerRecordOf,
  mergesKey,
  readReplacedKey,
  readStamp,
  replacedPrefix,
  sequenceValue,
  sinceKey,
  stampKey,
  stampsPrefix,
  stampValue,
} from "./history-keys.js";
import { CommitStamps } from "./history-stamps.js";
import { KeyCommits } from "./key-commits.js";
import { APPLIED_SEQUENCE_KEY, isOwnOnly, prefixRange, tenantOfKey, tenantPrefix } from "./keys.js";
import { LastWritten } from "./last-written.js";
import { LatelyRead } from "./lately-read.js";
import { keysAscend, type LayeredHost, layeredBatch } from "./layered-batch.js";
import { mergesValue, readMerges, withMerge } from "./merge-points.js";
import { type CommitStamp, commitsOf, type Operation } from "./operation.js";
import type { WrittenPart } from "./packed-operations.js";
import { firstOf, ReplacedEntries, type WrittenKeys } from "./replaced-entries.js";
import { LoadPart } from "./sorted-run.js";
import { type Cursor, EMPTY_CURSOR, type KeyRange } from "./store.js";

const LOOKED_UP_WORK = 2;
/** Of larger batches nothing is remembered: too few of their keys would be written again soon. */
const REMEMBERED_MAX = 64;

export class LayeredEngine implements Engine, LayeredHost {
  readonly branches = new BranchList();
  /** Tenants with a record of their own that their past is kept. */
  private readonly recorded = new Set<number>();
  /** Whose past is kept, and the oldest commit that can be read. */
  private readonly kept = new Map<number, CommitStamp>();
  /** No later commit has replaced entries of a tenant; for those whose past is kept. */
  private readonly replacedUpTo = new Map<number, number>();
  private isRecovering = true;
  private readonly last = new LastWritten();
  readonly bytes: BranchBytes;
  readonly replaced: ReplacedEntries;
  private written = new KeyCommits(Number.POSITIVE_INFINITY);
  /** Branches that had nothing of their own after that commit; those of which it is known. */
  private readonly emptyAfter = new Map<number, number>();
  private readonly origins: BranchOrigins;
  /** Keeps chains of branches short. */
  readonly flat: FlatBranches;
  private readonly lately: LatelyRead;
  private readonly stamps: CommitStamps;
  /** Prefixes of what the record that is noted has cleared. */
  private readonly cleared: Buffer[] = [];

  constructor(private readonly engine: Engine) {
    this.lately = new LatelyRead(engine);
    this.bytes = new BranchBytes(engine, this.last, this.lately, this.branches);
    this.origins = new BranchOrigins(engine, this);
    this.flat = new FlatBranches(engine, this.branches, this.origins, this);
    this.replaced = new ReplacedEntries(engine);
    this.stamps = new CommitStamps(engine);
    for (const { key, value } of entriesOf(this.engine.cursor(prefixRange(branchPrefix()))))
      this.learnBranch(layerRecordOf(key)!.tenant, value);
    for (const { key } of entriesOf(this.engine.cursor(prefixRange(historyRecordPrefix()))))
      this.recorded.add(layerRecordOf(key)!.tenant);
    for (const tenant of [...this.recorded, ...this.branches.origins(), ...this.branches.merged()]) {
      const since = this.engine.get(sinceKey(tenant, "history"));
      if (since === undefined) continue;
      this.kept.set(tenant, readStamp(since));
      const newest = this.commitAt(tenant, Number.MAX_SAFE_INTEGER);
      this.replacedUpTo.set(tenant, Math.max(newest?.sequence ?? 0, readStamp(since).sequence));
    }
  }

  /** The log has been replayed up to that commit: from now on each commit comes once. */
  recovered(sequence: number): void {
    this.isRecovering = false;
    this.written = new KeyCommits(sequence);
  }

  /** It has to be told of which commit each operation is, of all of them. */
  get keepsHistory(): boolean {
    return this.kept.size > 0;
  }

  branchOf(tenant: number): Branch | null {
    return this.branches.get(tenant) ?? null;
  }

  branchesUnder(root: number): readonly (readonly [number, Branch])[] {
    return this.branches.under(root);
  }

  /** The oldest commit after which a tenant can be read; null: its past is not kept. */
  oldestOf(tenant: number): CommitStamp | null {
    return this.kept.get(tenant) ?? null;
  }

  /** A tenant's newest commit at that time; null: there was none since its past is kept. */
  commitAt(tenant: number, micros: number): CommitStamp | null {
    return this.stamps.last(tenant, this.kept.get(tenant), (stamp) => stamp.micros <= micros);
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

  /** The tenant's commit of that number, or the one before; null: its past does not go back to it. */
  stampOf(tenant: number, sequence: number): CommitStamp | null {
    return this.stamps.last(tenant, this.kept.get(tenant), (stamp) => stamp.sequence <= sequence);
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const tenant = tenantOfKey(key);
    const branch = this.branches.isEmpty ? undefined : this.branches.through(tenant);
    if (branch !== undefined && this.isUnwritten(key, tenant)) return this.origins.get(key, tenant, branch);
    const own = this.engine.get(key);
    // A statement reads what it replaces.
    if (own !== undefined && this.kept.has(tenant)) this.last.found(key, own);
    if (own !== undefined || branch === undefined || isOwnOnly(key)) return own;
    const isHidden = this.bytes.mayHide(tenant) && this.engine.get(hiddenKey(key)) !== undefined;
    return isHidden ? undefined : this.origins.get(key, tenant, branch);
  }

  /** The branch is known to have nothing of its own under the key, neither an entry nor a marker of a deletion. */
  private isUnwritten(key: Uint8Array, tenant: number): boolean {
    const after = this.emptyAfter.get(tenant);
    return after !== undefined && !isOwnOnly(key) && this.written.firstAfter(key, after) === null;
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    if (this.branches.isEmpty) return this.engine.getMany(keys);
    const own: number[] = [];
    const read = new Map<number, { readonly unwritten: number[]; readonly others: number[] }>();
    for (let i = 0; i < keys.length; i++) {
      const tenant = tenantOfKey(keys[i]!);
      const isThrough = this.branches.through(tenant) !== undefined && !isOwnOnly(keys[i]!);
      const isUnwritten = isThrough && this.isUnwritten(keys[i]!, tenant);
      if (!isUnwritten) own.push(i);
      if (!isThrough) continue;
      const of = read.get(tenant) ?? { unwritten: [], others: [] };
      read.set(tenant, of);
      (isUnwritten ? of.unwritten : of.others).push(i);
    }
    const values = own.length === keys.length ? this.engine.getMany(keys) : this.getThese(keys, own);
    for (const [tenant, { unwritten, others }] of read) {
      const missing = others.filter((i) => values[i] === undefined);
      const markers = this.bytes.mayHide(tenant) ? this.engine.getMany(missing.map((i) => hiddenKey(keys[i]!))) : [];
      const shown = [...unwritten, ...missing.filter((_, j) => markers[j] === undefined)];
      if (shown.length === 0) continue;
      const some = shown.map((i) => keys[i]!);
      for (const [j, value] of this.origins.getMany(some, tenant, this.branches.get(tenant)!).entries())
        values[shown[j]!] = value;
    }
    return values;
  }

  /** The engine's values of keys at some places. */
  private getThese(keys: readonly Uint8Array[], places: readonly number[]): (Uint8Array | undefined)[] {
    const values = new Array<Uint8Array | undefined>(keys.length);
    if (places.length === 0) return values;
    for (const [j, value] of this.engine.getMany(places.map((i) => keys[i]!)).entries()) values[places[j]!] = value;
    return values;
  }

  getAsOf(key: Uint8Array, sequence: number): Uint8Array | undefined {
    if (this.isUnchangedSince(tenantOfKey(key), sequence)) return this.get(key);
    const commit = this.written.firstAfter(key, sequence);
    const replaced = commit === null ? undefined : this.replaced.firstAfter(key, sequence, commit);
    return replaced === undefined ? this.get(key) : (replaced ?? undefined);
  }

  /** Keys of one tenant. */
  getManyAsOf(keys: readonly Uint8Array[], sequence: number): (Uint8Array | undefined)[] {
    if (this.isUnchangedSince(tenantOfKey(keys[0]!), sequence)) return this.getMany(keys);
    const replaced = this.replaced.firstOfMany(keys, sequence, (key) => this.written.firstAfter(key, sequence));
    const rest: number[] = [];
    for (let i = 0; i < keys.length; i++) if (replaced[i] === undefined) rest.push(i);
    const now = rest.length === 0 ? [] : this.getMany(rest.map((i) => keys[i]!));
    const values = replaced.map((value) => value ?? undefined);
    for (const [j, i] of rest.entries()) values[i] = now[j];
    return values;
  }

  private isUnchangedSince(tenant: number, sequence: number): boolean {
    return (this.replacedUpTo.get(tenant) ?? 0) <= sequence;
  }

  cursor(range: KeyRange): Cursor {
    return this.open(range, (part, tenant) => this.lately.cursor(part, tenant));
  }

  /** What it finds is no part of what a commit may replace. */
  cursorAsOf(range: KeyRange, sequence: number): Cursor {
    const open = (part: KeyRange): Cursor => this.open(part, (whole) => this.engine.cursor(whole));
    if (this.isUnchangedSince(tenantOfKey(range.gte), sequence)) return open(range);
    const whole: KeyRange = { gte: range.gte, lt: range.lt, reverse: range.reverse === true };
    return cursorAsOf(open(whole), (part) => this.engine.cursor(part), sequence, whole);
  }

  /** `own`: opens a cursor over what the engine has of a tenant itself. */
  private open(range: KeyRange, own: (range: KeyRange, tenant: number) => Cursor): Cursor {
    const tenant = tenantOfKey(range.gte);
    const branch = this.branches.through(tenant);
    if (branch === undefined || isOwnOnly(range.gte))
      return this.kept.has(tenant) ? own(range, tenant) : this.engine.cursor(range);
    const whole: KeyRange = { gte: range.gte, lt: range.lt, reverse: range.reverse === true };
    const hidden = this.bytes.mayHide(tenant) ? own(hiddenRange(whole), tenant) : EMPTY_CURSOR;
    return branchCursor(own(whole, tenant), hidden, this.origins.cursor(whole, tenant, branch), whole, tenant);
  }

  write(operations: readonly Operation[], persisted?: boolean): void {
    if (!this.isLayered([operations])) this.engine.write(this.bytes.counted(operations), persisted);
    else if (!this.isRecovering) this.writeLayered(operations, persisted);
    // In what is replayed, a branch may read what earlier commits of the same batch have written.
    else for (const commit of commitsOf(operations)) this.writeLayered(commit, persisted);
  }

  private writeLayered(operations: readonly Operation[], persisted?: boolean): void {
    const isPart = this.isRecovering || operations.at(-1)?.key !== APPLIED_SEQUENCE_KEY;
    const areMany = isPart || operations.length > REMEMBERED_MAX;
    if (areMany) this.last.clear();
    const doAscend = keysAscend(operations);
    this.engine.write(layeredBatch(this, operations, isPart, doAscend), persisted);
    if (!areMany) for (const operation of operations) if (this.isLookedUp(operation.key)) this.last.wrote(operation);
    this.lately.wrote(operations, doAscend);
  }

  keepsPastOf(tenant: number): boolean {
    return this.kept.has(tenant);
  }

  writes(key: Uint8Array, tenant: number, commit: CommitStamp | undefined): void {
    if (commit === undefined) this.emptyAfter.delete(tenant);
    else this.written.note(key, commit.sequence);
  }

  replacesOf(tenant: number, sequence: number): void {
    this.replacedUpTo.set(tenant, Math.max(this.replacedUpTo.get(tenant) ?? 0, sequence));
  }

  valuesOf(tenant: number, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    if (this.branches.through(tenant) !== undefined) return this.getMany(keys);
    return this.last.valuesOf(keys, (some) => this.lately.valuesOf(some));
  }

  private clearAll(prefix: Buffer): void {
    this.engine.clear(prefixRange(prefix));
    this.cleared.push(prefix);
  }

  noteRecord(operation: Operation): { readonly kept: readonly Operation[]; readonly cleared: readonly Buffer[] } {
    const kept = this.noted(operation);
    return { kept, cleared: this.cleared.splice(0) };
  }

  /** Answers what the engine has to keep for a record. */
  private noted({ key, value, commit }: Operation): Operation[] {
    const record = layerRecordOf(key);
    if (record === null) return [];
    const { kind, tenant } = record;
    this.last.clear(); // a tenant whose past is not kept writes without them
    this.lately.clear();
    if (kind === "history") {
      if (value === null) this.recorded.delete(tenant);
      else this.recorded.add(tenant);
      return this.keepWhatIsNeeded(tenant, commit);
    }
    if (kind === "horizon") return value === null ? [] : this.moveHorizon(tenant, readStamp(value));
    const before = this.branches.get(tenant);
    if (value === null) {
      this.branches.delete(tenant);
      this.origins.forget(tenant);
      this.emptyAfter.delete(tenant);
      for (const prefix of [hiddenPrefix(tenant), flatPrefix(tenant)]) this.clearAll(prefix);
      const keys = [sinceKey(tenant, "branch"), mergesKey(tenant), flatRecordKey(tenant)];
      const own = keys.map((gone) => ({ key: gone, value: null }));
      const gone = [...own, this.bytes.forget(tenant), ...this.keepWhatIsNeeded(tenant, commit)];
      return before === undefined ? gone : [...gone, ...this.keepWhatIsNeeded(before.origin, commit)];
    }
    const made = this.learnBranch(tenant, value, commit);
    const { origin } = this.branches.get(tenant)!;
    return [...made, ...this.keepWhatIsNeeded(origin, commit), ...this.keepWhatIsNeeded(tenant, commit)];
  }

  private learnBranch(tenant: number, value: Uint8Array, commit?: CommitStamp): Operation[] {
    const { merged, ...record } = JSON.parse(Buffer.from(value).toString()) as BranchRecord;
    const known = this.engine.get(sinceKey(tenant, "branch"));
    const start = record.start ?? (known === undefined ? commit! : readStamp(known));
    this.bytes.learn(tenant, known === undefined);
    if (known === undefined && commit !== undefined && this.hasNothing(tenant))
      this.emptyAfter.set(tenant, commit.sequence - 1);
    const { name, expiresAtMs, quotaBytes = null, isRestoring, access = {} } = record;
    const there = this.branches.get(tenant);
    const before = there?.merges ?? readMerges(this.engine.get(mergesKey(tenant)));
    const merges = merged === undefined || commit === undefined ? before : withMerge(before, merged, commit);
    if (quotaBytes !== null) this.bytes.beSure(tenant);
    const changed = { expiresAtMs, quotaBytes, isRestoring, merges, access };
    if (there !== undefined) this.branches.change(tenant, name, changed);
    else {
      this.branches.set(tenant, { ...record, ...changed, start, writes: 0, readers: 0, forkedBy: 0, endedBy: null });
      this.origins.learn(tenant);
      this.flat.learn(tenant);
    }
    const made = [{ key: sinceKey(tenant, "branch"), value: stampValue(start) }];
    return merges === before ? made : [...made, { key: mergesKey(tenant), value: mergesValue(merges) }];
  }

  private hasNothing(tenant: number): boolean {
    return firstOf(this.engine, { ...prefixRange(tenantPrefix(tenant)), only: "keys" }, 1).keys.length === 0;
  }

  private keepWhatIsNeeded(tenant: number, commit: CommitStamp | undefined): Operation[] {
    const isNeeded = this.recorded.has(tenant) || this.branches.needPastOf(tenant);
    if (isNeeded === this.kept.has(tenant)) return [];
    const since = sinceKey(tenant, "history");
    if (isNeeded) {
      this.kept.set(tenant, commit!);
      this.replacedUpTo.set(tenant, commit!.sequence);
      return [
        { key: since, value: stampValue(commit!) },
        { key: stampKey(tenant, commit!.micros), value: sequenceValue(commit!.sequence) },
      ];
    }
    this.kept.delete(tenant);
    this.clearAll(replacedPrefix(tenant));
    this.clearAll(stampsPrefix(tenant));
    return [{ key: since, value: null }];
  }

  /**
   * The oldest commit that has to be read if nobody asks for what was before the given one: what a branch begins with
   * stays, and what it had when it was merged. Null: nothing more can be forgotten.
   */
  horizonFor(tenant: number, before: CommitStamp): CommitStamp | null {
    const since = this.kept.get(tenant);
    const needed = this.branches.oldestNeeded(tenant);
    const to = needed !== null && needed.sequence < before.sequence ? needed : before;
    return since !== undefined && since.sequence < to.sequence ? to : null;
  }

  private moveHorizon(tenant: number, before: CommitStamp): Operation[] {
    const to = this.horizonFor(tenant, before);
    if (to === null) return [];
    this.kept.set(tenant, to);
    return [{ key: sinceKey(tenant, "history"), value: stampValue(to) }];
  }

  /** Forgets what is not read any more, up to `max` entries: answers where to go on (`from`), null when all is done. */
  forget(tenant: number, from: Uint8Array | null, max: number): Uint8Array | null {
    const since = this.kept.get(tenant);
    if (since === undefined) return null;
    const range = prefixRange(replacedPrefix(tenant));
    const { keys } = firstOf(this.engine, { ...range, gte: from ?? range.gte, only: "keys" }, max);
    const gone = keys.filter((key) => readReplacedKey(key).sequence <= since.sequence);
    this.engine.write(gone.map((key) => ({ key, value: null })));
    this.engine.clear({ gte: stampKey(tenant, 0), lt: stampKey(tenant, since.micros) });
    return keys.length < max ? null : keys.at(-1)!;
  }

  /**
   * Keys whose entries a branch has written or deleted since its start, in order: up to `max` of them after `after`.
   * They may have the same entries again.
   */
  changedKeys(tenant: number, after: Uint8Array | null, max: number): readonly Uint8Array[] {
    return changedKeys(this.engine, tenant, after, max);
  }

  /**
   * Keys of the range that commits after that one, up to `upTo` (null: all), have written, of up to `max` replaced
   * entries; the same key may come again. The past of the tenant is kept since then. `next` says where to go on
   * (`from`, at first null); null: that were all.
   */
  writtenSince(
    range: KeyRange,
    sequence: number,
    from: Uint8Array | null,
    max: number,
    upTo: number | null = null,
  ): WrittenKeys {
    if (this.isUnchangedSince(tenantOfKey(range.gte), sequence)) return { keys: [], sequences: [], next: null };
    return this.replaced.writtenSince(range, sequence, from, max, upTo);
  }

  /** Whether there is a moment that can still be read at which the key had another entry, or none. */
  remembers(key: Uint8Array): boolean {
    return this.kept.has(tenantOfKey(key)) && this.replaced.has(key);
  }

  clear(range: Pick<KeyRange, "gte" | "lt">): void {
    this.engine.clear(range);
    this.last.clear();
    this.lately.clear();
    const kept = this.branches.isEmpty ? [] : this.bytes.cleared(tenantOfKey(range.gte));
    if (kept.length > 0) this.engine.write(kept);
  }

  /** What a branch holds of its own: keys and values of its entries, and of markers of what it has deleted. */
  bytesOf(branch: number): number {
    return this.bytes.of(branch);
  }

  /** Goes on counting the bytes of a branch that has to be counted, up to `max` entries. False: there is none. */
  countSome(max: number): boolean {
    return this.bytes.countSome(max);
  }

  writeElsewhere(parts: readonly WrittenPart[]): Promise<number> | null {
    const written = this.isLayered(parts) ? null : (this.engine.writeElsewhere?.(parts) ?? null);
    if (written !== null) for (const count of this.bytes.written(parts)) this.engine.write([count]);
    return written;
  }

  /** A branch has entries of its origin, too. */
  greatestElsewhere(range: Pick<KeyRange, "gte" | "lt">): Promise<Uint8Array | null> | null {
    return this.branches.through(tenantOfKey(range.gte)) ? null : (this.engine.greatestElsewhere?.(range) ?? null);
  }

  /** An operation on the key takes as long as so many of a tenant without branches and past. */
  readonly workOf = (key: Uint8Array): number => (this.isLookedUp(key) ? LOOKED_UP_WORK : 1);

  private isLayered(parts: readonly WrittenPart[]): boolean {
    const isOf = (key: Uint8Array): boolean => isRecordKey(key) || this.isLayer(key);
    return parts.some((part) => (part instanceof LoadPart ? isOf(part.lastKey) : part.some(({ key }) => isOf(key))));
  }

  private isLayer(key: Uint8Array): boolean {
    const tenant = tenantOfKey(key);
    return this.kept.has(tenant) || this.branches.layered(tenant) !== undefined;
  }

  /** Each write asks what is there under its key. */
  private isLookedUp(key: Uint8Array): boolean {
    const tenant = tenantOfKey(key);
    return this.kept.has(tenant) || (this.branches.layered(tenant)?.quotaBytes ?? null) !== null;
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
