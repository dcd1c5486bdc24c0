/** /v1/evaluations/…: evaluations of searches, answers and models, and their history. */
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { usualPageOf } from "../../bodies/paging.js";
import type { Input } from "../../bodies/validate.js";
import type { Answer } from "../../session/answer.js";
import { ownTogether } from "../statements/run-together.js";
import { compareEvaluations } from "./compare-evaluations.js";
import { evaluateAnswers } from "./evaluate-answers.js";
import { evaluateModel } from "./evaluate-model.js";
import { evaluateRetrieval } from "./evaluate-retrieval.js";
import {
  deleteEvaluation,
  type Evaluated,
  findEvaluation,
  hasEvaluations,
  listEvaluations,
  noEvaluation,
} from "./evaluation-store.js";
import { type KeptEvaluation, keepEvaluation } from "./keep-evaluation.js";

export const evaluationHandlers = {
  "evaluation.retrieval": async (request, { body }) => answered(request, body, await evaluateRetrieval(request, body)),
  "evaluation.answers": async (request, { body }) => answered(request, body, await evaluateAnswers(request, body)),
  "evaluation.models": async (request, { body }) => answered(request, body, await evaluateModel(request, body)),
  "evaluation.list": async (request, { query }) => {
    const { kind = null, name = null } = query;
    return { plain: await listEvaluations(request, { kind, name, ...usualPageOf(query) }) };
  },
  "evaluation.get": async (request, { params }) => {
    const { id, kind, name, about, createdAt, result } = await findEvaluation(request, params.id!);
    return { plain: { id, kind, name, about, created_at: createdAt, result } };
  },
  "evaluation.delete": remove,
  "evaluation.compare": async (request, { params }) => {
    const first = await findEvaluation(request, params.id!);
    const second = await findEvaluation(request, params.other!);
    return { plain: await compareEvaluations(request, first, second) };
  },
} satisfies Handlers;

async function answered<R extends object>(
  request: Request,
  body: { readonly keep?: boolean; readonly name?: string },
  evaluated: Evaluated<R>,
): Promise<Answer<KeptEvaluation<R>>> {
  let answer: Answer<KeptEvaluation<R>> | null = null;
  const kept = await keepEvaluation(request, body, evaluated, (tx, plain) => {
    answer = { plain };
    request.commit(tx, answer);
  });
  return answer ?? { plain: kept };
}

async function remove(request: Request, { params }: Input): Promise<Answer> {
  if (!hasEvaluations(request)) throw noEvaluation(params.id!);
  await ownTogether(
    request,
    request,
    (run) => deleteEvaluation(run, request.head.userId, params.id!),
    (tx) => request.commit(tx, {}),
  );
  return {};
}
