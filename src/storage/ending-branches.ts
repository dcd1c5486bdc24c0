/**
 * Branches whose end is committed, or a fork of which is; the engine may not know it yet. Told by features/branches;
 * asked by whoever finds a branch, and before each commit in one.
 */
import { DbError } from "../protocol/errors.js";
import { type Branch, FIRST_BRANCH, NO_ORIGIN } from "./branch-list.js";
import type { LayeredEngine } from "./layered-engine.js";
import type { Shard } from "./shard.js";

export function isEnding({ endedBy }: Pick<Branch, "endedBy">): boolean {
  return endedBy !== null;
}

/** The log did not take the commits from that one on: branches that they were to end, or to fork, go on as before. */
export function endsUndone(branches: Iterable<Branch>, first: number): void {
  for (const branch of branches) {
    if (branch.endedBy !== null && branch.endedBy >= first) branch.endedBy = null;
    if (branch.forkedBy >= first) branch.forkedBy = 0;
  }
}

/** The shard's newest commit forks a branch from that number, perhaps of a branch. */
export function forked({ layers, committedSequence }: ForkedShard, origin: number): void {
  const branch = layers?.branchOf(origin);
  if (branch != null) branch.forkedBy = committedSequence;
}

type ForkedShard = Pick<Shard, "layers" | "committedSequence">;

/** Throws not_found for the number of a branch that there is not, or not any more. Numbers of tenants are no matter. */
export function requireBranch(layers: Pick<LayeredEngine, "branchOf"> | null, number: number): void {
  if (number < FIRST_BRANCH) return;
  const branch = layers?.branchOf(number) ?? null;
  if (branch === null || isEnding(branch)) throw branchEnded();
}

/** Whether it has entries of another: it is a branch, and did not begin empty. */
export function readsThrough(layers: Pick<LayeredEngine, "branchOf"> | null, number: number): boolean {
  const branch = layers?.branchOf(number) ?? null;
  return branch !== null && branch.origin !== NO_ORIGIN;
}

export function branchEnded(): DbError {
  return new DbError("not_found", "The branch has ended meanwhile: it was deleted, or its time was over.", {
    hint: "What was written there is gone. Begin again in another branch.",
  });
}
