/** Where the values of a chart stand on its canvas, and what its axes say. Used by chart-drawing.ts. */
import { measureText } from "../lib/format.js";
import type { ChartData } from "./chart.js";
import { momentText, stepOf, ticksOf, timeTicksOf, timeTickText } from "./chart-ticks.js";

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
  const yStep = stepOf(yLeast, yMost, inner.height / LINES_APART);
  [yLeast, yMost] = [Math.floor(yLeast / yStep) * yStep, Math.ceil(yMost / yStep - 1e-9) * yStep];
  const xSpan = xMost - xLeast || 1;
  const wanted = inner.width / TICKS_APART;
  return {
    x: (value) => EDGE.left + ((value - xLeast) / xSpan) * inner.width,
    y: (value) => top + (1 - (value - yLeast) / (yMost - yLeast)) * inner.height,
    xTicks: isNames || kind === "bar" ? everyNth(x.length, wanted) : xTicksOf(data, xLeast, xMost, wanted),
    yTicks: ticksOf(yLeast, yMost, yStep),
    step: inner.width / Math.max(1, x.length),
  };
}

/** The places of some of the names. */
function everyNth(count: number, wanted: number): readonly number[] {
  const every = Math.max(1, Math.ceil(count / wanted));
  return Array.from({ length: Math.ceil(count / every) }, (_, i) => i * every);
}

function xTicksOf({ x, xKind }: ChartData, least: number, most: number, wanted: number): readonly number[] {
  if (xKind === "time") return timeTicksOf(least, most, wanted);
  const step = stepOf(least, most, wanted);
  // Between whole numbers, such as trials, there is nothing.
  return ticksOf(least, most, x.every(Number.isInteger) ? Math.max(1, step) : step);
}

/** What the axis says at a mark; the pointer's reading is xText. */
export function tickText(data: ChartData, { xTicks }: Scales, tick: number): string {
  const { xKind, kind, x, tickAt } = data;
  if (tickAt !== undefined) return tickAt(tick);
  if (xKind !== "time") return xText(data, tick);
  return kind === "bar"
    ? timeTickText(
        x[tick] ?? tick,
        xTicks.map((place) => x[place]!),
      )
    : timeTickText(tick, xTicks);
}

export function xText({ xKind, nameAt, kind, x }: ChartData, value: number): string {
  if (xKind === "name") return nameAt?.(value) ?? "";
  const real = kind === "bar" ? (x[value] ?? value) : value;
  return xKind === "time" ? momentText(real) : measureText(real);
}

/** Of the value with that number, on the axis. */
export function placeOf({ kind, x, xKind }: ChartData, index: number): number {
  return kind === "bar" || xKind === "name" ? index : x[index]!;
}
