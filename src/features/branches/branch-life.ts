/** The end of branches: by their tenant's wish, or when their time is over. */
import type { Partition } from "../../actor/partition.js";
import { DbError } from "../../protocol/errors.js";
import type { Branch } from "../../storage/branch-list.js";
import { destroyKeys } from "../../storage/destroy-keys.js";
import { branchEnded, isEnding } from "../../storage/ending-branches.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { branchKey, historyRecordKey, horizonKey } from "../../storage/history-keys.js";
import { CLEARED, retiredKey, tenantPrefix } from "../../storage/keys.js";
import { BOLT_SESSIONS } from "../bolt/bolt-sessions.js";
import { FEED } from "../feed/feed.js";
import { replaceJobs } from "../jobs/job-records.js";
import { JOBS } from "../jobs/jobs.js";
import { WIRE_SESSIONS } from "../postgres/wire-sessions.js";

/** Ends of one sweep: each is a commit. */
const ENDS_AT_ONCE = 4;
/**
 * Commits the end; what was the branch's own goes in one step. Throws conflict while others are forked from it, or a
 * backup reads it. Resolves, and never rejects, when its data key is destroyed, too.
 */
export function endBranch(partition: Partition, number: number): Promise<void> {
  requireEndable(partition, number);
  const layers = partition.shard.layers!;
  const branch = layers.branchOf(number)!;
  const { name, root } = branch;
  const tx = partition.shard.begin({ isolation: "read committed" });
  tx.put(retiredKey(root, tenantPrefix(number)), CLEARED);
  tx.delete(historyRecordKey(number));
  tx.delete(horizonKey(number));
  tx.delete(branchKey(number));
  replaceJobs(tx, number, []);
  partition.tenant(root).commit(tx);
  branch.endedBy = partition.shard.committedSequence;
  // Where the commit fails, the branch goes on, and so does what is at work there.
  silence(partition, number, `the branch "${name}" was deleted`);
  partition.derived.keepOnly(number, new Map());
  partition.forget(number);
  return endKeys(partition, number);
}

/**
 * As `endBranch`, also where others were forked from it: then its name is free, and it ends after them. Throws conflict
 * where it would end now and a backup reads it.
 */
export async function dropBranch(partition: Partition, number: number): Promise<void> {
  if (partition.shard.layers!.branches.forksOf(number).size === 0) return endBranch(partition, number);
  const {
    writes: _,
    readers: __,
    endedBy: ___,
    forkedBy: ____,
    merges: _____,
    ...record
  } = partition.shard.layers!.branchOf(number)!;
  const aside = { ...record, name: `dropped-${number}`, expiresAtMs: Date.now() };
  const tx = partition.shard.begin({ isolation: "read committed" });
  tx.put(branchKey(number), Buffer.from(JSON.stringify(aside)));
  partition.tenant(record.root).commit(tx);
  silence(partition, number, `the branch "${record.name}" was deleted`);
}

/** Ends those under a tenant that are wanted, leaves first. Throws conflict where `endBranch` does. */
export async function endBranches(
  partition: Partition,
  root: number,
  isWanted: (branch: Branch) => boolean,
  turn: () => Promise<void>,
): Promise<void> {
  const { layers } = partition.shard;
  const ended: Promise<void>[] = [];
  for (;;) {
    const left = (layers?.branchesUnder(root) ?? []).filter(([, branch]) => isWanted(branch));
    // One from which others were forked ends after them.
    const ends = left.filter(([number]) => layers!.branches.forksOf(number).size === 0);
    if (ends.length === 0) break;
    for (const [number, branch] of ends) {
      // Its time may be over meanwhile.
      if (isThere(partition, number, branch)) ended.push(endBranch(partition, number));
      await turn();
    }
    await engineHasAll(partition.shard, turn);
  }
  await Promise.all(ended);
}

/** Never rejects: a start of the server destroys the keys of branches that are not there. */
export async function endKeys(partition: Pick<Partition, "shard" | "shared">, number: number): Promise<void> {
  try {
    await destroyKeys(partition.shard, number);
  } catch (error) {
    const message = `the data key of a branch that ended is not destroyed before the next start: ${String(error)}`;
    partition.shared.warn(message, { tenant: number });
  }
}

/** Throws conflict where `endBranch` does. */
export function requireEndable({ shard }: Pick<Partition, "shard">, number: number): void {
  const layers = shard.layers!;
  const { name, readers, forkedBy } = layers.branchOf(number)!;
  const others = [...layers.branches.forksOf(number)].map((each) => `"${layers.branchOf(each)!.name}"`);
  if (others.length > 0) {
    const names = others.slice(0, 10).join(", ");
    throw new DbError("conflict", `The branch "${name}" has branches: ${names}. Delete those first.`);
  }
  if (forkedBy > shard.appliedSequence) {
    const message = `Somebody is forking the branch "${name}". Ask again.`;
    throw new DbError("conflict", message, { retry_after_seconds: 1 });
  }
  if (readers > 0) {
    const message = `The branch "${name}" is being backed up. Delete it when that is done, or cancel the backup.`;
    throw new DbError("conflict", message, { retry_after_seconds: 5 });
  }
}

/** Whether it is still that branch, and not about to end. */
export function isThere(partition: Partition, number: number, branch: Branch): boolean {
  return partition.shard.layers!.branchOf(number) === branch && !isEnding(branch);
}

/**
 * Works in a branch. Throws not_found, whatever `work` answers or throws, where the branch has ended meanwhile: what
 * was read or written there is nothing then.
 */
export async function inBranch<T>(
  partition: Partition,
  number: number,
  branch: Branch | null,
  work: (branch: Branch) => Promise<T>,
): Promise<T> {
  if (branch === null || !isThere(partition, number, branch)) throw branchEnded();
  let done: T;
  try {
    done = await work(branch);
  } catch (error) {
    throw isThere(partition, number, branch) ? error : branchEnded();
  }
  if (!isThere(partition, number, branch)) throw branchEnded();
  return done;
}

/** What is at work for the branch, or waits for its changes. */
function silence(partition: Partition, number: number, reason: string): void {
  const sentence = `${reason[0]!.toUpperCase()}${reason.slice(1)}.`;
  partition.transactionsOf(partition.tenant(number)).endAll(reason);
  partition.part(WIRE_SESSIONS).branchEnded(number);
  partition.part(BOLT_SESSIONS).branchEnded(number);
  partition.part(FEED).subscriptions.tenantLeft(number, sentence);
  partition.part(FEED).changes.left(number);
  partition.part(JOBS).progress.tenantLeft(number, sentence);
  partition.part(JOBS).queue.drop(number);
}

/** Some of those whose time is over; one that others were forked from waits for them. */
export function endExpired(partition: Partition, nowMs: number): void {
  const { layers, failed, refusal } = partition.shard;
  if (layers === null || failed !== null || refusal !== null) return;
  for (const number of layers.branches.expired(nowMs, ENDS_AT_ONCE)) {
    try {
      if (!isEnding(layers.branchOf(number)!)) endBranch(partition, number);
    } catch (error) {
      // The disk is full, or something else that passes: the next sweep tries again.
      if (!(error instanceof DbError)) throw error;
    }
  }
}
