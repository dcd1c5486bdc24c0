/** Tools that measure how good searches are, and list what was measured. */
import Type from "typebox";
import { evaluationEndpoints } from "../../protocol/endpoints/evaluation.js";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { LIST_PAGE_DEFAULT, LIST_PAGE_MAX } from "../../protocol/limits.js";
import { evaluateRetrieval, plannedRetrieval } from "../evaluation/evaluate-retrieval.js";
import { listEvaluations } from "../evaluation/evaluation-store.js";
import { keepEvaluation } from "../evaluation/keep-evaluation.js";
import { READS, type Tool } from "./tool.js";

const [retrieval] = evaluationEndpoints;

const evaluateTool: Tool = {
  name: "evaluate_retrieval",
  door: "statements",
  title: "Measure searches",
  description:
    "Measures the searches of a collection on questions whose relevant documents are known: recall, precision, nDCG and MRR per setting with intervals of 95 %, the questions with the worst results, and whether one setting is better than another.",
  input: Strict({
    ...retrieval.body.properties,
    dry_run: Type.Optional(
      Type.Boolean({ description: "Nothing is measured or kept; the answer counts the questions and the searches." }),
    ),
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  forReaders: false,
  call: async ({ request, readOnly }, { dry_run, ...body }) => {
    if (dry_run === true) {
      const plan = { ...(await plannedRetrieval(request, body)), keep: !readOnly && body.keep !== false };
      return JSON.stringify({ dry_run, plan });
    }
    const found = await evaluateRetrieval(request, body);
    const keep = !readOnly && body.keep !== false;
    return JSON.stringify(await keepEvaluation(request, { ...body, keep }, found, (tx) => request.commitPart(tx)));
  },
};

const listTool: Tool = {
  name: "list_evaluations",
  door: "statements",
  title: "List evaluations",
  description: "Lists the caller's evaluations of searches, answers and models, newest first.",
  input: Strict({
    kind: Type.Optional(Type.Enum(["retrieval", "answers", "models"])),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_PAGE_MAX })),
  }),
  ...READS,
  call: async ({ request }, { kind = null, name = null, limit = LIST_PAGE_DEFAULT }) =>
    JSON.stringify(await listEvaluations(request, { kind, name, limit, offset: 0 })),
};

export const EVALUATION_TOOLS: readonly Tool[] = [evaluateTool, listTool];
