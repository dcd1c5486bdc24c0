/**
 * Counts what branches hold of their own: keys and values of their entries, and the markers of what they have deleted
 * of their origins. The count is kept in the engine, and changes with the entries, in one batch. Ranges that are
 * removed at once cost no look at each entry; what they held is counted until the branch has been counted anew, some
 * entries at a time (`countSome`). The same is true of what is replaced in branches that are written like tenants
 * (`BranchList.free`): they are counted anew when somebody asks. So a count is never below what there is. Owned by
 * layered-engine.ts.
 */
import type { Branch, BranchList } from "./branch-list.js";
import type { Engine } from "./engine.js";
import { bytesKey, hiddenKey, hiddenPrefix, hiddenRange } from "./history-keys.js";
import { isOwnOnly, prefixRange, tenantOfKey, tenantPrefix } from "./keys.js";
import type { LastWritten } from "./last-written.js";
import type { LatelyRead } from "./lately-read.js";
import { type Operation, sizeOf } from "./operation.js";
import { keyText } from "./ordered-map.js";
import type { WrittenPart } from "./packed-operations.js";
import { LoadPart } from "./sorted-run.js";
import type { KeyRange } from "./store.js";

/** A branch is counted anew, in the order of its keys; its markers come last. */
interface Recount {
  bytes: number;
  markers: number;
  /** As in `Count`, of what was written since it began. */
  unsure: number;
  /** All keys below have been counted. */
  upTo: Uint8Array;
  isAtMarkers: boolean;
}

interface Count {
  bytes: number;
  markers: number;
  /** Of `bytes`, those that were written without a look at what they replaced. */
  unsure: number;
  recount: Recount | null;
  /** What the engine keeps of it, and under which key. */
  readonly key: Uint8Array;
  keptBytes: number;
  keptMarkers: number;
}

/** What a batch finds of the branches that it writes: by the texts of keys, and as the batch goes on. */
export interface OwnBefore {
  /** Bytes of values of own entries; absent: there is none. */
  readonly values: Map<string, number>;
  /** What has been deleted of the origin. */
  readonly markers: Set<string>;
  readonly tenants: Set<number>;
  /** Of whose keys all values are known. */
  readonly sure: Set<number>;
  /** That only write, and have deleted nothing: all of their operations are counted. */
  readonly plain: Set<number>;
}

/** Of one branch's operations. */
interface OwnWrites {
  readonly branch: Branch;
  readonly count: Count;
  readonly isSure: boolean;
  readonly mayHide: boolean;
  hasDeletion: boolean;
  writes: number;
  bytes: number;
}

const COUNT_BYTES = 17;
/** More than there is, that is kept of a count which is not exact: so most commits need not keep it anew. */
const AHEAD_BYTES = 16 * 1024;
const AHEAD_SHARE = 1 / 8;
/** Of a count, what may be unsure when somebody asks. */
const UNSURE_SHARE = 0.25;
const NOTHING: readonly Operation[] = [];

export class BranchBytes {
  private readonly counts = new Map<number, Count>();

  constructor(
    private readonly engine: Engine,
    private readonly last: LastWritten,
    private readonly lately: LatelyRead,
    private readonly branches: BranchList,
  ) {}

  /** `isNew`: it has nothing of its own yet. */
  learn(tenant: number, isNew: boolean): void {
    if (this.counts.has(tenant)) return;
    const stored = this.engine.get(bytesKey(tenant));
    if (stored !== undefined) this.counts.set(tenant, readCount(stored, tenant));
    // One that an earlier version has made was not counted.
    else this.counts.set(tenant, newCount(tenant, 0, 0, isNew ? null : recountOf(tenant)));
  }

  /** False: the branch has deleted nothing of its origin. */
  mayHide(tenant: number): boolean {
    const count = this.counts.get(tenant);
    return count === undefined || mayHide(count);
  }

  forget(tenant: number): Operation {
    this.counts.delete(tenant);
    return { key: bytesKey(tenant), value: null };
  }

  /** Counts it anew when much of it is unsure. */
  of(tenant: number): number {
    const count = this.counts.get(tenant);
    if (count === undefined) return 0;
    if (count.unsure > UNSURE_SHARE * count.bytes) this.beSure(tenant);
    return count.bytes;
  }

  /** From now on it has to be exact, or it is being counted. */
  beSure(tenant: number): void {
    const count = this.counts.get(tenant)!;
    if (count.unsure > 0) count.recount ??= recountOf(tenant);
  }

  /** The operations, with what the engine keeps of the counts of those that say nothing of what they replace. */
  counted(operations: readonly Operation[]): readonly Operation[] {
    const counts = this.written([operations]);
    return counts.length === 0 ? operations : [...counts, ...operations];
  }

  /** Only what the engine keeps of these counts. */
  written(parts: readonly WrittenPart[]): readonly Operation[] {
    const { branches } = this;
    if (branches.isEmpty) return NOTHING;
    const tenants = new Set<number>();
    const add = (key: Uint8Array, writes: number, bytes: number): void => {
      const tenant = tenantOfKey(key);
      const branch = branches.free(tenant);
      if (branch === undefined) return;
      branch.writes += writes;
      const count = this.counts.get(tenant)!;
      for (const sum of [count, count.recount]) {
        if (sum === null) continue;
        sum.bytes += bytes;
        sum.unsure += bytes;
      }
      tenants.add(tenant);
    };
    for (const part of parts) {
      if (part instanceof LoadPart) add(part.firstKey, part.length, part.bytes);
      else for (const { key, value } of part) add(key, 1, value === null ? 0 : key.length + value.length);
    }
    return this.kept(tenants);
  }

  /**
   * What branches have under the keys of operations. A branch without a bound is looked at only where something is
   * deleted: what it replaces is counted until it is counted anew.
   */
  before(operations: readonly Operation[]): OwnBefore {
    const [values, markers] = [new Map<string, number>(), new Set<string>()];
    const found: OwnBefore = { values, markers, tenants: new Set(), sure: new Set(), plain: new Set() };
    if (this.branches.isEmpty) return found;
    const [own, marked]: [Operation[], Operation[]] = [[], []];
    const all = new Map<number, OwnWrites | null>();
    let tenant = -1;
    let of: OwnWrites | null = null;
    for (const operation of operations) {
      const { key, value } = operation;
      if (tenantOfKey(key) !== tenant) {
        tenant = tenantOfKey(key);
        const known = all.get(tenant);
        of = known === undefined ? this.writesOf(tenant) : known;
        all.set(tenant, of);
      }
      if (of === null) continue;
      of.writes++;
      if (value === null) of.hasDeletion = true;
      else of.bytes += key.length + value.length;
      if (value === null || of.isSure) own.push(operation);
      if (of.mayHide && !isOwnOnly(key)) marked.push(operation);
    }
    for (const [tenant, of] of all) if (of !== null) countPlain(tenant, of, found);
    this.findValues(own, found);
    this.findMarkers(marked, found);
    return found;
  }

  private writesOf(tenant: number): OwnWrites | null {
    const branch = this.branches.layered(tenant);
    if (branch === undefined) return null;
    const count = this.counts.get(tenant)!;
    const isSure = branch.quotaBytes !== null || count.recount !== null;
    return { branch, count, isSure, mayHide: mayHide(count), hasDeletion: false, writes: 0, bytes: 0 };
  }

  private findValues(operations: readonly Operation[], { values }: OwnBefore): void {
    if (operations.length === 0) return;
    const keys = operations.map(({ key }) => key);
    for (const [i, value] of this.last.valuesOf(keys, (some) => this.lately.valuesOf(some)).entries()) {
      const { key, text = keyText(key) } = operations[i]!;
      if (value !== undefined) values.set(text, value.length);
    }
  }

  /** What has an entry of its own has no marker. */
  private findMarkers(operations: readonly Operation[], { values, markers }: OwnBefore): void {
    const hidden = operations.filter(({ key, text = keyText(key) }) => !values.has(text));
    if (hidden.length === 0) return;
    for (const [i, marker] of this.lately.valuesOf(hidden.map(({ key }) => hiddenKey(key))).entries()) {
      const { key, text = keyText(key) } = hidden[i]!;
      if (marker !== undefined) markers.add(text);
    }
  }

  /** Counts an operation that the engine is going to take. */
  note(tenant: number, { key, value }: Operation, text: string, before: OwnBefore): void {
    const count = this.counts.get(tenant)!;
    before.tenants.add(tenant);
    const had = before.values.get(text);
    const bytes = (value === null ? 0 : key.length + value.length) - (had === undefined ? 0 : key.length + had);
    if (value === null) before.values.delete(text);
    else if (before.sure.has(tenant)) before.values.set(text, value.length);
    else if (had === undefined) count.unsure += bytes;
    count.bytes += bytes;
    if (count.recount !== null && isCounted(count.recount, key)) count.recount.bytes += bytes;
    if (!isOwnOnly(key) && before.markers.has(text) === (value !== null)) this.noteMarker(count, key, text, before);
  }

  /** A marker that was there goes, or one that was not there comes. */
  private noteMarker(count: Count, key: Uint8Array, text: string, { markers }: OwnBefore): void {
    const marker = hiddenKey(key);
    const step = markers.has(text) ? -1 : 1;
    if (step > 0) markers.add(text);
    else markers.delete(text);
    count.bytes += step * marker.length;
    count.markers += step;
    const { recount } = count;
    if (recount === null || !recount.isAtMarkers || Buffer.compare(marker, recount.upTo) >= 0) return;
    recount.bytes += step * marker.length;
    recount.markers += step;
  }

  /** What the engine keeps of the counts that have changed. */
  kept(tenants: ReadonlySet<number>): readonly Operation[] {
    if (tenants.size === 0) return NOTHING;
    const kept: Operation[] = [];
    for (const tenant of tenants) {
      const count = this.counts.get(tenant);
      if (count !== undefined && !this.isKept(tenant, count)) kept.push(this.keep(tenant, count));
    }
    return kept;
  }

  private isKept(tenant: number, { bytes, markers, recount, keptBytes, keptMarkers }: Count): boolean {
    return bytes <= keptBytes && markers === keptMarkers && recount === null && !this.hasBound(tenant);
  }

  private hasBound(tenant: number): boolean {
    return (this.branches.get(tenant)?.quotaBytes ?? null) !== null;
  }

  private keep(tenant: number, count: Count): Operation {
    const { key, bytes, markers, recount } = count;
    const isAhead = recount === null && !this.hasBound(tenant);
    const kept = isAhead ? bytes + Math.max(AHEAD_BYTES, Math.floor(bytes * AHEAD_SHARE)) : bytes;
    Object.assign(count, { keptBytes: isAhead ? kept : 0, keptMarkers: markers });
    return { key, value: countValue(count, kept) };
  }

  /** A range of the branch has been removed without a look at its entries. */
  cleared(tenant: number): Operation[] {
    const count = this.counts.get(tenant);
    if (count === undefined) return [];
    count.recount = recountOf(tenant);
    return [this.keep(tenant, count)];
  }

  /** Goes on counting one that has to be, up to `max` entries. False: there is none. */
  countSome(max: number): boolean {
    for (const [tenant, count] of this.counts) {
      if (count.recount === null) continue;
      this.goOn(tenant, count, count.recount, max);
      return true;
    }
    return false;
  }

  private goOn(tenant: number, count: Count, recount: Recount, max: number): void {
    const whole = prefixRange(tenantPrefix(tenant));
    const range: KeyRange = recount.isAtMarkers ? hiddenRange(whole) : whole;
    const cursor = this.engine.cursor({ ...range, gte: recount.upTo });
    const { keys, values } = cursor.next(max);
    for (let i = 0; i < keys.length; i++) recount.bytes += sizeOf({ key: keys[i]!, value: values[i]! });
    if (recount.isAtMarkers) recount.markers += keys.length;
    const last = keys.length < max ? null : Buffer.concat([keys.at(-1)!, Buffer.of(0)]);
    cursor.close();
    if (last !== null) recount.upTo = last;
    else if (!recount.isAtMarkers) Object.assign(recount, { isAtMarkers: true, upTo: hiddenPrefix(tenant) });
    else {
      const { bytes, markers, unsure } = recount;
      // It may have got a bound while it was counted.
      const isEnough = unsure === 0 || this.branches.free(tenant) !== undefined;
      Object.assign(count, { bytes, markers, unsure, recount: isEnough ? null : recountOf(tenant) });
      this.engine.write([this.keep(tenant, count)]);
    }
  }
}

function countPlain(tenant: number, { branch, count, ...of }: OwnWrites, found: OwnBefore): void {
  if (of.isSure) found.sure.add(tenant);
  if (of.isSure || of.mayHide || of.hasDeletion) return;
  found.plain.add(tenant);
  found.tenants.add(tenant);
  branch.writes += of.writes;
  count.bytes += of.bytes;
  count.unsure += of.bytes;
}

function mayHide({ markers, recount }: Count): boolean {
  return markers > 0 || recount !== null;
}

function recountOf(tenant: number): Recount {
  return { bytes: 0, markers: 0, unsure: 0, upTo: tenantPrefix(tenant), isAtMarkers: false };
}

function isCounted({ isAtMarkers, upTo }: Recount, key: Uint8Array): boolean {
  return isAtMarkers || Buffer.compare(key, upTo) < 0;
}

function newCount(tenant: number, bytes: number, markers: number, recount: Recount | null): Count {
  return { bytes, markers, unsure: 0, recount, key: bytesKey(tenant), keptBytes: 0, keptMarkers: 0 };
}

/** `kept`: the bytes that it says; more than there are is unsure. */
function countValue({ bytes, markers, unsure, recount }: Count, kept: number): Buffer {
  const value = Buffer.allocUnsafe(COUNT_BYTES);
  for (const [i, number] of [kept, markers].entries()) {
    value.writeInt32BE(Math.floor(number / 2 ** 32), 8 * i);
    value.writeUInt32BE(number >>> 0, 8 * i + 4);
  }
  value[16] = recount !== null ? 1 : unsure > 0 || kept > bytes ? 2 : 0;
  return value;
}

function readCount(stored: Uint8Array, tenant: number): Count {
  const value = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const [bytes, markers] = [0, 8].map((at) => Number(value.readBigInt64BE(at)));
  const recount = value[16] === 1 ? recountOf(tenant) : null;
  return { ...newCount(tenant, bytes!, markers!, recount), unsure: value[16] === 2 ? bytes! : 0 };
}
