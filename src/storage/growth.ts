/**
 * Tells whether a commit needs space: whether it puts more rows and index entries than it removes. Called by
 * transactions; pure.
 */
import { SPACE } from "./keys.js";
import type { Operation } from "./operation.js";

/** Definitions, accounts and what deletions leave behind count for nothing, so that one can still make room. */
export function growthOf(writes: Iterable<Operation>): number {
  let growth = 0;
  for (const { key, value } of writes) {
    const space = key[4];
    if (space === SPACE.rows || space === SPACE.index) growth += value === null ? -1 : 1;
  }
  return growth;
}
