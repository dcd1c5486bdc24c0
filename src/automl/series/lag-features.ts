/**
 * Features of a step of a series: earlier values and the calendar, all as distances from the value a season before, so
 * that trees follow a trend too. The prediction is such a distance as well. No state.
 */
import { type Part, partOf } from "../features/moment-parts.js";
import { type Series, timeAt } from "./read-series.js";

export interface Lags {
  readonly season: number;
  readonly lags: readonly number[];
  /** Lengths of means over the latest values. */
  readonly windows: readonly number[];
  readonly parts: readonly Part[];
}

const LATEST = 6;

/** `length`: of the shortest history that will be learned from. */
export function chooseLags(season: number, length: number, calendar: boolean, stepMs: number): Lags {
  const most = Math.floor(length / 2);
  const latest = Array.from({ length: LATEST }, (_, i) => i + 1);
  const around = season > 1 ? [season - 1, season + 1, 2 * season, 7 * season] : [];
  const lags = [...new Set([...latest, ...around])].filter((lag) => lag > 0 && lag <= most && lag !== season);
  const windows = [...new Set([3, season, 2 * season, 12])].filter((window) => window > 1 && window <= most);
  const daily = stepMs < 86_400_000 ? (["hour", "hour_sine", "hour_cosine"] as const) : [];
  const parts: readonly Part[] = calendar ? [...daily, "weekday", "day", "month", "year_sine", "year_cosine"] : [];
  return { season, lags, windows, parts };
}

/** Values that must stand before a step. */
export function reachOf({ season, lags, windows }: Lags): number {
  return Math.max(season, ...lags, ...windows);
}

/** The value from which all distances are measured. */
export function anchorOf({ season }: Lags, values: ArrayLike<number>, place: number): number {
  return values[place - season]!;
}

export function featureCount({ lags, windows, parts }: Lags): number {
  return lags.length + windows.length + parts.length;
}

/** Of the step at `place`, into each column's `row`. `values` must hold the `reachOf` values before. */
export function fillFeatures(
  lags: Lags,
  grid: Pick<Series, "start" | "step">,
  values: ArrayLike<number>,
  place: number,
  columns: readonly Float32Array[],
  row: number,
  firstPlace: number,
): void {
  const at = place - firstPlace;
  const anchor = anchorOf(lags, values, at);
  let column = 0;
  for (const lag of lags.lags) columns[column++]![row] = values[at - lag]! - anchor;
  for (const window of lags.windows) {
    let sum = 0;
    for (let back = 1; back <= window; back++) sum += values[at - back]!;
    columns[column++]![row] = sum / window - anchor;
  }
  const moment = lags.parts.length > 0 ? timeAt(grid, place) : 0;
  for (const part of lags.parts) columns[column++]![row] = partOf(moment, part);
}
