/**
 * What a serializable transaction has read: keys, and ranges as far as its cursors went. Owned by the transaction,
 * which asks at commit whether a later commit wrote into it. Beyond a bound, neighbouring reads are merged into ranges
 * that also cover what lies between them. That keeps memory bounded and costs a few needless conflicts.
 */
import { keyAfter } from "./keys.js";
import { keyText } from "./ordered-map.js";
import type { KeyRange } from "./store.js";
import type { RecentVersions, VersionedKey } from "./versions.js";

/** A range that a cursor is reading; the cursor moves `last` and sets `finished`. */
export interface RangeRead {
  readonly range: KeyRange;
  /** The last key handed out. */
  last: Uint8Array | null;
  /** The reader knows that the range ends after `last`. */
  finished: boolean;
  /** The cursor will not move any more. */
  closed: boolean;
}

interface Interval {
  readonly low: string;
  /** Exclusive. */
  readonly high: string;
}

/** Reads kept exactly; beyond it they are merged down to half as many. */
const READS_MAX = 16_384;

/** Characters of a key's beginning: a tenant's number (keys.ts). */
const BEGINNING = 4;
/** More changed keys than these are not looked at one by one. */
const CHANGED_MAX = 1024;

/** Up to so many keys are looked up: that takes less than to look at what was changed. */
const FEW_KEYS = 4;

export class ReadSet {
  private keys: Uint8Array[] = [];
  private ranges: RangeRead[] = [];
  private merged: Interval[] = [];
  /** Reads at which to merge next. */
  private bound = READS_MAX;

  addKey(key: Uint8Array): void {
    this.keys.push(key);
    if (this.keys.length >= this.bound) this.merge();
  }

  addRange(range: KeyRange): RangeRead {
    if (this.ranges.length >= this.bound) this.merge();
    const read = { range, last: null, finished: false, closed: false };
    this.ranges.push(read);
    return read;
  }

  /** Whether a commit after `snapshot` wrote a key that was read. */
  isOverwritten(versions: RecentVersions, snapshot: number): boolean {
    if (versions.size === 0) return false;
    if (this.ranges.length > 0 || this.merged.length > 0 || this.keys.length > FEW_KEYS) {
      const changed = versions.changedSince(snapshot, CHANGED_MAX);
      if (changed !== null && !this.isNear(changed)) return false;
    }
    for (const key of this.keys) {
      if (versions.isChanged(keyText(key), snapshot)) return true;
    }
    for (const read of this.ranges) {
      const interval = intervalOf(read);
      if (interval !== null && isIntervalOverwritten(interval, versions, snapshot)) return true;
    }
    return this.merged.some((interval) => isIntervalOverwritten(interval, versions, snapshot));
  }

  /** What was read; `high` is exclusive. */
  *intervals(): Iterable<{ readonly low: Uint8Array; readonly high: Uint8Array }> {
    for (const key of this.keys) yield { low: key, high: keyAfter(key) };
    for (const { range } of this.ranges) yield { low: range.gte, high: range.lt };
    for (const { low, high } of this.merged) {
      yield { low: Buffer.from(low, "latin1"), high: Buffer.from(high, "latin1") };
    }
  }

  /** False when all reads are among keys that begin otherwise than the changed ones: those of other tenants. */
  private isNear(changed: readonly VersionedKey[]): boolean {
    const beginnings = new Set<string>();
    for (const { text } of changed) beginnings.add(text.slice(0, BEGINNING));
    if (beginnings.size === 0) return false;
    const numbers = new Set<number>();
    for (const text of beginnings) numbers.add(numberOf(Buffer.from(text, "latin1")));
    const isNear = (low: string, high: string): boolean =>
      low.slice(0, BEGINNING) !== high.slice(0, BEGINNING) || beginnings.has(low.slice(0, BEGINNING));
    return (
      this.keys.some((key) => numbers.has(numberOf(key))) ||
      this.ranges.some(({ range }) => isNear(keyText(range.gte), keyText(range.lt))) ||
      this.merged.some(({ low, high }) => isNear(low, high))
    );
  }

  private merge(): void {
    const intervals = this.merged;
    for (const key of this.keys) {
      const low = keyText(key);
      intervals.push({ low, high: `${low}\0` });
    }
    for (const read of this.ranges) {
      const interval = read.closed ? intervalOf(read) : null;
      if (interval !== null) intervals.push(interval);
    }
    this.keys = [];
    this.ranges = this.ranges.filter((read) => !read.closed);
    this.bound = Math.max(READS_MAX, this.ranges.length * 2);
    intervals.sort((a, b) => (a.low < b.low ? -1 : a.low > b.low ? 1 : 0));
    this.merged = unite(intervals, false);
    while (this.merged.length > READS_MAX / 2) this.merged = unite(this.merged, true);
  }
}

/** The beginning of a key as a number; shorter keys are as if zeros followed. */
function numberOf(key: Uint8Array): number {
  return (((key[0] ?? 0) << 24) | ((key[1] ?? 0) << 16) | ((key[2] ?? 0) << 8) | (key[3] ?? 0)) >>> 0;
}

/** Joins overlapping intervals, given in order of `low`; with `pairs` also every second one with its neighbour. */
function unite(intervals: readonly Interval[], pairs: boolean): Interval[] {
  const united: Interval[] = [];
  for (let i = 0; i < intervals.length; i++) {
    const next = intervals[i]!;
    const last = united.at(-1);
    if (last !== undefined && (next.low <= last.high || (pairs && i % 2 === 1))) {
      if (next.high > last.high) united[united.length - 1] = { low: last.low, high: next.high };
    } else {
      united.push(next);
    }
  }
  return united;
}

/** The part of its range that a cursor has seen; null when it has seen nothing. */
function intervalOf({ range, last, finished }: RangeRead): Interval | null {
  const low = keyText(range.gte);
  const high = keyText(range.lt);
  if (finished) return { low, high };
  if (last === null) return null;
  return range.reverse === true ? { low: keyText(last), high } : { low, high: `${keyText(last)}\0` };
}

function isIntervalOverwritten({ low, high }: Interval, versions: RecentVersions, snapshot: number): boolean {
  return low < high && versions.isRangeChanged(low, high, snapshot);
}
