/**
 * Ranges in which RocksDB was found to have nothing, after it had stepped over much that was deleted there: the next
 * cursor begins behind them. Else each look at the head of a queue would step over all that was ever taken from it,
 * until RocksDB has merged its files. Owned by rocksdb-engine.ts, which tells what is written.
 */
import { keyAfter } from "./keys.js";
import type { KeyRange } from "./store.js";

const GAPS_MAX = 64;

interface Gap {
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
  /** When it was of use last: the one that was so longest ago goes first. */
  usedAt: number;
}

export class KnownGaps {
  /** Ascending, none of them within reach of another. */
  private readonly gaps: Gap[] = [];
  private uses = 0;

  /** The range but for a gap that it begins with, in its order. */
  narrowed(range: KeyRange): KeyRange {
    if (this.gaps.length === 0) return range;
    const { gte, lt, reverse } = range;
    if (reverse === true) {
      const gap = this.gaps[this.numberOf((one) => compare(one.lt, lt) >= 0)];
      if (gap === undefined || compare(gap.gte, lt) >= 0) return range;
      gap.usedAt = ++this.uses;
      return { ...range, lt: compare(gap.gte, gte) > 0 ? gap.gte : gte };
    }
    const gap = this.gaps[this.numberOf((one) => compare(one.lt, gte) > 0)];
    if (gap === undefined || compare(gap.gte, gte) > 0) return range;
    gap.usedAt = ++this.uses;
    return { ...range, gte: compare(gap.lt, lt) < 0 ? gap.lt : lt };
  }

  learn(range: Pick<KeyRange, "gte" | "lt">): void {
    let { gte, lt } = range;
    if (compare(gte, lt) >= 0) return;
    const first = this.numberOf((gap) => compare(gap.lt, gte) >= 0);
    let end = first;
    for (; end < this.gaps.length && compare(this.gaps[end]!.gte, lt) <= 0; end++) {
      if (compare(this.gaps[end]!.gte, gte) < 0) gte = this.gaps[end]!.gte;
      if (compare(this.gaps[end]!.lt, lt) > 0) lt = this.gaps[end]!.lt;
    }
    // Copies: whose the range was may use its bytes for something else.
    this.gaps.splice(first, end - first, { gte: Uint8Array.from(gte), lt: Uint8Array.from(lt), usedAt: ++this.uses });
    this.keepFew();
  }

  /** The key has an entry now. `isOfMany`: what is behind it is given up, else each two of them would leave a gap. */
  wrote(key: Uint8Array, isOfMany = false): void {
    if (this.gaps.length === 0) return;
    const i = this.numberOf((gap) => compare(gap.lt, key) > 0);
    const gap = this.gaps[i];
    if (gap === undefined || compare(gap.gte, key) > 0) return;
    const before: Gap = { ...gap, lt: Buffer.from(key) };
    const parts = isOfMany ? [before] : [before, { ...gap, gte: keyAfter(key) }];
    this.gaps.splice(i, 1, ...parts.filter(({ gte, lt }) => compare(gte, lt) < 0));
    this.keepFew();
  }

  forgetAll(): void {
    this.gaps.length = 0;
  }

  /** Of the first gap that is so; those behind it are so, too. */
  private numberOf(isSo: (gap: Gap) => boolean): number {
    let [low, high] = [0, this.gaps.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isSo(this.gaps[middle]!)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private keepFew(): void {
    while (this.gaps.length > GAPS_MAX) {
      let oldest = 0;
      for (const [i, gap] of this.gaps.entries()) if (gap.usedAt < this.gaps[oldest]!.usedAt) oldest = i;
      this.gaps.splice(oldest, 1);
    }
  }
}

const compare = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(a, b);
