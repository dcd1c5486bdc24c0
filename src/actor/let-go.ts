/**
 * Closes one partition of an actor that goes on with its others, because another node is to own it. What began before may end first,
 * while the partition is still served. Then it takes no more requests: they find the next owner. What still runs has a little time,
 * and is ended.
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
  readonly features: Pick<ActorFeatures, "isTied" | "leave">;
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
const LOOK_MS = 2;

/** Resolves when it is closed; false: something is under way that must end first, or the actor ends anyhow. */
export async function letGo(number: number, host: LetGoHost): Promise<boolean> {
  const { partitions, requests, features, idempotency } = host;
  const partition = partitions.get(number);
  if (partition === undefined || features.isTied(partition)) return false;
  const earlier = requests.in(partition);
  await within(EARLIER_MS_MAX, () => {
    const running = new Set(requests.in(partition));
    return host.isClosing() || earlier.every((request) => !running.has(request));
  });
  if (host.isClosing() || features.isTied(partition)) return false;
  requests.leave(number);
  await new Promise<void>((resolve) => {
    host.gatewayKnows.set(number, resolve);
    host.tell(number);
  });
  partition.endWork();
  await features.leave(partition);
  host.armTurn();
  const isIdle = (): boolean =>
    requests.in(partition).length === 0 &&
    partition.gate.waiting === 0 &&
    !host.unflushed.has(partition) &&
    !host.upkeep.isAt(partition);
  await within(LAST_MS_MAX, isIdle);
  const error = new DbError("partition_unavailable", "The partition gets another owner; retry.");
  for (const request of requests.in(partition)) request.end(error);
  await within(Number.POSITIVE_INFINITY, isIdle);
  partitions.delete(number);
  await partition.close();
  for (const tenant of partition.forgetAll()) idempotency.take(tenant);
  requests.left(number);
  return true;
}

async function within(ms: number, isSo: () => boolean): Promise<void> {
  const until = performance.now() + ms;
  while (!isSo() && performance.now() < until) await sleep(LOOK_MS);
}
