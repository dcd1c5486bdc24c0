/**
 * What a tenant's commits have written between the moments at which its branches begin: keys, by interval. The past is
 * kept by key, so whoever reads one interval passes over all of it. Here one pass serves as many intervals as fit in
 * memory. Used by write-branches.ts.
 */
import type { Turns } from "../../protocol/turns.js";
import { prefixRange, tenantPrefix } from "../../storage/keys.js";
import type { LayeredEngine } from "../../storage/layered-engine.js";

/** Replaced entries that are read at a time. */
const ENTRIES_AT_ONCE = 128;
/** Keys that are held, with what each takes besides its bytes. */
const HELD_BYTES_MAX = 32 * 1024 * 1024;
const KEY_BYTES = 160;

export class WrittenIntervals {
  /** Of the intervals that are known, by their places; `known` is behind the last of them. */
  private readonly keys = new Map<number, Uint8Array[]>();
  private known = 0;

  /**
   * @param bounds sequences that ascend: interval i has the commits from behind `bounds[i]` to `bounds[i + 1]`. The
   * past is kept since the first one.
   */
  constructor(
    private readonly layers: LayeredEngine,
    private readonly tenant: number,
    private readonly bounds: readonly number[],
    private readonly turns: Turns,
    private readonly bytesMax = HELD_BYTES_MAX,
  ) {}

  /** Its keys in order, each once. To be asked for in order. Null: they are more than memory is to hold. */
  async take(interval: number): Promise<readonly Uint8Array[] | null> {
    if (interval >= this.known) await this.read(interval);
    if (interval >= this.known) return null;
    const keys = this.keys.get(interval) ?? [];
    this.keys.delete(interval);
    return keys;
  }

  /** Reads that interval, and those behind it for which there is room. */
  private async read(first: number): Promise<void> {
    const range = prefixRange(tenantPrefix(this.tenant));
    let end = this.bounds.length - 1;
    let held = 0;
    let from: Uint8Array | null = null;
    do {
      const upTo = this.bounds[end]!;
      const found = this.layers.writtenSince(range, this.bounds[first]!, from, ENTRIES_AT_ONCE, upTo);
      for (const [i, key] of found.keys.entries()) held += this.hold(this.intervalOf(found.sequences[i]!), key);
      for (; held > this.bytesMax && end > first; end--) held -= this.drop(end - 1);
      from = end === first ? null : found.next;
      await this.turns.yieldTurn();
    } while (from !== null);
    this.known = end;
  }

  /** The one that has the commit: the last that begins before it. */
  private intervalOf(sequence: number): number {
    let [low, high] = [0, this.bounds.length - 1];
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.bounds[middle]! < sequence) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Answers how many bytes more are held. Of one key the commits come one after the other. */
  private hold(interval: number, key: Uint8Array): number {
    const keys = this.keys.get(interval);
    if (keys === undefined) this.keys.set(interval, [key]);
    else if (Buffer.compare(keys.at(-1)!, key) === 0) return 0;
    else keys.push(key);
    return key.length + KEY_BYTES;
  }

  /** Answers how many bytes less are held. */
  private drop(interval: number): number {
    let bytes = 0;
    for (const key of this.keys.get(interval) ?? []) bytes += key.length + KEY_BYTES;
    this.keys.delete(interval);
    return bytes;
  }
}
