/**
 * Measures a trained model on rows with known targets: the metrics of automl.evaluate, how far its probabilities can be
 * trusted, and how far rows and predictions have moved from a reference. Called by the route and SQL; no state.
 */
import type { Request } from "../../actor/request.js";
import { type CalibrationBin, calibrationBins, expectedError } from "../../automl/metrics.js";
import type { InputOf } from "../../bodies/validate.js";
import { invalid } from "../../document/field-path.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { EVALUATION_KEPT_ROWS_MAX } from "../../protocol/limits.js";
import { giveWay } from "../../protocol/turns.js";
import { findModel, type StoredModel } from "../automl/model-store.js";
import { evaluateRows, type PredictedRow, type PredictedRows, predictRows } from "../automl/predict.js";
import { readRows } from "../automl/read-rows.js";
import { sourceOf, type TrainBody } from "../automl/train-spec.js";
import type { Evaluated } from "./evaluation-store.js";
import { driftOfModel } from "./model-drift.js";
import { keysOf, type QuestionScores } from "./question-scores.js";

export type ModelBody = InputOf<"evaluation.models">["body"];
export type ModelResult = ResponseOf<"evaluation.models">["result"];

/** The name of the one setting in the scores. */
const SETTING = "predictions";
/** Rows between two looks at the clock. */
const ROWS_A_TURN = 1024;

interface Rows extends TrainBody {
  readonly rows?: readonly PredictedRow[];
}

/** Throws model_not_found, what a source of rows throws, and invalid_request that names the row. */
export async function evaluateModel(request: Request, body: ModelBody): Promise<Evaluated<ModelResult>> {
  const { model: name, reference, name: _name, keep: _keep, ...given } = body;
  const model = await findModel(request, name);
  const isSeries = model.task === "forecasting";
  if (isSeries && reference !== undefined) {
    throw invalid("reference", "a model of a series has no drift: its rows follow one another");
  }
  const rows = await rowsGiven(request, given as Rows, "rows");
  const metrics = await evaluateRows(request, model, rows);
  const predicted = isSeries ? null : await predictRows(request, model, rows);
  const calibration = predicted === null ? null : await calibrationOf(request, model, rows, predicted);
  const result: ModelResult = {
    model_id: model.id,
    version: model.version,
    task: model.task,
    rows: rows.length,
    metrics,
    calibration: calibration === null ? null : { ...calibration, brier: metrics.brier ?? 0 },
    drift: null,
  };
  const scores = await scoresOf(request, model, rows, predicted);
  const about = { kind: "models", about: model.name, questions: rows.length, scores } as const;
  if (reference === undefined || predicted === null) return { ...about, result };
  const former = await rowsGiven(request, reference as Rows, "reference");
  const foretold = await predictRows(request, model, former);
  const drift = await driftOfModel(request, model, { rows: former, predicted: foretold }, { rows, predicted });
  return { ...about, result: { ...result, drift: { reference_rows: former.length, ...drift } } };
}

async function rowsGiven(request: Request, { rows, ...source }: Rows, field: string): Promise<readonly PredictedRow[]> {
  const [other] = Object.keys(source);
  if (rows !== undefined && other !== undefined) throw invalid(field, `send one of "rows" and "${other}"`);
  const read = rows ?? (await readRows(request, await sourceOf(request, source)));
  if (read.length === 0) throw invalid(field, "there are no rows");
  return read;
}

/** Of probabilities of classes; null: the model predicts numbers. */
async function calibrationOf(
  request: Request,
  { classes, card }: StoredModel,
  rows: readonly PredictedRow[],
  { probabilities }: PredictedRows,
) {
  if (classes === null || probabilities === null) return null;
  const places = new Map(classes.map((label, place) => [label, place]));
  const width = classes.length === 2 ? 1 : classes.length;
  const bins: CalibrationBin[] = [];
  for (let at = 0; at < rows.length; at += ROWS_A_TURN) {
    const target: number[] = [];
    const given: number[] = [];
    for (let row = at; row < Math.min(rows.length, at + ROWS_A_TURN); row++) {
      const place = placeOf(rows[row]![card.target!], places);
      if (place === undefined) continue;
      target.push(place);
      for (const label of width === 1 ? [classes[1]!] : classes) given.push(probabilities[row]![label]!);
    }
    const own = calibrationBins(Float64Array.from(target), Float64Array.from(given), classes.length);
    for (const [bin, { rows: count, probability, frequency }] of own.entries()) {
      const before = bins[bin] ?? { rows: 0, probability: 0, frequency: 0 };
      const all = before.rows + count;
      const mean = (was: number, is: number) => (all === 0 ? 0 : (was * before.rows + is * count) / all);
      bins[bin] = {
        rows: all,
        probability: mean(before.probability, probability),
        frequency: mean(before.frequency, frequency),
      };
    }
    await giveWay(request);
  }
  return {
    expected_error: expectedError(bins),
    rows: bins.reduce((sum, bin) => sum + bin.rows, 0),
    bins: bins.map((bin, i) => ({ from: i / bins.length, to: (i + 1) / bins.length, ...bin })),
  };
}

/** Numbers that are written as text are classes of numbers. */
function placeOf(cell: unknown, places: ReadonlyMap<string, number>): number | undefined {
  const label = String(cell);
  return places.get(label) ?? places.get(String(Number(label)));
}

/** How right each row is, where there are few enough. */
async function scoresOf(
  request: Request,
  { classes, card }: StoredModel,
  rows: readonly PredictedRow[],
  predicted: PredictedRows | null,
): Promise<QuestionScores> {
  if (predicted === null || rows.length > EVALUATION_KEPT_ROWS_MAX) return { keys: [], series: {} };
  const keys = await keysOf(request, rows.length, (i) => JSON.stringify(rows[i]));
  const { predictions } = predicted;
  const values = rows.map((row, i) => {
    const target = row[card.target!];
    if (classes !== null) return String(predictions[i]) === String(target) ? 1 : 0;
    return Math.abs(Number(predictions[i]) - Number(target));
  });
  const metric = classes === null ? "absolute_error" : "correct";
  return { keys, series: { [SETTING]: { [metric]: Float64Array.from(values) } } };
}
