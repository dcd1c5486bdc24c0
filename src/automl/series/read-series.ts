/**
 * One series out of a time column and a target: in order, in even steps, gaps filled; its season. Called by
 * train-series.ts; no state.
 */
import { DbError } from "../../protocol/errors.js";
import type { TrainJob } from "../contract.js";
import { readColumn } from "../features/read-column.js";
import { badTarget } from "../features/read-target.js";

/** Months are not all as long as each other, so that they are counted by the calendar. */
export interface TimeStep {
  readonly unit: "month" | "even";
  /** Months, or the time column's unit. */
  readonly size: number;
}

export interface Series {
  readonly values: Float64Array;
  /** Of the first value. */
  readonly start: number;
  readonly step: TimeStep;
  /** Times are milliseconds, so that there are weekdays and hours. */
  readonly calendar: boolean;
  readonly filled: number;
}

const VALUES_MIN = 12;
const GAPS_SHARE_MAX = 0.35;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function invalid(message: string, field: string): DbError {
  return new DbError("invalid_request", message, { field });
}

/** Throws `invalid_request` when it is no series in even steps, or too short. */
export function readSeries(job: TrainJob): Series {
  const { timeColumn, target } = job;
  if (timeColumn === undefined)
    throw invalid("Forecasting needs a time column; name one of timestamps or numbers.", "time_column");
  if (timeColumn === target) throw invalid("The time column cannot be the target as well.", "time_column");
  const time = readColumn(job.columns.find(({ name }) => name === timeColumn)!);
  const column = readColumn(job.columns.find(({ name }) => name === target)!);
  if (time.kind !== "timestamp" && time.kind !== "number") {
    throw invalid(`The time column "${timeColumn}" holds no times; name one of timestamps or numbers.`, "time_column");
  }
  if (column.kind !== "number")
    throw badTarget(`The target "${target}" holds no numbers; only numbers can be forecast.`, target!);
  const known: number[] = [];
  time.values.forEach((moment, row) => {
    if (Number.isNaN(moment))
      throw invalid(`Row ${row + 1} has no value in the time column "${timeColumn}".`, "time_column");
    const value = column.values[row]!;
    if (Math.abs(value) === Number.POSITIVE_INFINITY || Math.abs(moment) === Number.POSITIVE_INFINITY) {
      throw invalid(`Row ${row + 1} holds an infinite number; leave it out.`, "target");
    }
    if (!Number.isNaN(value)) known.push(row);
  });
  if (known.length === 0)
    throw badTarget(`The target "${target}" has no value in any row; fill it in or name another.`, target!);
  if (known.length < VALUES_MIN) {
    throw badTarget(`The series has ${known.length} value(s); forecasting needs at least ${VALUES_MIN}.`, target!);
  }
  known.sort((a, b) => time.values[a]! - time.values[b]!);
  const times = known.map((row) => time.values[row]!);
  const twice = times.findIndex((moment, i) => i > 0 && moment === times[i - 1]);
  if (twice >= 0) {
    const shown = time.kind === "timestamp" ? new Date(times[twice]!).toISOString() : times[twice];
    throw invalid(
      `Several rows have the time ${shown}. Train on one series: filter the rows, or aggregate them by time.`,
      "time_column",
    );
  }
  const values = known.map((row) => column.values[row]!);
  if (values.every((value) => value === values[0])) {
    throw badTarget(`The target "${target}" is ${values[0]} in every row; there is nothing to forecast.`, target!);
  }
  return onGrid(times, values, time.kind === "timestamp", timeColumn);
}

function onGrid(times: readonly number[], values: readonly number[], calendar: boolean, name: string): Series {
  const step = stepOf(times, calendar);
  const start = times[0]!;
  const places = times.map((moment) => placeOf(moment, start, step));
  const length = Math.round(places[places.length - 1]!) + 1;
  const uneven = places.findIndex(
    (place, i) =>
      Math.abs(place - Math.round(place)) > 0.1 || (i > 0 && Math.round(place) === Math.round(places[i - 1]!)),
  );
  if (uneven >= 0 || (length - times.length) / length > GAPS_SHARE_MAX) {
    throw invalid(
      `The times in "${name}" are not evenly spaced. Aggregate the rows by hour, day or month first.`,
      "time_column",
    );
  }
  const grid = new Float64Array(length).fill(Number.NaN);
  places.forEach((place, i) => {
    grid[Math.round(place)] = values[i]!;
  });
  return { values: filled(grid), start, step, calendar, filled: length - times.length };
}

function stepOf(times: readonly number[], calendar: boolean): TimeStep {
  const gaps = times.slice(1).map((moment, i) => moment - times[i]!);
  const middle = gaps.toSorted((a, b) => a - b)[gaps.length >>> 1]!;
  const sameDay =
    calendar && times.every((moment) => new Date(moment).getUTCDate() === new Date(times[0]!).getUTCDate());
  if (sameDay && middle >= 28 * DAY_MS)
    return { unit: "month", size: Math.max(1, Math.round(middle / (30.44 * DAY_MS))) };
  return { unit: "even", size: middle };
}

function placeOf(moment: number, start: number, { unit, size }: TimeStep): number {
  if (unit === "even") return (moment - start) / size;
  const [from, to] = [new Date(start), new Date(moment)];
  return ((to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth()) / size;
}

/** The time of a place on the grid; places may lie beyond the last value. */
export function timeAt({ start, step }: Pick<Series, "start" | "step">, place: number): number {
  if (step.unit === "even") return start + place * step.size;
  const first = new Date(start);
  return new Date(first).setUTCMonth(first.getUTCMonth() + place * step.size);
}

export function placeOnGrid({ start, step }: Pick<Series, "start" | "step">, moment: number): number {
  return placeOf(moment, start, step);
}

/** On a straight line between the neighbours. */
function filled(grid: Float64Array): Float64Array {
  let last = 0;
  for (let place = 1; place < grid.length; place++) {
    if (Number.isNaN(grid[place]!)) continue;
    for (let between = last + 1; between < place; between++) {
      grid[between] = grid[last]! + ((grid[place]! - grid[last]!) * (between - last)) / (place - last);
    }
    last = place;
  }
  return grid;
}

const CLEAR = 0.25;
const SEARCHED_MAX = 400;

/**
 * Steps of a season; 1: there is none. The one of the calendar's with the greatest autocorrelation, when it is clear.
 */
export function seasonOf(series: Series): number {
  const { values } = series;
  const candidates = calendarSeasons(series).filter((season) => season >= 2 && season <= values.length / 3);
  const steady = withoutTrend(values);
  let best = 1;
  let strongest = CLEAR;
  for (const season of candidates) {
    const strength = autocorrelation(steady, season);
    // A season that a shorter one explains as well is not a season of its own.
    if (strength > strongest + (best > 1 ? 0.05 : 0)) {
      best = season;
      strongest = strength;
    }
  }
  return best;
}

function calendarSeasons({ calendar, step, values }: Series): number[] {
  if (calendar && step.unit === "month") return [Math.round(12 / step.size)];
  if (calendar) {
    const seasons = [HOUR_MS, DAY_MS, 7 * DAY_MS, 365 * DAY_MS].map((period) => period / step.size);
    const whole = seasons.filter((season) => Number.isInteger(season));
    return step.size === 7 * DAY_MS ? [52] : whole;
  }
  // Peaks of the autocorrelation: greater than both neighbours'.
  const steady = withoutTrend(values);
  const most = Math.min(SEARCHED_MAX, Math.floor(values.length / 3));
  const strengths = Array.from({ length: most + 2 }, (_, lag) => autocorrelation(steady, lag));
  return Array.from({ length: most - 1 }, (_, i) => i + 2).filter(
    (lag) => strengths[lag]! > strengths[lag - 1]! && strengths[lag]! >= strengths[lag + 1]!,
  );
}

function withoutTrend(values: Float64Array): Float64Array {
  const count = values.length;
  const middle = (count - 1) / 2;
  let mean = 0;
  for (const value of values) mean += value / count;
  let covariance = 0;
  let variance = 0;
  values.forEach((value, i) => {
    covariance += (i - middle) * (value - mean);
    variance += (i - middle) ** 2;
  });
  return values.map((value, i) => value - mean - (covariance / variance) * (i - middle));
}

function autocorrelation(values: Float64Array, lag: number): number {
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    squares += values[i]! * values[i]!;
    if (i >= lag) sum += values[i]! * values[i - lag]!;
  }
  return squares === 0 ? 0 : sum / squares;
}
