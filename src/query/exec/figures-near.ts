/**
 * Entries of an index whose last column has figures, in the order of cells (storage/key-figure.ts): those that may
 * touch a rectangle, with seeks over the cells that are not near it. Called by overlap-key.ts.
 */
import { PRESENT } from "../../storage/key-codec.js";
import { cellKey, cellOfKey } from "../../storage/key-figure.js";
import { prefixEnd } from "../../storage/keys.js";
import type { Transaction } from "../../storage/store.js";
import type { Box } from "../../values/geometry.js";
import { ANYWHERE, type Cell, cellsNear } from "../../values/geometry-extent.js";

const BATCH = 32;
const { NEGATIVE_INFINITY: FIRST, POSITIVE_INFINITY: LAST } = Number;

/** What `visit` gives first that is not null, else null. `group`: what all their keys begin with. */
export function firstNear<T>(
  tx: Transaction,
  group: Uint8Array,
  rectangle: Box,
  visit: (key: Uint8Array, value: Uint8Array) => T | null,
): T | null {
  const end = prefixEnd(group);
  let from: Buffer | null = Buffer.from(group);
  while (from !== null) {
    const cursor = tx.scan({ gte: from, lt: end });
    from = null;
    for (let isFull = true; isFull && from === null; ) {
      const { keys, values } = cursor.next(BATCH);
      isFull = keys.length === BATCH;
      for (let i = 0; i < keys.length && from === null; i++) {
        const cell = cellOfKey(keys[i]!, group, PRESENT);
        const next = cell === null ? null : seekFrom(cell, rectangle);
        if (next !== null) from = cellKey(group, PRESENT, next);
        else if (cell !== null) {
          const found = visit(keys[i]!, values[i]!);
          if (found === null) continue;
          cursor.close();
          return found;
        }
      }
    }
    cursor.close();
  }
  return null;
}

/** Where the search goes on from a cell that is not near; null: it is. */
function seekFrom({ level, x, y }: Cell, rectangle: Box): Cell | null {
  if (level >= ANYWHERE) return null;
  const { low, high } = cellsNear(rectangle, level);
  if (x > high.x) return { level: level + 1, x: FIRST, y: FIRST };
  if (x < low.x) return { level, x: low.x, y: low.y };
  if (y < low.y) return { level, x, y: low.y };
  return y > high.y ? { level, x, y: LAST } : null;
}
