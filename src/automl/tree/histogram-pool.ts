/** Histograms of the open nodes of a tree. A grower owns one. */

/** Bytes kept for the histograms of open nodes; with less than they need, nodes sum up their rows instead. */
const POOL_BYTES_MAX = 256 * 1024 * 1024;

export class HistogramPool {
  private readonly histograms: Float64Array[] = [];
  private readonly free: number[] = [];
  private readonly keepMax: number;

  /**
   * `size`: numbers of one; `wanted`: nodes that are open at once, 0 to keep none. Slot 0 is shared by all that find no
   * other.
   */
  constructor(
    private readonly size: number,
    wanted: number,
  ) {
    const affordable = Math.floor(POOL_BYTES_MAX / (size * 8));
    // One more than there are leaves: a parent's and both its children's are held for a moment.
    this.keepMax = wanted > 0 && wanted + 1 <= affordable ? wanted + 1 : 0;
    this.histograms.push(new Float64Array(size));
  }

  take(): number {
    const slot = this.free.pop();
    if (slot !== undefined) return slot;
    if (this.histograms.length > this.keepMax) return 0;
    this.histograms.push(new Float64Array(this.size));
    return this.histograms.length - 1;
  }

  histogram(slot: number): Float64Array {
    return this.histograms[slot]!;
  }

  isShared(slot: number): boolean {
    return slot === 0;
  }

  release(slot: number): void {
    if (slot > 0) this.free.push(slot);
  }
}
