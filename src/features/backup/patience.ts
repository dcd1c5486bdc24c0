/**
 * Tries again what a partition refuses for a while: its tenant is being moved or restored, or in a cluster it gets
 * another owner. Used by the directory's actor.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DbError, type ErrorCode } from "../../protocol/errors.js";

const PAUSE_MS = 1000;
/** So often between nodes: a partition whose owner has died gets another one within seconds. */
const TRIES_WITHOUT_OWNER = 60;
/** Of whoever ends with its partition, or is not heard of any more. */
const WITHOUT_OWNER: ReadonlySet<ErrorCode> = new Set(["partition_unavailable", "shutting_down", "cancelled"]);

export interface Patience {
  /** Why else it may be refused, and how often it is tried then. */
  readonly passing: ReadonlySet<ErrorCode>;
  readonly tries: number;
  /** Another node may own the partition. */
  readonly isBetweenNodes: boolean;
  readonly isOver?: () => boolean;
}

/** Rejects with the last failure. */
export async function patiently<T>(patience: Patience, work: () => Promise<T>): Promise<T> {
  const { passing, tries, isBetweenNodes, isOver = () => false } = patience;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DbError) || isOver()) throw error;
      const isWithoutOwner = isBetweenNodes && WITHOUT_OWNER.has(error.code);
      const triesMax = isWithoutOwner ? TRIES_WITHOUT_OWNER : passing.has(error.code) ? tries : 1;
      if (attempt >= triesMax) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
