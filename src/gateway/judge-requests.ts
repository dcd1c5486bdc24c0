/**
 * Decides what becomes of each request that was in flight when its actor's thread was ended for not giving way. Called
 * by the supervisor after the thread has ended; pure.
 */
import type { AtWork, MarksReader } from "../protocol/actor-marks.js";
import { ERRORS } from "../protocol/errors.js";
import type { Judge, Loss, PendingReply } from "./actor-link.js";

/** If the marks name no culprit, a request that was at work in this many ended threads is suspected. */
const SUSPICIONS_MAX = 2;

export interface Judgement {
  readonly marks: MarksReader;
  /** Who did not give way; null: nobody knows. */
  readonly culprit: AtWork | null;
  /** For which statements like it are refused. */
  readonly refusedSeconds: number;
}

/**
 * Those that did not give way get no second chance; of the others, such as have certainly left nothing behind are sent
 * again.
 */
export function judgeRequests({ marks, culprit, refusedSeconds }: Judgement): Judge {
  const stopped = stoppedLoss(refusedSeconds);
  return (id, reply) => {
    if (culprit?.request === id) return stopped;
    const fate = marks.fateOf(id, reply.ofDirectory);
    if (fate === "committed" && reply.repeatable !== "always") return COMMITTED;
    if (fate === "maybe" && reply.repeatable !== "always") return UNKNOWN;
    if (reply.repeatable === "never") return UNAVAILABLE;
    if (culprit === null && fate === "begun" && isSuspect(reply)) return stopped;
    return null;
  };
}

function isSuspect(reply: PendingReply): boolean {
  return ++reply.suspicions >= SUSPICIONS_MAX;
}

function stoppedLoss(refusedSeconds: number): Loss {
  const { message } = ERRORS.statement_stopped;
  return { code: "statement_stopped", message, retryAfterSeconds: Math.max(1, refusedSeconds) };
}

const COMMITTED: Loss = {
  code: "answer_lost",
  message:
    "The request took effect: its changes are on disk. Its answer was lost when another statement had to be stopped.",
  details: { committed: true },
  retryAfterSeconds: 0,
};

const UNKNOWN: Loss = {
  code: "answer_lost",
  message: ERRORS.answer_lost.message,
  details: { committed: null },
  retryAfterSeconds: 0,
};

const UNAVAILABLE: Loss = {
  code: "partition_unavailable",
  message: ERRORS.partition_unavailable.message,
  retryAfterSeconds: 1,
};
