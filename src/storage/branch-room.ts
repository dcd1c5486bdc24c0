/**
 * Refuses commits for which a branch has no room left (`quota` of POST /v1/branches). A commit counts with all that it
 * writes, since what it replaces is there until then; one that adds no rows may always be made. Asked before each
 * commit in a tenant.
 */
import { DbError } from "../protocol/errors.js";
import { type Branch, FIRST_BRANCH } from "./branch-list.js";
import type { Shard } from "./shard.js";
import type { ShardTransaction } from "./transaction.js";

type ShardOfBranch = Pick<Shard, "layers" | "committedSequence" | "appliedSequence" | "flush">;

/** What the newest commits of a branch write, which the engine has not taken and counted yet. */
const waiting = new WeakMap<Branch, { bytes: number; upTo: number }>();

/** Throws quota_exceeded. */
export function requireRoom(shard: ShardOfBranch, number: number, tx: ShardTransaction): void {
  if (number < FIRST_BRANCH) return;
  const branch = shard.layers?.branchOf(number) ?? null;
  if (branch === null || branch.quotaBytes === null || tx.own === null) return;
  const { growth, size } = tx.own;
  const free = (): number => branch.quotaBytes! - shard.layers!.bytesOf(number) - waitingOf(shard, branch);
  if (growth > 0 && free() < size) {
    shard.flush();
    if (free() < size) throw full(branch, shard.layers!.bytesOf(number), size);
  }
  waiting.set(branch, { bytes: waitingOf(shard, branch) + size, upTo: shard.committedSequence + 1 });
}

function waitingOf({ appliedSequence }: ShardOfBranch, branch: Branch): number {
  const found = waiting.get(branch);
  return found === undefined || found.upTo <= appliedSequence ? 0 : found.bytes;
}

function full({ name, quotaBytes }: Branch, held: number, size: number): DbError {
  const what = `The branch "${name}" holds ${held} of ${quotaBytes} bytes, and the commit would write ${size}.`;
  const hint = "Delete rows that the branch has added, give it another quota_bytes, or merge it and begin a new one.";
  return new DbError("quota_exceeded", what, { hint, held_bytes: held, quota_bytes: quotaBytes });
}
