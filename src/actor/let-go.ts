/**
 * Closes one partition of an actor that goes on with its others, because another node is to own it. What began before
 * may end first, while the partition is still served. Then it takes no more requests: they find the next owner. What
 * still runs has a little time, and is ended.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DbError } from "../protocol/errors.js";
import type { ActorFeatures } from "./actor-features.js";
import type { Idempotency } from "./idempotency.js";
import type { Partition } from "./partition.js";
import type { Requests } from "./requests.js";
import type { Upkeep } from "./upkeep.js";

export interface LetGoHost {
  readonly partitions: Map<number, Partition>;
  readonly requests: Pick<Requests, "in" | "leave" | "left">;
  readonly features: Pick<ActorFeatures, "isTied" | "leaving" | "leave">;
  readonly upkeep: Pick<Upkeep, "isAt">;
  readonly idempotency: Pick<Idempotency, "take">;
  /** Has the gateway send nothing more, and believe nothing more of what the partition has said. */
  tell(partition: number): void;
  /** What is called then, by partition. */
  readonly gatewayKnows: Map<number, () => void>;
  /** That have commits which the end of the turn must write. */
  readonly unflushed: ReadonlySet<Partition>;
  isClosing(): boolean;
  armTurn(): void;
}

/** For requests that run when the partition is to be let go; those that come meanwhile are served, too. */
const EARLIER_MS_MAX = 3000;
/** For those that run when no more are taken. */
const LAST_MS_MAX = 200;
/** For jobs and requests that were told to end. */
const STOPPING_MS = 10_000;
const LOOK_MS = 2;

/**
 * Resolves when it is closed; false: something is under way that must end first, or the actor ends anyhow. Throws where
 * something does not end within `stoppingMs`: the partition is half closed then, and only a new thread can go on with
 * it.
 */
export async function letGo(number: number, host: LetGoHost, stoppingMs = STOPPING_MS): Promise<boolean> {
  const { partitions, requests, features, idempotency } = host;
  const partition = partitions.get(number);
  if (partition === undefined) {
    // It was found damaged when it was opened.
    await gatewayKnows(number, host);
    return true;
  }
  if (features.isTied(partition)) return false;
  const earlier = requests.in(partition);
  await within(EARLIER_MS_MAX, () => {
    const running = new Set(requests.in(partition));
    return host.isClosing() || earlier.every((request) => !running.has(request));
  });
  if (host.isClosing() || features.isTied(partition)) return false;
  const jobs = features.leaving(partition);
  requests.leave(number);
  await gatewayKnows(number, host);
  partition.endWork();
  await inTime(stoppingMs, jobs);
  host.armTurn();
  const isIdle = (): boolean => isAtRest(partition, host);
  await within(LAST_MS_MAX, isIdle);
  const error = new DbError("partition_unavailable", "The partition gets another owner; retry.");
  for (const request of requests.in(partition)) request.end(error);
  if (!(await within(stoppingMs, isIdle))) throw tooLate();
  // Not before: requests that end are recorded in the directory's audit trail.
  await inTime(stoppingMs, features.leave(partition));
  host.armTurn();
  if (!(await within(stoppingMs, isIdle))) throw tooLate();
  partitions.delete(number);
  await partition.close();
  for (const tenant of partition.forgetAll()) idempotency.take(tenant);
  requests.left(number);
  return true;
}

function gatewayKnows(number: number, host: LetGoHost): Promise<void> {
  return new Promise((resolve) => {
    host.gatewayKnows.set(number, resolve);
    host.tell(number);
  });
}

/** Nothing runs, and all commits are on disk. */
function isAtRest(partition: Partition, { requests, unflushed, upkeep }: LetGoHost): boolean {
  const { shard, gate } = partition;
  if (requests.in(partition).length > 0 || upkeep.isAt(partition)) return false;
  if (shard.failed !== null) return true;
  return gate.waiting === 0 && !unflushed.has(partition) && shard.durableSequence >= shard.committedSequence;
}

/** Answers whether it is so in time. */
async function within(ms: number, isSo: () => boolean): Promise<boolean> {
  const until = performance.now() + ms;
  while (!isSo() && performance.now() < until) await sleep(LOOK_MS);
  return isSo();
}

/** Throws where it does not end in time. */
async function inTime(ms: number, ends: Promise<void>): Promise<void> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: over.signal }).then(
    () => {
      throw tooLate();
    },
    () => undefined,
  );
  await Promise.race([ends, late]).finally(() => over.abort());
}

function tooLate(): DbError {
  return new DbError("partition_unavailable", "What ran in the partition did not end in time.");
}
