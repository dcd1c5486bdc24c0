/** /v1/ai/nli/…: verification of claims. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { pairsRequest, verifyRequest } from "../../ai/nli/claim-requests.js";
import type { Asker } from "../../ai/nli/claim-verifier.js";
import type { InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import type { Answer } from "../../session/answer.js";
import { traced } from "../../session/trace.js";

export const nliHandlers = {
  "nli.models": models,
  "nli.verify": verify,
  "nli.pairs": pairs,
} satisfies Handlers;

const askerOf = (request: Request): Asker => ({ user: request.modelUser, signal: request.signal() });

function models(request: Request): Answer<ResponseOf<"nli.models">> {
  return { plain: request.partition.claims.list() };
}

async function verify(request: Request, { body }: InputOf<"nli.verify">): Promise<Answer<ResponseOf<"nli.verify">>> {
  return {
    plain: await traced(request.trace, "inference", {}, () =>
      request.partition.claims.verify(verifyRequest(body), askerOf(request)),
    ),
  };
}

async function pairs(request: Request, { body }: InputOf<"nli.pairs">): Promise<Answer<ResponseOf<"nli.pairs">>> {
  return { plain: await request.partition.claims.classify(pairsRequest(body), askerOf(request)) };
}
