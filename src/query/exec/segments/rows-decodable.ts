/** How many rows a scan of segments hands out in a step where their values have to be decoded. */
import type { Column } from "./column.js";
import { EncodedDictionary } from "./encoded-column.js";

/** Rows, and bytes of each column, that are decoded in one step: a millisecond or two. */
const STEP_ROWS = 1024;
const STEP_BYTES = 128 * 1024;

/** Of the `count` rows after `from`, those whose values may be decoded together: one at least. */
export function rowsDecodable(vectors: readonly Column[], from: number, count: number): number {
  let rows = count;
  for (const column of vectors) {
    if (column instanceof EncodedDictionary) rows = Math.min(rows, STEP_ROWS);
    if (column.kind !== "encoded") continue;
    rows = Math.min(rows, STEP_ROWS);
    const { offsets } = column.payloads;
    while (rows > 1 && offsets[from + rows]! - offsets[from]! > STEP_BYTES) rows >>= 1;
  }
  return rows;
}
