/**
 * EXCLUDE (…, range WITH &&): rows with equal values in the other columns must not have ranges that overlap. The ranges
 * of such rows lie side by side in the constraint's index, by their lower bounds. While none overlap, a new one
 * overlaps any only if it overlaps the one before it or the one behind it. And if several new ones overlap others, two
 * neighbours do, one of which is new. Called by table-writer.ts.
 */
import { decodeKey, encodeKey } from "../../storage/key-codec.js";
import { prefixEnd } from "../../storage/keys.js";
import type { Transaction } from "../../storage/store.js";
import { rangeKeyOf, rangeOf } from "../../values/range.js";
import { overlaps } from "../../values/range-algebra.js";
import type { Value } from "../../values/values.js";
import { suffixOf } from "./entry-value.js";
import { joinKey, type KeyLayout } from "./table-layout.js";

export interface Neighbour {
  /** The values of its key. */
  readonly values: readonly Value[];
  /** What its row's key ends with. */
  readonly suffix: Uint8Array;
}

/** Whether a row with these values can overlap another one. */
export function canOverlap(values: readonly Value[] | null): values is readonly Value[] {
  return values !== null && !values.includes(null) && values.at(-1) !== "empty";
}

/**
 * The entry beside these values that overlaps them; null: none does. `suffix`: of the row that has the values, if it
 * has an entry, which does not count. What is read counts as read whatever the isolation.
 */
export function overlappingNeighbour(
  tx: Transaction,
  tenantNumber: number,
  index: KeyLayout,
  values: readonly Value[],
  suffix: Uint8Array | null,
): Neighbour | null {
  const prefix = index.prefixOf(tenantNumber);
  const group = encodeKey(prefix, index.columns, values.slice(0, -1));
  const place = encodeKey(prefix, index.columns, values);
  const entry = suffix === null ? place : joinKey(place, suffix);
  const behind = suffix === null ? place : joinKey(entry, Buffer.of(0));
  const name = rangeKeyOf(index.columns.at(-1)!.type)!;
  const range = rangeOf(name, values.at(-1) as string);
  const first = (gte: Uint8Array, lt: Uint8Array, reverse: boolean): Neighbour | null => {
    const cursor = tx.scan({ gte, lt, reverse });
    const { keys, values: found } = cursor.next(1);
    let neighbour: Neighbour | null = null;
    if (keys.length > 0) {
      const members = decodeKey(keys[0]!, prefix.length, index.columns);
      const other = members.at(-1);
      const isOverlap = typeof other === "string" && overlaps(range, rangeOf(name, other));
      if (isOverlap) neighbour = { values: members, suffix: Buffer.from(suffixOf(index, found[0]!)) };
    }
    cursor.close();
    return neighbour;
  };
  tx.guardReads(true);
  try {
    return first(group, entry, true) ?? first(behind, prefixEnd(group), false);
  } finally {
    tx.guardReads(false);
  }
}
