/** Draws charts, and finds the value under the pointer. Used by chart.tsx. */
import { measureText } from "../lib/format.js";
import type { ChartData, Reading } from "./chart.js";
import {
  EDGE,
  placeOf,
  type Scales,
  type Size,
  scalesOf,
  TICKS_APART,
  tickText,
  topOf,
  xText,
} from "./chart-scales.js";
import { GAP, thinBars, thinLine } from "./chart-thinning.js";
import { pixelOf, rowsOfDisc } from "./map-drawing.js";

type Format = ((value: number) => string) | undefined;

/** With more, points are written as pixels. */
const CIRCLES_MAX = 2_000;
const POINT_ALPHA = 0.55;
/** With more points over each other the pixel is as good as opaque. */
const DENSEST = 6;

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
    const shade = colour(`--series-${(index % 6) + 1}`);
    [context.fillStyle, context.strokeStyle] = [shade, shade];
    if (data.kind === "bar") drawBars(context, data, values, scales, index);
    else if (data.kind === "line") drawLine(context, data, values, scales);
    else if (values.length <= CIRCLES_MAX) drawCircles(context, data, values, scales);
    else drawPixels(context, size, data, values, scales, shade);
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
    const full = tickText(data, scales, tick);
    const label = full.length > room ? `${full.slice(0, room - 1)}…` : full;
    const half = context.measureText(label).width / 2;
    const x = Math.max(EDGE.left + 10, Math.min(width - 2 - half, scales.x(tick)));
    context.fillText(label, x, height - EDGE.bottom + 9);
  }
}

/** Of each column of pixels as much as is seen: a path of a hundred thousand corners takes seconds. */
function drawLine(
  context: CanvasRenderingContext2D,
  data: ChartData,
  values: readonly number[],
  { x, y }: Scales,
): void {
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  context.beginPath();
  const columnOf = (index: number): number => Math.floor(x(placeOf(data, index)));
  let isDown = false;
  for (const index of thinLine(values, columnOf, data.joinsGaps === true)) {
    if (index === GAP) {
      isDown = false;
      continue;
    }
    const [left, top] = [x(placeOf(data, index)), y(values[index]!)];
    if (isDown) context.lineTo(left, top);
    else context.moveTo(left, top);
    isDown = true;
  }
  context.stroke();
  if (values.length === 1) drawCircles(context, data, values, { x, y });
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
  const leftOf = (index: number): number => x(index) - (step - gap) / 2 + at * width;
  const bar = (left: number, value: number): void =>
    context.fillRect(left, Math.min(y(value), ground), width, Math.max(1, Math.abs(ground - y(value))));
  if (step >= 1) {
    values.forEach((value, index) => {
      if (Number.isFinite(value)) bar(leftOf(index), value);
    });
    return;
  }
  for (const { column, lowest, highest } of thinBars(values, (index) => Math.floor(leftOf(index)))) {
    bar(column, highest);
    if (lowest < 0) bar(column, lowest);
  }
}

type Places = Pick<Scales, "x" | "y">;

function drawCircles(
  context: CanvasRenderingContext2D,
  data: ChartData,
  values: readonly number[],
  { x, y }: Places,
): void {
  context.globalAlpha = values.length > 500 ? POINT_ALPHA : 0.85;
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) return;
    context.beginPath();
    context.arc(x(placeOf(data, index)), y(value), 3, 0, Math.PI * 2);
    context.fill();
  });
  context.globalAlpha = 1;
}

/** The more points lie over each other, the less can be seen through them. */
function drawPixels(
  context: CanvasRenderingContext2D,
  size: Size,
  data: ChartData,
  values: readonly number[],
  { x, y }: Places,
  shade: string,
): void {
  const ratio = window.devicePixelRatio;
  const picture = new ImageData(Math.ceil(size.width * ratio), Math.ceil(size.height * ratio));
  const density = densityOf(picture, ratio, values, (index) => [x(placeOf(data, index)), y(values[index]!)]);
  const words = new Uint32Array(picture.data.buffer);
  const shades = Uint32Array.from({ length: DENSEST + 1 }, (_, count) =>
    count === 0 ? 0 : pixelOf(shade, 255 * (1 - (1 - POINT_ALPHA) ** count)),
  );
  for (let i = 0; i < density.length; i++) words[i] = shades[density[i]!]!;
  const layer = document.createElement("canvas");
  [layer.width, layer.height] = [picture.width, picture.height];
  layer.getContext("2d")!.putImageData(picture, 0, 0);
  context.drawImage(layer, 0, 0, picture.width / ratio, picture.height / ratio);
}

/** How many points lie over each pixel. */
function densityOf(
  { width, height }: Size,
  ratio: number,
  values: readonly number[],
  placeAt: (index: number) => readonly [left: number, top: number],
): Uint8Array {
  const density = new Uint8Array(width * height);
  const disc = rowsOfDisc(1.6 * ratio);
  const reach = disc.length >> 1;
  for (let index = 0; index < values.length; index++) {
    if (!Number.isFinite(values[index]!)) continue;
    const [left, top] = placeAt(index);
    const [across, down] = [Math.round(left * ratio), Math.round(top * ratio)];
    for (let row = 0; row < disc.length; row++) {
      const line = down + row - reach;
      if (line < 0 || line >= height) continue;
      const half = disc[row]!;
      const to = line * width + Math.min(width - 1, across + half);
      for (let at = line * width + Math.max(0, across - half); at <= to; at++)
        if (density[at]! < DENSEST) density[at]!++;
    }
  }
  return density;
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
  for (let index = 0; index < data.x.length; index++) {
    const across = x(placeOf(data, index)) - left;
    const down = data.kind === "scatter" ? y(firstAt(data, index)) - top : 0;
    const distance = across * across + down * down;
    if (distance < nearest) [best, nearest] = [index, distance];
  }
  return best;
}
