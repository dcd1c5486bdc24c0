/**
 * AutoML in SQL: the functions that its statements are rewritten to (sql/parse/automl-dialect.ts), and AUTOML.PREDICT.
 * They work through the request whose statement calls them: each training is a transaction of its own.
 */

import { CALLER, type Request, callerOf as requestBehind } from "../../actor/request.js";
import { requireModelOwner } from "../../catalog/model-access.js";
import type { Rights } from "../../catalog/rights.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { Capability, need } from "../../query/expr/capability.js";
import type { DeferredContext, EvalContext, EvalServices, ScalarFunction } from "../../query/expr/expr.js";
import { deferredFn } from "../../query/expr/functions/define.js";
import { LIST_MODELS, MODEL_LIBRARY, type TrainedModels } from "../../query/expr/functions/models.js";
import type { TableFunction, TableRows } from "../../query/expr/table-function.js";
import { type AskingStatement, provideCapability } from "../../session/capabilities.js";
import { SYSTEM } from "../../sql/bind/system/system-view.js";
import {
  BOOL,
  FLOAT8,
  INT4,
  JSONB,
  Json,
  recordOf,
  type SqlType,
  TEXT,
  TIMESTAMPTZ,
  type Value,
} from "../../values/values.js";
import { ownTogether } from "../statements/run-together.js";
import { createExperiment, deployModel, dropExperiment, listExperiments } from "./experiments.js";
import { forgetName } from "./model-rights.js";
import { deleteModels, findModel, listModels, modelView, type StoredModel } from "./model-store.js";
import { type PredictedRow, type PredictedRows, predictRows } from "./predict.js";

/** Rows that are predicted together. */
const ROWS_AT_ONCE = 512;

/** As rows of LIST_MODELS(), whose kind is their task and whose revision is their version. */
export function statementModels({ client }: AskingStatement): TrainedModels | null {
  const request = requestBehind(client);
  return request === null ? null : () => trainedModels(request);
}

async function trainedModels(request: Request): Promise<readonly (readonly Value[])[]> {
  const models = await listModels(request, { limit: Number.MAX_SAFE_INTEGER, offset: 0 });
  return models.map(({ name, algorithm, sizeBytes, digest, createdAt, id, task, version }) => [
    ...[name, `automl/${algorithm}`, sizeBytes, digest, Date.parse(createdAt) * 1000, null, id, task, null, null],
    ...[String(version), null, "ready", null, null, null, false],
  ]);
}

function callerOf({ services }: EvalContext): Request {
  const request = services.capability(CALLER);
  if (request !== null) return request;
  throw new DbError("not_supported", "AutoML is not available here.");
}

/** The request, for what reaches no more than a model that the session's role may use. */
const PREDICTOR = new Capability<Request>("AutoML is not available here.");

provideCapability(PREDICTOR, ({ client }) => requestBehind(client));

const predictorOf = (context: EvalContext): Request => need(context, PREDICTOR);

/** Of the role that the statement runs as, which may be another than the request's. */
const sessionsRights = (services: EvalServices): Rights => need({ services }, SYSTEM).currentRights();

/** `row` counts the rows of `found`, `call` those of the statement's batch. */
type CellOf = (found: PredictedRows, row: number, model: StoredModel, call: number) => Value;

const predicting = (name: string, returns: SqlType, cellOf: CellOf, explain = false) =>
  deferredFn(name, [TEXT, JSONB], returns, (args, count, context) => predict(args, count, context, cellOf, explain), {
    rowsMax: ROWS_AT_ONCE,
    check: checkModel,
  });

/** A model that is not there is an error even where no row is predicted. */
async function checkModel([name]: readonly unknown[], context: EvalContext): Promise<void> {
  if (typeof name === "string") await findModel(predictorOf(context), name, sessionsRights(context.services));
}

export const AUTOML_FUNCTIONS: readonly ScalarFunction[] = [
  predicting("automl_predict", JSONB, ({ predictions }, row) => new Json(predictions[row])),
  predicting("automl_predict_proba", JSONB, ({ probabilities }, row) => new Json(probabilities?.[row] ?? null)),
  predicting("automl_predict_probability", FLOAT8, probabilityOf),
  deferredFn("automl_predict_class", [TEXT, TEXT, JSONB], FLOAT8, predictClass, {
    rowsMax: ROWS_AT_ONCE,
    check: checkModel,
  }),
  predicting("automl_predict_score", FLOAT8, scoreOf),
  predicting("automl_predict_number", FLOAT8, numberOf),
  predicting("automl_predict_order", JSONB, (found, row, model) => {
    return new Json(model.classes?.length === 2 ? scoreOf(found, row, model) : found.predictions[row]);
  }),
  predicting("automl_explain", JSONB, ({ explanations }, row) => new Json(explanations![row] ?? null), true),
  changing("automl_create_experiment", [TEXT, BOOL, TEXT, JSONB, JSONB, INT4], JSONB, async (request, args, renew) => {
    const [name, isAsync, query, values, options, offset] = args as [string, boolean, string, Json, Json, number];
    const source = { query, parameters: values.value as readonly unknown[] };
    try {
      return new Json(await createExperiment(request, name, isAsync, source, options, renew));
    } catch (error) {
      throw shifted(error, offset);
    }
  }),
  changing("automl_drop_experiment", [TEXT, BOOL], TEXT, async (request, [name, ifExists]) => {
    const isDropped = await dropExperiment(request, name as string, ifExists as boolean);
    return isDropped ? "DROP EXPERIMENT" : `experiment "${name as string}" does not exist, skipping`;
  }),
  deferredFn("describe_model", [TEXT], JSONB, describeModels, { rowsMax: 1 }),
  changing("drop_model", [TEXT, BOOL], TEXT, async (request, [name, ifExists], _renew, { services }) => {
    if ((await dropTrained(request, name as string, sessionsRights(services))) > 0) return "DROP MODEL";
    if (installedModel(services, name as string) !== null) {
      await need({ services }, MODEL_LIBRARY).delete(name as string);
      return "DROP MODEL";
    }
    if (ifExists === true) return `model "${name as string}" does not exist, skipping`;
    throw noSuchModel(name as string);
  }),
  changing("automl_deploy", [TEXT, TEXT], JSONB, async (request, [name, experiment]) => {
    return new Json(await deployModel(request, name as string, experiment as string));
  }),
];

function changing(
  name: string,
  args: ScalarFunction["args"],
  result: SqlType,
  change: (request: Request, args: readonly Value[], renew: () => void, context: DeferredContext) => Promise<Value>,
): ScalarFunction {
  const evaluate = async (columns: readonly (readonly Value[])[], count: number, context: DeferredContext) => {
    const values: Value[] = [];
    for (let i = 0; i < count; i++) {
      const given = columns.map((column) => column[i]!);
      if (given.some((value) => value === null)) throw sqlError("22004", "a name of an experiment or model is null");
      values.push(await change(callerOf(context), given, () => context.services.renewSnapshot(), context));
    }
    return values;
  };
  return Object.freeze({
    ...deferredFn(name, args, result, evaluate, { rowsMax: 1, strict: false }),
    writes: true as const,
  });
}

/** Of a model that the tenant trained all that its route tells; of an installed one its row in LIST_MODELS(). */
async function describeModels([names]: readonly (readonly Value[])[], count: number, context: DeferredContext) {
  const request = predictorOf(context);
  const values: Value[] = [];
  for (let i = 0; i < count; i++) {
    const name = names![i] as string;
    const trained = await trainedModel(request, name, sessionsRights(context.services));
    const found = trained === null ? installedModel(context.services, name) : modelView(trained, true);
    if (found === null) throw noSuchModel(name);
    values.push(new Json(found));
  }
  return values;
}

async function trainedModel(request: Request, name: string, rights: Rights): Promise<StoredModel | null> {
  try {
    return await findModel(request, name, rights);
  } catch (error) {
    if (error instanceof DbError && error.code === "model_not_found") return null;
    throw error;
  }
}

/** By name, alias, or name and tag; null: it is not installed. */
function installedModel(services: EvalServices, wanted: string): object | null {
  const [, name, tag] = /^([^:]*)(?::(.*))?$/s.exec(wanted.toLowerCase())!;
  const fields = LIST_MODELS.returns.fields!.map((field) => field.name);
  for (const row of services.capability(MODEL_LIBRARY)?.rows() ?? []) {
    const facts = Object.fromEntries(fields.map((field, i) => [field, plainFact(row[i]!, field)]));
    const isNamed = facts.name === name || facts.alias === name;
    if (isNamed && (tag === undefined || (facts.tag ?? "latest") === tag)) return facts;
  }
  return null;
}

const plainFact = (value: Value, field: string): unknown =>
  field.endsWith("_at") && typeof value === "number" ? new Date(value / 1000).toISOString() : value;

async function dropTrained(request: Request, idOrName: string, rights: Rights): Promise<number> {
  const found = await trainedModel(request, idOrName, rights);
  if (found === null) return 0;
  const { name } = found;
  requireModelOwner(rights, name);
  request.hasActed = true;
  const { count } = await ownTogether(
    request,
    request,
    (run) => deleteModels(run, { id: idOrName, name }),
    (tx, { isLast }) => {
      if (isLast) forgetName(request, tx, name);
      request.commitPart(tx);
    },
  );
  return count;
}

const noSuchModel = (name: string) =>
  sqlError("42704", `model "${name.slice(0, 100)}" does not exist`, {
    hint: "SHOW MODELS lists the models.",
  });

/** A position in the query is one in the statement around it. */
function shifted(error: unknown, offset: number): unknown {
  const position = error instanceof DbError ? error.details?.position : undefined;
  if (position === undefined) return error;
  const { code, message, details } = error as DbError;
  return new DbError(code, message, { ...details, position: position + offset });
}

async function predict(
  [names, objects]: readonly (readonly Value[])[],
  count: number,
  context: DeferredContext,
  cellOf: CellOf,
  explain: boolean,
): Promise<readonly Value[]> {
  const request = predictorOf(context);
  const rights = sessionsRights(context.services);
  const byModel = new Map<string, number[]>();
  for (let i = 0; i < count; i++) {
    const name = names![i] as string;
    const calls = byModel.get(name);
    if (calls === undefined) byModel.set(name, [i]);
    else calls.push(i);
  }
  const values = new Array<Value>(count).fill(null);
  for (const [name, calls] of byModel) {
    const model = await findModel(request, name, rights);
    const rows = calls.map((i) => rowOf(model, (objects![i] as Json).value));
    const found = await predictRows(request, model, rows, explain);
    for (const [n, i] of calls.entries()) values[i] = cellOf(found, n, model, i);
  }
  return values;
}

/**
 * A number that rows can be put in order by: the value, or of two classes the probability of the second (of false and
 * true: of true).
 */
function scoreOf({ predictions, probabilities }: PredictedRows, row: number, { name, classes }: StoredModel): number {
  if (classes === null) return predictions[row] as number;
  if (classes.length === 2) return probabilities![row]![classes[1]!]!;
  throw sqlError("22023", `the model "${name}" knows ${classes.length} classes, so a prediction is no single number`, {
    hint: `AUTOML.PREDICT_PROBA('${name}', …) ->> '${classes[0]}' gives the probability of one of them.`,
  });
}

/** Of the label that is predicted; a number has none. */
function probabilityOf({ predictions, probabilities }: PredictedRows, row: number): number | null {
  return probabilities?.[row]?.[String(predictions[row])] ?? null;
}

/** Models, classes and features; gives the probability of the class. */
async function predictClass(
  [names, labels, objects]: readonly (readonly Value[])[],
  count: number,
  context: DeferredContext,
): Promise<readonly Value[]> {
  return predict(
    [names!, objects!],
    count,
    context,
    (found, place, model, call) => {
      const label = labels![call] as string;
      const probability = found.probabilities?.[place]?.[label];
      if (probability !== undefined) return probability;
      throw sqlError("22023", `the model "${model.name}" has no class "${label.slice(0, 100)}"`, {
        hint:
          model.classes === null ? "It predicts numbers." : `Its classes are ${model.classes.slice(0, 20).join(", ")}.`,
      });
    },
    false,
  );
}

/** Of a prediction that stands where a number is wanted. */
function numberOf(found: PredictedRows, row: number, model: StoredModel): number {
  const prediction = found.predictions[row]!;
  if (typeof prediction === "number") return prediction;
  if (typeof prediction === "boolean") return scoreOf(found, row, model);
  throw sqlError("22P02", `the class "${prediction}" that the model "${model.name}" predicts is no number`, {
    hint: "AUTOML.PREDICT_SCORE gives the probability of the second of two classes, AUTOML.PREDICT_PROBA that of each.",
  });
}

/** An object by feature; "$2" is the second feature, and an object of one column that is a row is that row. */
function rowOf({ features }: StoredModel, value: unknown): PredictedRow {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw sqlError("22023", "AUTOML.PREDICT takes columns, name => value, or a row as a JSON object", {
      hint: `The model reads ${features.map(({ name }) => name).join(", ")}.`,
    });
  }
  const cells = Object.entries(value as Record<string, unknown>);
  const only = cells.length === 1 ? cells[0]![1] : null;
  if (typeof only === "object" && only !== null && !Array.isArray(only)) return only as PredictedRow;
  return Object.fromEntries(
    cells.map(([name, cell]) => {
      const place = /^\$(\d+)$/.exec(name);
      return [place === null ? name : (features[Number(place[1]) - 1]?.name ?? name), cell];
    }),
  );
}

const EXPERIMENT = recordOf([
  { name: "name", type: TEXT },
  { name: "status", type: TEXT },
  { name: "progress", type: FLOAT8 },
  { name: "best_score", type: FLOAT8 },
  { name: "best_model_id", type: TEXT },
  { name: "created_at", type: TIMESTAMPTZ },
]);

export const EXPERIMENTS: TableFunction = {
  name: "automl_experiments",
  args: [],
  returns: EXPERIMENT,
  strict: true,
  open: (context) => new ExperimentRows(callerOf(context)),
};

class ExperimentRows implements TableRows {
  private rows: readonly (readonly Value[])[] | null = null;
  private given = 0;

  constructor(private readonly request: Request) {}

  async next(out: readonly Value[][], at: number, max: number): Promise<number> {
    this.rows ??= (await listExperiments(this.request)).map((job) => [
      ...[job.experiment, job.status, job.progress, job.bestScore, job.modelId],
      Date.parse(job.createdAt) * 1000,
    ]);
    const rows = this.rows.slice(this.given, this.given + max);
    for (const [i, row] of rows.entries()) for (let c = 0; c < out.length; c++) out[c]![at + i] = row[c]!;
    this.given += rows.length;
    return rows.length;
  }
}
