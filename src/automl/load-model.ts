/**
 * Reads a model's bytes for prediction. Called in task threads, and by actors for a few rows at a time: to be loaded
 * with the first prediction only. The model that is returned is immutable and may be kept.
 */
import { DbError } from "../protocol/errors.js";
import { evaluateClusters, loadClusterModel, predictClusters } from "./cluster/cluster-model.js";
import type { ColumnData, LoadedModel } from "./contract.js";
import { labelsOf, type PlannedFeature } from "./features/plan.js";
import { readColumn, readFeature, rowsOfColumn } from "./features/read-column.js";
import { targetOf } from "./features/read-target.js";
import { scoresOf } from "./metrics.js";
import { readModel } from "./model/model-file.js";
import { outputsOfModel, predictRows, probabilitiesOf, readInputs } from "./model/row-model.js";
import { loadRowModel } from "./model/save-row-model.js";
import { loadSeries } from "./series/series-model.js";

/** Throws `model_unavailable` when the bytes are damaged or of another version. */
export function loadModel(bytes: Uint8Array): LoadedModel {
  const { content, arrays } = readModel(bytes);
  if (content.kind === "series") return loadSeries(content, arrays);
  return content.kind === "clusters"
    ? clusterModel(loadClusterModel(content, arrays))
    : rowModel(loadRowModel(content, arrays));
}

function noForecast(): never {
  throw new DbError("invalid_request", "The model predicts rows, not a series. Send rows to predict.");
}

function rowsOf(columns: readonly ColumnData[], planned: readonly PlannedFeature[]): number {
  const column = columns.find(({ name }) => planned.some(({ feature }) => feature.name === name));
  return column === undefined ? 0 : rowsOfColumn(column);
}

function read(planned: readonly PlannedFeature[], columns: readonly ColumnData[]) {
  return planned.map((each) => readFeature(each.feature, columns, labelsOf(each)));
}

function rowModel(model: ReturnType<typeof loadRowModel>): LoadedModel {
  const { task, target, classes, planned, card } = model;
  return {
    task,
    target,
    classes,
    card,
    features: planned.map(({ feature }) => feature),
    predict: (columns, { explain = false } = {}) => {
      const inputs = read(planned, columns);
      return predictRows(model, inputs, rowsOf(columns, planned), explain);
    },
    evaluate: (columns) => {
      const given = columns.find(({ name }) => name === target);
      if (given === undefined)
        throw new DbError("invalid_request", `The target "${target}" is missing; evaluation needs it.`);
      const wanted = targetOf(readColumn(given), task, classes);
      const unknown = wanted.findIndex((value) => Number.isNaN(value));
      if (unknown >= 0) {
        const known = classes === null ? "a number" : `one of ${classes.slice(0, 20).join(", ")}`;
        const cell = given.values[unknown] ?? Number.NaN;
        const was = Number.isNaN(cell) ? "missing" : JSON.stringify(cell).slice(0, 60);
        throw new DbError(
          "invalid_request",
          `Row ${unknown + 1}: the target "${target}" is ${was}; it must be ${known}.`,
          {
            ...{ row: unknown + 1, feature: target },
          },
        );
      }
      if (wanted.length === 0)
        throw new DbError(
          "invalid_request",
          "There are no rows to compare the predictions with. Send rows, or name a source that has some.",
        );
      const predicted = probabilitiesOf(model, readInputs(model, read(planned, columns)), wanted.length);
      return scoresOf(task, wanted, predicted, outputsOfModel(model) === 1 ? (classes?.length ?? 0) : classes!.length);
    },
    forecast: noForecast,
  };
}

function clusterModel(model: ReturnType<typeof loadClusterModel>): LoadedModel {
  const { planned, card } = model;
  return {
    task: "clustering",
    target: null,
    classes: null,
    card,
    features: planned.map(({ feature }) => feature),
    predict: (columns) => predictClusters(model, read(planned, columns), rowsOf(columns, planned)),
    evaluate: (columns) => evaluateClusters(model, read(planned, columns), rowsOf(columns, planned)),
    forecast: noForecast,
  };
}
