/**
 * A map of byte strings in order. Keys are latin-1 text (one character per byte, so that JavaScript's comparison is
 * the byte order and a key can also be a key of a Map), ordered by the B+ tree of the package sorted-btree. Used by
 * the memory engine, the recent versions and a transaction's own writes.
 */
import sortedBtree from "sorted-btree";

export type OrderedMap<V> = InstanceType<typeof sortedBtree.default<string, V>>;

export function createOrderedMap<V>(): OrderedMap<V> {
  return new sortedBtree.default<string, V>(undefined, compareText);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What readers of an ordered map use of it. */
export interface OrderedEntries<V> {
  clone(): {
    entries(low: string): IterableIterator<[string, V]>;
    /** From below `high` downwards. */
    entriesReversed(high: string, reused: undefined, skipHighest: true): IterableIterator<[string, V]>;
  };
  /** Answers with a number unless `visit` stopped it. */
  forRange(
    low: string,
    high: string,
    includeHigh: false,
    visit: (text: string, value: V) => typeof STOP_WALK | undefined,
  ): unknown;
}

/** Ends a walk of `forRange`. */
export const STOP_WALK = { break: true } as const;

const latin1Slice = (Buffer.prototype as unknown as { latin1Slice(start: number, end: number): string }).latin1Slice;

/** The key as latin-1 text. Works on any Uint8Array. */
export function keyText(key: Uint8Array): string {
  return latin1Slice.call(key, 0, key.length);
}
