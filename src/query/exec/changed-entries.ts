/** Which index entries an update leaves as they are. Called by table-writer.ts. */
import type { Value } from "../../values/values.js";
import type { KeyLayout } from "./table-layout.js";

type Row = readonly Value[];

/** A row's way from its old place to its new one, between the two halves of an update. */
export interface Move {
  readonly oldKey: Uint8Array;
  readonly newKey: Uint8Array;
}

/**
 * True when a row has the same entry before and after. Values that are equal but not the same count as others: the
 * entry is then removed and written again.
 */
export function isSameEntry(
  index: KeyLayout,
  places: readonly number[],
  oldValues: Row | null,
  newValues: Row | null,
  oldRow: Row,
  newRow: Row,
): boolean {
  if (oldValues === null || newValues === null) return oldValues === newValues;
  for (const place of places) if (oldValues[place] !== newValues[place]) return false;
  return index.included === null || index.included.ids.every((id) => oldRow[id] === newRow[id]);
}

/** True when an update may change the entry: it assigns a column that the index has, or the row's key changes. */
export function touches(index: KeyLayout, move: Move, assigned: ReadonlySet<number>): boolean {
  return move.newKey !== move.oldKey || index.computed || touchesColumns(index, assigned);
}

/** The key, or what its entries have besides, is of an assigned column. */
export function touchesColumns({ columnIds, included }: KeyLayout, assigned: ReadonlySet<number>): boolean {
  return columnIds.some((id) => assigned.has(id)) || included?.ids.some((id) => assigned.has(id)) === true;
}
