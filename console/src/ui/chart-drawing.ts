/** Draws charts, and finds the value under the pointer. Used by chart.tsx. */
import { clockText, measureText } from "../lib/format.js";
import type { ChartData, Reading } from "./chart.js";

interface Size {
  readonly width: number;
  readonly height: number;
}

type Format = ((value: number) => string) | undefined;

const EDGE = { left: 58, right: 14, bottom: 30 };

/** The names of several series stand above the drawing. */
function topOf({ series }: ChartData): number {
  return series.length > 1 ? 36 : 12;
}
const TICKS_APART = 90;
const LINES_APART = 46;

interface Scales {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly xTicks: readonly number[];
  readonly yTicks: readonly number[];
  /** Width of a bar with its gap. */
  readonly step: number;
}

function boundsOf(values: Iterable<number>): readonly [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return least > most ? [0, 1] : [least, most];
}

/** Round numbers that are about as many as wanted. */
export function ticksOf(least: number, most: number, wanted: number): readonly number[] {
  const raw = (most - least) / Math.max(1, wanted);
  if (raw <= 0) return [least];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw) ?? raw;
  const ticks: number[] = [];
  for (let at = Math.ceil(least / step) * step; at <= most + step * 1e-9; at += step)
    ticks.push(Number(at.toPrecision(12)));
  return ticks;
}

function scalesOf({ width, height }: Size, data: ChartData): Scales {
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
      isNames || kind === "bar" ? x.map((_, i) => i).filter((i) => i % every === 0) : ticksOf(xLeast, xMost, wanted),
    yTicks,
    step: inner.width / Math.max(1, x.length),
  };
}

function xText({ xKind, names, kind, x }: ChartData, value: number): string {
  if (xKind === "name") return names?.[value] ?? "";
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

export function drawChart(canvas: HTMLCanvasElement, size: Size, data: ChartData, format: Format): void {
  const ratio = window.devicePixelRatio;
  canvas.width = size.width * ratio;
  canvas.height = size.height * ratio;
  const context = canvas.getContext("2d")!;
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const colour = (name: string): string => resolved(canvas, style.getPropertyValue(name));
  const scales = scalesOf(size, data);
  drawAxes(context, size, data, scales, {
    line: colour("--line"),
    text: colour("--muted"),
    font: style.fontFamily,
    format,
  });
  data.series.forEach(({ values }, index) => {
    context.fillStyle = colour(`--series-${(index % 6) + 1}`);
    context.strokeStyle = context.fillStyle;
    if (data.kind === "bar") drawBars(context, data, values, scales, index);
    else if (data.kind === "line") drawLine(context, data, values, scales);
    else drawPoints(context, data, values, scales);
  });
}

/** A canvas does not know light-dark(): an element does. */
export function resolved(near: HTMLElement, value: string): string {
  const probe = document.createElement("span");
  probe.style.color = value;
  near.parentElement!.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

interface AxisStyle {
  readonly line: string;
  readonly text: string;
  readonly font: string;
  readonly format: Format;
}

function drawAxes(
  context: CanvasRenderingContext2D,
  { width, height }: Size,
  data: ChartData,
  scales: Scales,
  { line, text, font, format = measureText }: AxisStyle,
): void {
  context.font = `11px ${font}`;
  context.fillStyle = text;
  context.strokeStyle = line;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const tick of scales.yTicks) {
    const y = Math.round(scales.y(tick)) + 0.5;
    context.beginPath();
    context.moveTo(EDGE.left, y);
    context.lineTo(width - EDGE.right, y);
    context.stroke();
    context.fillText(format(tick), EDGE.left - 8, y);
  }
  context.textBaseline = "top";
  context.textAlign = "center";
  const room = Math.max(1, Math.floor(TICKS_APART / 6.5));
  for (const tick of scales.xTicks) {
    const label = xText(data, tick);
    const x = Math.max(EDGE.left + 10, Math.min(width - EDGE.right - 10, scales.x(tick)));
    context.fillText(label.length > room ? `${label.slice(0, room - 1)}…` : label, x, height - EDGE.bottom + 9);
  }
}

function placeOf({ kind, x, xKind }: ChartData, index: number): number {
  return kind === "bar" || xKind === "name" ? index : x[index]!;
}

function drawLine(
  context: CanvasRenderingContext2D,
  data: ChartData,
  values: readonly number[],
  { x, y }: Scales,
): void {
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  context.beginPath();
  let isDown = false;
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      isDown &&= data.joinsGaps === true;
      return;
    }
    if (isDown) context.lineTo(x(placeOf(data, index)), y(value));
    else context.moveTo(x(placeOf(data, index)), y(value));
    isDown = true;
  });
  context.stroke();
  if (values.length === 1) drawPoints(context, data, values, { x, y });
}

function drawBars(
  context: CanvasRenderingContext2D,
  { series }: ChartData,
  values: readonly number[],
  { x, y, step }: Scales,
  at: number,
): void {
  const gap = step > 6 ? Math.min(step * 0.2, 14) : 0;
  const width = Math.max(1, (step - gap) / series.length);
  const ground = y(0);
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) return;
    const left = x(index) - (step - gap) / 2 + at * width;
    context.fillRect(left, Math.min(y(value), ground), width, Math.max(1, Math.abs(ground - y(value))));
  });
}

function drawPoints(
  context: CanvasRenderingContext2D,
  data: ChartData,
  values: readonly number[],
  { x, y }: Pick<Scales, "x" | "y">,
): void {
  const radius = values.length > 2_000 ? 1.6 : 3;
  context.globalAlpha = values.length > 500 ? 0.55 : 0.85;
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) return;
    context.beginPath();
    context.arc(x(placeOf(data, index)), y(value), radius, 0, Math.PI * 2);
    context.fill();
  });
  context.globalAlpha = 1;
}

/** What is nearest to the pointer, or at that place. Null where there is nothing. */
export function nearestPoint(
  size: Size,
  data: ChartData,
  wanted: { readonly left: number; readonly top: number } | { readonly index: number },
  format: Format = measureText,
): Reading | null {
  if (data.x.length === 0 || size.width === 0) return null;
  const { x, y } = scalesOf(size, data);
  const index = "index" in wanted ? wanted.index : indexAt(data, wanted, { x, y });
  const first = firstAt(data, index);
  return {
    index,
    left: x(placeOf(data, index)),
    top: Number.isFinite(first) ? y(first) : topOf(data),
    title: xText(data, data.kind === "bar" ? index : placeOf(data, index)),
    lines: data.series
      .filter(({ values }) => data.joinsGaps !== true || Number.isFinite(values[index]!))
      .map(({ name, values }) => `${name}: ${Number.isFinite(values[index]!) ? format(values[index]!) : "–"}`),
  };
}

/** Of the first series that has a value there. */
function firstAt({ series }: ChartData, index: number): number {
  return series.find(({ values }) => Number.isFinite(values[index]!))?.values[index] ?? Number.NaN;
}

function indexAt(
  data: ChartData,
  { left, top }: { readonly left: number; readonly top: number },
  { x, y }: Pick<Scales, "x" | "y">,
): number {
  let [best, nearest] = [0, Number.POSITIVE_INFINITY];
  data.x.forEach((_, index) => {
    const across = x(placeOf(data, index)) - left;
    const down = data.kind === "scatter" ? y(firstAt(data, index)) - top : 0;
    const distance = across * across + down * down;
    if (distance < nearest) [best, nearest] = [index, distance];
  });
  return best;
}
