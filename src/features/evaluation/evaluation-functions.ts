/**
 * EVALUATE and SHOW EVALUATIONS: calls of these functions (sql/parse/evaluation-statements.ts). They work through the
 * request whose statement calls them, and read what has been committed; what is kept is kept in the transaction of the
 * statement.
 */
import Type from "typebox";
import { CALLER, type Request } from "../../actor/request.js";
import { SEARCH_MODES } from "../../catalog/ranked-search.js";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { sqlError } from "../../protocol/errors.js";
import { EVALUATION_K_MAX } from "../../protocol/limits.js";
import type { ExecContext } from "../../query/exec/context.js";
import { need } from "../../query/expr/capability.js";
import type { DeferredContext, ScalarFunction } from "../../query/expr/expr.js";
import { deferredFn } from "../../query/expr/functions/define.js";
import { readCallOptions } from "../../session/call-options.js";
import { JSONB, Json, TEXT, type Value } from "../../values/values.js";
import { type AnswersResult, evaluateAnswers } from "./evaluate-answers.js";
import { evaluateModel, type ModelResult } from "./evaluate-model.js";
import { evaluateRetrieval, type RetrievalResult } from "./evaluate-retrieval.js";
import {
  CREATE_EVALUATIONS,
  EVALUATIONS_NAME,
  type Evaluated,
  insertEvaluation,
  listEvaluations,
} from "./evaluation-store.js";

const LISTED_MAX = 1000;
/** How often a statement that waits for its evaluation lets its snapshot go, so that no older state must be kept. */
const RENEW_MS = 1000;

type EvaluationContext = ExecContext & DeferredContext;

/** A row of the answer: what is measured, of which setting, feature or sentence, and with which interval. */
interface Line {
  readonly subject: string | null;
  readonly metric: string;
  readonly value: number | null;
  readonly low?: number;
  readonly high?: number;
  readonly note?: string;
}

const common = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  keep: Type.Optional(Type.Boolean()),
};
/** `modes` in place of settings, with one least score for all of them. */
const RETRIEVAL = Strict({
  ...common,
  k: Type.Optional(Type.Integer({ minimum: 1, maximum: EVALUATION_K_MAX })),
  modes: Type.Optional(Type.Array(Type.Enum([...SEARCH_MODES]), { minItems: 1, maxItems: SEARCH_MODES.length })),
  min_score: Type.Optional(Type.Number()),
});
const MODEL = Strict({
  ...common,
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "A table." })),
});
const ANSWERS = Strict({
  ...common,
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
});

type Work = (
  args: readonly [subject: string | null, table: string],
  options: Json | null,
  context: EvaluationContext,
) => Promise<Line[]>;

/** Texts and options; each call keeps what it found. */
function evaluating(name: string, work: Work): ScalarFunction {
  const evaluate = async (columns: readonly (readonly Value[])[], count: number, context: DeferredContext) => {
    const values: Value[] = [];
    for (let i = 0; i < count; i++) {
      const [first, second, options] = columns.map((column) => column[i]!);
      if (second === null) throw sqlError("22004", "the name of a table must not be null");
      const renewing = setInterval(() => context.services.renewSnapshot(), RENEW_MS);
      const subjects = [first as string | null, second as string] as const;
      const lines = await work(subjects, options as Json | null, context as EvaluationContext).finally(() =>
        clearInterval(renewing),
      );
      values.push(new Json(lines));
    }
    return values;
  };
  const fn = deferredFn(name, [TEXT, TEXT, JSONB], JSONB, evaluate, { rowsMax: 1, strict: false });
  return Object.freeze({ ...fn, writes: true as const });
}

export const EVALUATION_FUNCTIONS: readonly ScalarFunction[] = [
  evaluating("evaluate_retrieval", async ([collection, table], given, context) => {
    const { modes, min_score: score, k, ...way } = readCallOptions("EVALUATE RETRIEVAL", RETRIEVAL, given);
    if (score !== undefined && modes === undefined) {
      throw sqlError("22023", "EVALUATE RETRIEVAL: min_score needs modes, since each has scores of its own");
    }
    const settings = modes?.map((mode) => ({ mode, ...(score !== undefined && { min_score: score }) }));
    const body = {
      collection: named(collection, "a collection"),
      pairs_from: table,
      ...(k !== undefined && { k }),
      ...(settings !== undefined && { settings }),
    };
    return retrievalLines(await kept(context, way, await evaluateRetrieval(callerOf(context), body)));
  }),
  evaluating("evaluate_model", async ([model, table], given, context) => {
    const { reference, ...way } = readCallOptions("EVALUATE MODEL", MODEL, given);
    const body = {
      model: named(model, "a model"),
      table,
      ...(reference !== undefined && { reference: { table: reference } }),
    };
    return modelLines(await kept(context, way, await evaluateModel(callerOf(context), body)));
  }),
  evaluating("evaluate_answers", async ([collection, table], given, context) => {
    const { name, keep, ...judging } = readCallOptions("EVALUATE ANSWERS", ANSWERS, given);
    const source = collection === null ? { items_from: table } : { collection, questions_from: table };
    const found = await evaluateAnswers(callerOf(context), { ...source, ...judging });
    return answerLines(await kept(context, { ...(name && { name }), ...(keep === false && { keep }) }, found));
  }),
  deferredFn("list_evaluations", [], JSONB, list, { rowsMax: 1, strict: false }),
];

const callerOf = (context: EvaluationContext): Request => need(context, CALLER);

function named(name: string | null | undefined, what: string): string {
  if (typeof name === "string" && name !== "") return name;
  throw sqlError("22004", `the name of ${what} must not be null`);
}

/** Kept in the statement's transaction, unless the options say otherwise. */
async function kept<R extends object>(
  context: EvaluationContext,
  { keep = true, name }: { readonly keep?: boolean; readonly name?: string },
  evaluated: Evaluated<R>,
): Promise<R> {
  if (keep) {
    if (context.services.catalogView().table(null, EVALUATIONS_NAME) === null) {
      for (const sql of CREATE_EVALUATIONS) await context.run(sql, [], 0, true);
    }
    const run = async (sql: string, params: readonly (string | null)[]) =>
      (await context.run(sql, params, 0, true)).rows;
    await insertEvaluation(run, callerOf(context).head.userId, name ?? null, evaluated);
  }
  return evaluated.result;
}

function retrievalLines({ settings, comparisons, k, questions }: RetrievalResult): Line[] {
  const note = `${questions} questions, ${k} documents each`;
  return [
    ...settings.flatMap(({ name, metrics, ms }): Line[] => [
      ...Object.entries(metrics).map(([metric, estimate]) => ({ subject: name, metric, ...estimate, note })),
      ...Object.entries(ms).map(([metric, estimate]) => ({ subject: name, metric: `ms_${metric}`, ...estimate, note })),
    ]),
    ...comparisons.map(({ first, second, metric, value, low, high, verdict }) => ({
      ...{ subject: `${first} - ${second}`, metric, value, low, high, note: verdict },
    })),
  ];
}

function modelLines({ metrics, calibration, drift }: ModelResult): Line[] {
  const moved = drift === null ? [] : [...drift.features, ...(drift.predictions === null ? [] : [drift.predictions])];
  return [
    ...Object.entries(metrics).map(([metric, value]) => ({ subject: null, metric, value })),
    ...(calibration === null
      ? []
      : [{ subject: null, metric: "expected_calibration_error", value: calibration.expected_error }]),
    ...moved.flatMap(({ feature, psi, ks, verdict }): Line[] => [
      { subject: feature, metric: "psi", value: psi, note: verdict },
      ...(ks === undefined ? [] : [{ subject: feature, metric: "ks", value: ks }]),
    ]),
  ];
}

function answerLines({ answers, does_not_say: doesNotSay, metrics, unsupported }: AnswersResult): Line[] {
  return [
    { subject: null, metric: "answers", value: answers },
    { subject: null, metric: "does_not_say", value: doesNotSay },
    ...Object.entries(metrics).map(([metric, estimate]) => ({
      subject: null,
      metric,
      ...(estimate ?? { value: null }),
    })),
    ...unsupported.map(({ item, state, entailment, sentence }) => ({
      ...{ subject: `answer ${item}`, metric: state, value: entailment, note: sentence },
    })),
  ];
}

async function list(_columns: readonly unknown[], count: number, context: DeferredContext): Promise<readonly Value[]> {
  const request = callerOf(context as EvaluationContext);
  const { evaluations } = await listEvaluations(request, { kind: null, name: null, limit: LISTED_MAX, offset: 0 });
  return new Array<Value>(count).fill(new Json(evaluations));
}
