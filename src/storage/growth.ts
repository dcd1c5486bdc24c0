/**
 * Tells whether a commit needs space: whether it puts more rows and index entries than it removes. Called by
 * transactions; pure.
 */
import { SPACE } from "./keys.js";
import type { Operation } from "./operation.js";
import type { SortedRun } from "./sorted-run.js";

/** Whether keys that begin so are of rows or index entries. */
function isStoredSpace(key: Uint8Array): boolean {
  return key[4] === SPACE.rows || key[4] === SPACE.index;
}

/** Definitions, accounts and what deletions leave behind count for nothing, so that one can still make room. */
export function growthOf(writes: Iterable<Operation>): number {
  let growth = 0;
  for (const { key, value } of writes) {
    if (isStoredSpace(key)) growth += value === null ? -1 : 1;
  }
  return growth;
}

/** The same of the runs of a load, without a look at each write. */
export function growthOfRuns(runs: readonly SortedRun[]): number {
  let growth = 0;
  for (const { prefix, size, deletions } of runs) if (isStoredSpace(prefix)) growth += size - 2 * deletions;
  return growth;
}
