/**
 * What a row costs as the table grows: a panel for each step, both axes logarithmic. SVG that reads on light and dark
 * pages.
 */
import { svgText } from "../report/svg-text.js";
import { costOfRow, type GrowthResult, isCosted, significant, stepOf } from "./report.js";
import type { Step } from "./run-side.js";

const COLUMNS = 4;
const WIDTH = 200;
const HEIGHT = 96;
const GAP_X = 62;
const GAP_Y = 52;
const LEFT = 50;
const HEADER = 84;
const COLOURS: Readonly<Record<string, string>> = {
  tessera: "#2563eb",
  postgres: "#c2410c",
  "duckdb-1": "#ca8a04",
  "duckdb-2": "#059669",
};

interface Point {
  readonly rows: number;
  readonly cost: number;
}

export function chart(result: GrowthResult): string {
  const sides = result.sizes[0]!.sides;
  const steps = sides[0]!.steps.filter(isCosted);
  const width = LEFT + COLUMNS * (WIDTH + GAP_X);
  const height = HEADER + Math.ceil(steps.length / COLUMNS) * (HEIGHT + GAP_Y);
  const legend = sides.map(({ id, name }, i) => {
    const x = i * 170;
    return `<rect x="${x}" y="44" width="12" height="12" fill="${COLOURS[id]}"/>${svgText(x + 18, 54, name, "")}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="#7c8798">`,
    "<title>Microseconds a row by the number of rows</title>",
    svgText(0, 16, "Microseconds a row by the number of rows (lower is better)", "font-weight='600' font-size='14'"),
    svgText(
      0,
      34,
      `${result.date}, ${result.machine.processor}, ${result.machine.cores} cores; both axes logarithmic`,
      "",
    ),
    ...legend,
    ...steps.map((step, i) =>
      panel(result, step, LEFT + (i % COLUMNS) * (WIDTH + GAP_X), HEADER + Math.floor(i / COLUMNS) * (HEIGHT + GAP_Y)),
    ),
    "</svg>",
    "",
  ].join("\n");
}

function panel({ sizes }: GrowthResult, step: Step, left: number, top: number): string {
  const lines = sizes[0]!.sides.map(({ id }) => ({
    id,
    points: sizes.flatMap(({ rows, sides }): Point[] => {
      const side = sides.find((one) => one.id === id);
      const at = side === undefined ? undefined : stepOf(side, step);
      const cost = at === undefined ? Number.NaN : costOfRow(at);
      return cost > 0 ? [{ rows, cost }] : [];
    }),
  }));
  const costs = lines.flatMap(({ points }) => points.map(({ cost }) => cost));
  if (costs.length === 0) return "";
  const x = scale(
    sizes.map(({ rows }) => rows),
    left,
    left + WIDTH,
  );
  const y = scale(costs, top + HEIGHT, top + 8);
  const grid = "stroke='#7c8798' stroke-opacity='0.3'";
  return [
    svgText(left, top, step.name.replace("start to first answer", "start"), "font-weight='600'"),
    `<path d="M${left} ${top + 8}V${top + HEIGHT}H${left + WIDTH}" fill="none" ${grid}/>`,
    ...[Math.min(...costs), Math.max(...costs)].map((cost) =>
      svgText(left - 4, Math.round(y(cost)) + 4, significant(cost), "text-anchor='end'"),
    ),
    ...sizes.map(({ rows }) => svgText(x(rows), top + HEIGHT + 14, sizeName(rows), "text-anchor='middle'")),
    ...lines.map(({ id, points }) => line(points, COLOURS[id] ?? "#7c8798", x, y)),
  ].join("\n");
}

function line(
  points: readonly Point[],
  colour: string,
  x: (rows: number) => number,
  y: (cost: number) => number,
): string {
  const at = points.map(({ rows, cost }) => [x(rows).toFixed(1), y(cost).toFixed(1)] as const);
  return [
    `<polyline points="${at.map((one) => one.join(",")).join(" ")}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
    ...at.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="2.5" fill="${colour}"/>`),
  ].join("");
}

/** Logarithmic; a single value lies in the middle. */
function scale(values: readonly number[], from: number, to: number): (value: number) => number {
  const low = Math.log(Math.min(...values));
  const span = Math.log(Math.max(...values)) - low;
  return (value) => from + (to - from) * (span === 0 ? 0.5 : (Math.log(value) - low) / span);
}

function sizeName(rows: number): string {
  return rows >= 1_000_000 ? `${rows / 1_000_000} M` : `${rows / 1000} k`;
}
