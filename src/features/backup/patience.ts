/**
 * Tries again what a partition refuses for a while: its tenant is being moved or restored, or in a cluster it gets
 * another owner. Used by the directory's actor.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DbError, type ErrorCode } from "../../protocol/errors.js";

const PAUSE_MS = 1000;
/** Between nodes: a partition whose owner has died gets another one within seconds. */
const WITHOUT_OWNER_MS = 90_000;
/** Of whoever ends with its partition, or is not heard of any more. */
const WITHOUT_OWNER: ReadonlySet<ErrorCode> = new Set(["partition_unavailable", "shutting_down", "cancelled"]);

export interface PatienceClock {
  /** Milliseconds. */
  now(): number;
  sleep(ms: number): Promise<unknown>;
}

export interface Patience {
  /** Why else it may be refused, and how often it is tried then. */
  readonly passing: ReadonlySet<ErrorCode>;
  readonly tries: number;
  /** Another node may own the partition. */
  readonly isBetweenNodes: boolean;
  readonly isOver?: () => boolean;
  /** Absent: the process's. */
  readonly clock?: PatienceClock | undefined;
}

const CLOCK: PatienceClock = { now: () => performance.now(), sleep };

/** Rejects with the last failure. */
export async function patiently<T>(patience: Patience, work: () => Promise<T>): Promise<T> {
  const { passing, tries, isBetweenNodes, isOver = () => false, clock = CLOCK } = patience;
  let withoutOwnerSince = Number.NEGATIVE_INFINITY;
  for (let attempt = 1; ; attempt++) {
    const begun = clock.now();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DbError) || isOver()) throw error;
      const now = clock.now();
      // One that had been at work for long: the partition has had an owner.
      if (now - begun > WITHOUT_OWNER_MS || attempt === 1) withoutOwnerSince = now;
      const isWithoutOwner = isBetweenNodes && WITHOUT_OWNER.has(error.code);
      const isAgain = isWithoutOwner ? now - withoutOwnerSince < WITHOUT_OWNER_MS : passing.has(error.code);
      if (!isAgain || (!isWithoutOwner && attempt >= tries)) throw error;
      await clock.sleep(PAUSE_MS);
    }
  }
}
