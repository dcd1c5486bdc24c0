/** A model of one series: forecasts step by step, each from what was forecast before it. Immutable. */
import { DbError } from "../../protocol/errors.js";
import { AUTOML_FORECAST_STEPS_MAX } from "../../protocol/limits.js";
import type { ColumnData, Forecast, LoadedModel, Metric, ModelCard } from "../contract.js";
import { readColumn } from "../features/read-column.js";
import type { ArraySink, FittedModel, SavedModel, StoredArray } from "../model/learner.js";
import { loadFitted } from "../model/load-fitted.js";
import { anchorOf, featureCount, fillFeatures, type Lags, reachOf } from "./lag-features.js";
import { placeOnGrid, type TimeStep, timeAt } from "./read-series.js";
import { seriesScores } from "./series-scores.js";

export interface SeriesModel {
  readonly target: string;
  readonly timeColumn: string;
  readonly calendar: boolean;
  readonly start: number;
  readonly step: TimeStep;
  readonly lags: Lags;
  /** Values are forecast as logarithms. */
  readonly logarithmic: boolean;
  /** The latest values (as logarithms where so), at least `reachOf`; the last stands at place `length - 1`. */
  readonly history: Float64Array;
  readonly length: number;
  readonly members: readonly { readonly weight: number; readonly fitted: FittedModel | null }[];
  /** Half the interval's width by step, in the scale that is forecast in. */
  readonly spread: readonly number[];
  readonly coverage: number;
  readonly horizon: number;
  /** Mean distance of a value from the one a season before, for the scaled error. */
  readonly scale: number;
  readonly card: ModelCard;
}

/** `fitted` null repeats the season before. `history` ends before place `from`. */
export function forecastSteps(
  { lags, start, step }: Pick<SeriesModel, "lags" | "start" | "step">,
  fitted: FittedModel | null,
  history: Float64Array,
  from: number,
  steps: number,
): Float64Array {
  const reach = reachOf(lags);
  const values = new Float64Array(reach + steps);
  values.set(history.subarray(history.length - reach));
  const columns = Array.from({ length: featureCount(lags) }, () => new Float32Array(1));
  const row = Int32Array.of(0);
  for (let ahead = 0; ahead < steps; ahead++) {
    const at = reach + ahead;
    const anchor = anchorOf(lags, values, at);
    if (fitted === null) {
      values[at] = anchor;
      continue;
    }
    fillFeatures(lags, { start, step }, values, from + ahead, columns, 0, from - reach);
    values[at] = anchor + fitted.predict(columns, row)[0]!;
  }
  return values.slice(reach);
}

function forecast(model: SeriesModel, steps: number): Forecast {
  const { members, history, length, logarithmic, coverage } = model;
  const mixed = new Float64Array(steps);
  for (const { weight, fitted } of members) {
    const values = forecastSteps(model, fitted, history, length, steps);
    for (let ahead = 0; ahead < steps; ahead++) mixed[ahead]! += weight * values[ahead]!;
  }
  const back = (value: number) => (logarithmic ? Math.exp(value) : value);
  return {
    times: Float64Array.from(mixed, (_, ahead) => timeAt(model, length + ahead)),
    predictions: mixed.map(back),
    lower: mixed.map((value, ahead) => back(value - spreadAt(model, ahead))),
    upper: mixed.map((value, ahead) => back(value + spreadAt(model, ahead))),
    coverage,
  };
}

/** Beyond what was validated, it grows as that of a random walk. */
function spreadAt({ spread }: SeriesModel, ahead: number): number {
  const last = spread.length - 1;
  return ahead <= last ? spread[ahead]! : spread[last]! * Math.sqrt((ahead + 1) / spread.length);
}

export function saveSeries({ history, members, ...plain }: SeriesModel, sink: ArraySink): object {
  const saved = members.map(({ weight, fitted }) => ({ weight, fitted: fitted?.save(sink) ?? null }));
  return { kind: "series", ...plain, history: sink.add(history), members: saved };
}

export function loadSeries(content: Record<string, unknown>, arrays: readonly StoredArray[]): LoadedModel {
  const { history, members, ...plain } = content as unknown as Omit<SeriesModel, "history" | "members"> & {
    readonly history: number;
    readonly members: readonly { readonly weight: number; readonly fitted: SavedModel | null }[];
  };
  const model: SeriesModel = {
    ...plain,
    history: arrays[history] as Float64Array,
    members: members.map(({ weight, fitted }) => ({
      weight,
      fitted: fitted === null ? null : loadFitted(fitted, arrays),
    })),
  };
  return {
    task: "forecasting",
    target: model.target,
    classes: null,
    features: [],
    card: model.card,
    predict: () => {
      throw new DbError(
        "invalid_request",
        "The model forecasts a series. Send a number of steps (horizon) instead of rows.",
      );
    },
    evaluate: (columns) => evaluate(model, columns),
    forecast: (steps = model.horizon) => {
      if (!Number.isInteger(steps) || steps < 1 || steps > AUTOML_FORECAST_STEPS_MAX) {
        throw new DbError(
          "invalid_request",
          `horizon is ${steps}; it must be a whole number from 1 to ${AUTOML_FORECAST_STEPS_MAX}.`,
          {
            field: "horizon",
          },
        );
      }
      return forecast(model, steps);
    },
  };
}

/** Of rows that lie after those learned from. */
function evaluate(model: SeriesModel, columns: readonly ColumnData[]): Readonly<Partial<Record<Metric, number>>> {
  const numbersOf = (name: string) => {
    const given = columns.find((column) => column.name === name);
    const column = given === undefined ? undefined : readColumn(given);
    if (column === undefined || column.kind === "category" || column.kind === "vector") {
      throw new DbError("invalid_request", `Evaluation needs the column "${name}" with numbers or times.`, {
        feature: name,
      });
    }
    return column.values;
  };
  const times = numbersOf(model.timeColumn);
  const values = numbersOf(model.target);
  const ahead = Array.from(times, (moment, row) => {
    const place = placeOnGrid(model, moment) - model.length;
    if (Math.abs(place - Math.round(place)) > 0.1 || place < -0.1 || place > AUTOML_FORECAST_STEPS_MAX - 0.9) {
      throw new DbError(
        "invalid_request",
        `Row ${row + 1}: its time is not one of the ${AUTOML_FORECAST_STEPS_MAX} steps after the series that the model learned from.`,
        { row: row + 1 },
      );
    }
    if (Number.isNaN(values[row]!))
      throw new DbError("invalid_request", `Row ${row + 1}: the target "${model.target}" is missing.`);
    return Math.round(place);
  });
  if (ahead.length === 0)
    throw new DbError(
      "invalid_request",
      "There are no rows to compare the predictions with. Send rows, or name a source that has some.",
    );
  const { predictions } = forecast(model, ahead.reduce((most, step) => Math.max(most, step), 0) + 1);
  return seriesScores(
    Float64Array.from(values),
    Float64Array.from(ahead, (step) => predictions[step]!),
    model.scale,
  );
}
