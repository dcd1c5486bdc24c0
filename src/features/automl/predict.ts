/**
 * Predictions by a tenant's models: rows become columns in pieces between the tenant's turns, texts are embedded as
 * they were for the training, and a task thread computes. Called by the handlers, the tools and SQL.
 */

import type { Request } from "../../actor/request.js";
import type { Feature, Predictions } from "../../automl/contract.js";
import type { ModelTasks } from "../../automl/model-tasks.js";
import { columnOfCells, columnsForModel } from "../../automl/row-columns.js";
import { DbError } from "../../protocol/errors.js";
import { embedderOf } from "../models/request-embedder.js";
import { loadedBytes } from "./model-cache.js";
import type { StoredModel } from "./model-store.js";
import { takeSteps } from "./rows-in-turns.js";

export type PredictedRow = Readonly<Record<string, unknown>>;

export interface PredictedRows {
  readonly predictions: (string | number | boolean)[];
  /** By label; null where there are no classes. */
  readonly probabilities: Readonly<Record<string, number>>[] | null;
  readonly explanations: unknown[] | null;
  readonly explanationMethod: Predictions["explanationMethod"];
}

/** Rows that are computed together. */
const ROWS_AT_ONCE = 512;

/** Throws invalid_request that names the row and the feature, and model_not_found. */
export async function predictRows(
  request: Request,
  model: StoredModel,
  rows: readonly PredictedRow[],
  explain = false,
): Promise<PredictedRows> {
  const { tasks, bytes } = await ready(request, model);
  const predictions: (string | number | boolean)[] = [];
  const probabilities: Record<string, number>[] = [];
  const explanations: unknown[] = [];
  let explanationMethod: Predictions["explanationMethod"] = null;
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const some = await embedTexts(request, model, rows.slice(at, at + ROWS_AT_ONCE), at);
    const found = await takeSteps(request, columnsForModel(model.features, some))
      .then((columns) => tasks.predict(bytes, columns, explain))
      .catch((error: unknown) => {
        throw shifted(error, at);
      });
    predictions.push(...found.predictions);
    probabilities.push(...(await takeSteps(request, byLabel(found, model.classes))));
    explanations.push(...(found.explanations ?? []));
    explanationMethod = found.explanationMethod;
    await request.yieldTurn();
  }
  return {
    predictions,
    probabilities: model.classes === null ? null : probabilities,
    explanations: explain ? explanations : null,
    explanationMethod,
  };
}

function* byLabel({ probabilities, predictions }: Predictions, classes: readonly string[] | null) {
  const rows: Record<string, number>[] = [];
  if (probabilities === null || classes === null) return rows;
  for (let row = 0; row < predictions.length; row++) {
    rows.push(Object.fromEntries(classes.map((label, i) => [label, probabilities[row * classes.length + i]!])));
    yield;
  }
  return rows;
}

/** Metrics of the model on rows whose target is known. */
export async function evaluateRows(
  request: Request,
  model: StoredModel,
  rows: readonly PredictedRow[],
): Promise<Readonly<Record<string, number>>> {
  const { target } = model.card;
  if (target === null) {
    throw new DbError("invalid_request", "A cluster model has no target, so there is nothing to compare with.");
  }
  const missing = rows.findIndex((row) => row[target] === undefined);
  if (rows.length === 0 || missing >= 0) {
    const why = rows.length === 0 ? "There are no rows." : `Row ${missing + 1} lacks the target "${target}".`;
    throw new DbError("invalid_request", why, { field: "rows", feature: target });
  }
  const { tasks, bytes } = await ready(request, model);
  const some = await embedTexts(request, model, rows, 0);
  const columns = await takeSteps(request, columnsForModel(model.features, some));
  // Of a series the times say which step a row is.
  const times = model.task === "forecasting" ? [model.config.time_column as string] : [];
  for (const name of [...times, target]) {
    const cells = rows.map((row) => row[name]);
    columns.push(await takeSteps(request, columnOfCells(name, cells)));
  }
  return tasks.evaluate(bytes, columns);
}

export async function forecast(request: Request, model: StoredModel, steps: number | undefined) {
  const { tasks, bytes } = await ready(request, model);
  const { times, predictions, lower, upper, coverage } = await tasks.forecast(bytes, steps);
  const list = [...predictions].map((prediction, i) => ({
    time: model.config.has_moments ? new Date(times[i]!).toISOString() : times[i]!,
    prediction,
    lower: lower[i]!,
    upper: upper[i]!,
  }));
  return { predictions: list.map(({ prediction }) => prediction), forecast: list, coverage };
}

async function ready(request: Request, model: StoredModel) {
  const tasks: ModelTasks | undefined = request.partition.tasks?.models;
  if (tasks === undefined)
    throw new DbError("not_supported", "Models are not available here: the server has no threads for them.");
  return { tasks, bytes: await loadedBytes(request, model) };
}

/** Texts of features that were embedded for the training, as vectors. */
async function embedTexts(
  request: Request,
  { config, features }: StoredModel,
  rows: readonly PredictedRow[],
  before: number,
): Promise<readonly PredictedRow[]> {
  const embedded = features.filter(({ name }) => config.embedded.includes(name));
  if (embedded.length === 0) return rows;
  const copies = rows.map((row) => ({ ...row }));
  for (const feature of embedded) {
    const texts: string[] = [];
    const places: number[] = [];
    for (const [i, row] of rows.entries()) {
      const cell = row[feature.name];
      if (typeof cell === "string") {
        places.push(i);
        texts.push(cell);
      } else if (cell !== null && cell !== undefined) throw notText(feature, before + i);
    }
    const vectors = await embedderOf(request).embed(texts, config.embedding_model ?? undefined);
    for (const [n, i] of places.entries()) copies[i]![feature.name] = vectors[n]!;
  }
  return copies;
}

function notText({ name }: Feature, row: number): DbError {
  return new DbError("invalid_request", `Row ${row + 1}: the feature "${name}" needs a text.`, {
    row: row + 1,
    feature: name,
  });
}

/** An error that counts rows from the beginning of a piece counts from the beginning of all. */
function shifted(error: unknown, before: number): unknown {
  const row = error instanceof DbError ? error.details?.row : undefined;
  if (before === 0 || typeof row !== "number") return error;
  const { code, message, details } = error as DbError;
  return new DbError(code, message.replace(`Row ${row}`, `Row ${row + before}`), { ...details, row: row + before });
}
