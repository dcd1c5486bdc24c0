/** Where the values of a chart stand on its canvas, and what its axes say. Used by chart-drawing.ts. */
import { clockText, measureText } from "../lib/format.js";
import type { ChartData } from "./chart.js";

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Scales {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly xTicks: readonly number[];
  readonly yTicks: readonly number[];
  /** Width of a bar with its gap. */
  readonly step: number;
}

export const EDGE = { left: 58, right: 14, bottom: 30 };
export const TICKS_APART = 90;
const LINES_APART = 46;

/** The names of several series stand above the drawing. */
export function topOf({ series }: ChartData): number {
  return series.length > 1 ? 36 : 12;
}

export function boundsOf(values: Iterable<number>): readonly [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return least > most ? [0, 1] : [least, most];
}

/** Round numbers that are about as many as wanted. */
function ticksOf(least: number, most: number, wanted: number): readonly number[] {
  const raw = (most - least) / Math.max(1, wanted);
  if (raw <= 0) return [least];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw) ?? raw;
  const ticks: number[] = [];
  for (let at = Math.ceil(least / step) * step; at <= most + step * 1e-9; at += step)
    ticks.push(Number(at.toPrecision(12)));
  return ticks;
}

/** Those of the chart that is shown: the pointer asks for them with each of its moves. */
let newest: { readonly size: Size; readonly data: ChartData; readonly scales: Scales } | null = null;

export function scalesOf(size: Size, data: ChartData): Scales {
  if (newest?.size !== size || newest.data !== data) newest = { size, data, scales: newScales(size, data) };
  return newest.scales;
}

function newScales({ width, height }: Size, data: ChartData): Scales {
  const { kind, x, xKind, series } = data;
  const top = topOf(data);
  const inner = { width: width - EDGE.left - EDGE.right, height: height - top - EDGE.bottom };
  const isNames = xKind === "name";
  const [xLeast, xMost] = isNames || kind === "bar" ? [-0.5, x.length - 0.5] : boundsOf(x);
  let [yLeast, yMost] = boundsOf(series.flatMap(({ values }) => boundsOf(values)));
  if (kind === "bar" || (yLeast > 0 && yLeast < yMost * 0.5)) yLeast = Math.min(0, yLeast);
  if (yLeast === yMost) yMost = yLeast + 1;
  const yTicks = ticksOf(yLeast, yMost, inner.height / LINES_APART);
  yMost = Math.max(yMost, yTicks.at(-1) ?? yMost);
  const xSpan = xMost - xLeast || 1;
  const wanted = inner.width / TICKS_APART;
  const every = Math.max(1, Math.ceil(x.length / wanted));
  return {
    x: (value) => EDGE.left + ((value - xLeast) / xSpan) * inner.width,
    y: (value) => top + (1 - (value - yLeast) / (yMost - yLeast)) * inner.height,
    xTicks:
      isNames || kind === "bar"
        ? Array.from({ length: Math.ceil(x.length / every) }, (_, i) => i * every)
        : ticksOf(xLeast, xMost, wanted),
    yTicks,
    step: inner.width / Math.max(1, x.length),
  };
}

export function xText({ xKind, nameAt, kind, x }: ChartData, value: number): string {
  if (xKind === "name") return nameAt?.(value) ?? "";
  const real = kind === "bar" ? (x[value] ?? value) : value;
  if (xKind === "time") return timeOfAxis(real, x);
  return measureText(real);
}

const DAY_MS = 86_400_000;

/** As exact as the whole axis needs: a time of the day, or a date. */
function timeOfAxis(value: number, x: readonly number[]): string {
  const date = new Date(value);
  const span = (x.at(-1) ?? 0) - (x[0] ?? 0);
  if (span < DAY_MS) return clockText(date);
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "2-digit" });
}

/** Of the value with that number, on the axis. */
export function placeOf({ kind, x, xKind }: ChartData, index: number): number {
  return kind === "bar" || xKind === "name" ? index : x[index]!;
}
