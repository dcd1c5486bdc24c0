/**
 * Handles a request with an Idempotency-Key: repeats the first answer, or does the work and keeps the answer. Called
 * by requests.ts; idempotency.ts owns the answers.
 */

import { hashRequest } from "../bodies/validate.js";
import type { RequestFrame } from "../protocol/frames.js";
import type { Answer } from "../session/answer.js";
import { ownerName } from "../session/owner.js";
import type { FirstClaim, Idempotency } from "./idempotency.js";
import type { Request } from "./request.js";

const SMALL_ANSWER_CHARS = 1024;
const READER = "\u0001reader";

/** Gives the kept answer of the request's Idempotency-Key, or works and keeps the answer. */
export function answerOnce(
  idempotency: Idempotency,
  request: Request,
  frame: RequestFrame,
  work: () => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const { endpoint, tenant, readOnly } = request;
  const { head } = frame;
  // What a credential may do can change: then it gets no answer to what it may do no more.
  const owner = ownerName(head) + (readOnly ? READER : "");
  const claim = idempotency.claim(tenant, owner, head.idempotencyKey, hashRequest(frame), endpoint.status ?? 200);
  if (claim.replay !== null) return claim.replay;
  if (endpoint.keeps !== "memory") request.keepAnswer = claim.keep;
  const run = async (): Promise<Answer> => {
    try {
      const answer = await work();
      if (endpoint.keeps === "memory") claim.keepInMemory(answer);
      else if (request.keepAnswer !== null) keepLate(request, claim, answer);
      return answer;
    } finally {
      claim.done();
    }
  };
  return run();
}

/**
 * For an answer that no transaction of the request took along: the directory commits by itself, and so does each
 * statement of a batch. It follows in a transaction of its own, in the same turn and hence the same log write as the
 * last of them. What wrote nothing may be done again; only its small answers are kept, in memory.
 */
function keepLate(request: Request, claim: FirstClaim, answer: Answer): void {
  if (request.endpoint.home === "directory" || request.wrote) {
    const tx = request.partition.shard.begin();
    claim.keep(tx, answer);
    request.tenant.commit(tx);
    request.answerKept();
  } else if ((answer.json?.length ?? 0) <= SMALL_ANSWER_CHARS) claim.keepInMemory(answer);
}
