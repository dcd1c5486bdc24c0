/**
 * Entries of an index whose last column has figures, in the order of cells (storage/key-figure.ts): those that may
 * touch a rectangle, with seeks over the cells that are not near it. Called by overlap-key.ts.
 */
import type { CheckedTurns } from "../../protocol/turns.js";
import { inSteps } from "../../storage/in-steps.js";
import { PRESENT } from "../../storage/key-codec.js";
import { cellKey, cellOfKey } from "../../storage/key-figure.js";
import { prefixEnd } from "../../storage/keys.js";
import type { Transaction } from "../../storage/store.js";
import type { Box } from "../../values/geometry.js";
import { ANYWHERE, type Cell, cellsNear } from "../../values/geometry-extent.js";
import { after } from "./operator.js";

const BATCH = 32;
const { NEGATIVE_INFINITY: FIRST, POSITIVE_INFINITY: LAST } = Number;

/**
 * What `visit` gives first that is not null, else null. `group`: what all their keys begin with. There may be very many
 * near it: a promise where the turn was over before.
 */
export function firstNear<T>(
  turns: CheckedTurns,
  tx: Transaction,
  group: Uint8Array,
  rectangle: Box,
  visit: (key: Uint8Array, value: Uint8Array) => T | null,
): T | null | Promise<T | null> {
  let found: T | null = null;
  const entries = near(tx, group, rectangle, (key, value) => {
    found = visit(key, value);
    return found !== null;
  });
  return after(inSteps(turns, entries), () => found);
}

/** Until `visit` answers true; stops after each batch. */
function* near(
  tx: Transaction,
  group: Uint8Array,
  rectangle: Box,
  visit: (key: Uint8Array, value: Uint8Array) => boolean,
): Generator<undefined, void> {
  const end = prefixEnd(group);
  let from: Buffer | null = Buffer.from(group);
  while (from !== null) {
    const cursor = tx.scan({ gte: from, lt: end });
    from = null;
    try {
      for (let isFull = true; isFull && from === null; ) {
        const { keys, values } = cursor.next(BATCH);
        isFull = keys.length === BATCH;
        for (let i = 0; i < keys.length && from === null; i++) {
          const cell = cellOfKey(keys[i]!, group, PRESENT);
          const next = cell === null ? null : seekFrom(cell, rectangle);
          if (next !== null) from = cellKey(group, PRESENT, next);
          else if (cell !== null && visit(keys[i]!, values[i]!)) return;
        }
        yield;
      }
    } finally {
      cursor.close();
    }
  }
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
