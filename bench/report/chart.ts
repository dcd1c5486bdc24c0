/**
 * The chart: for each workload a bar per contender, its requests per server CPU second relative to Tessera's plain row,
 * which is 1. Plain SVG that reads on light and dark pages.
 */
import type { Row, WorkloadResult } from "../measure.js";
import type { RunResult } from "./results.js";
import { svgText } from "./svg-text.js";

const WIDTH = 860;
const LABELS = 190;
const VALUES = 190;
const BAR = 14;
const GAP = 4;
const TITLE = 26;
const HEADER = 46;
const COLOURS = { tessera: "#2563eb", sqlite: "#94a3b8", postgres: "#64748b", pglite: "#a8a29e", surrealdb: "#c084fc" };

export function chart(run: RunResult): string {
  const parts: string[] = [];
  let y = HEADER;
  for (const workload of run.workloads) {
    if (workload.rows.length === 0) continue;
    parts.push(svgText(0, y + 14, `${workload.id.toUpperCase()} ${workload.title}`, "font-weight='600'"));
    y += TITLE;
    const most = Math.max(...workload.rows.map(perCpuSecond));
    for (const row of workload.rows) {
      parts.push(bar(y, row, workload, most));
      y += BAR + GAP;
    }
    y += 2 * GAP;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" font-family="system-ui, sans-serif" font-size="12" fill="#7c8798">`,
    "<title>Requests per server CPU second of each contender in each workload</title>",
    svgText(
      0,
      16,
      "Requests per server CPU second (longer is better), and requests per second",
      "font-weight='600' font-size='14'",
    ),
    svgText(
      0,
      34,
      `${run.date}, ${run.machine.processor}, ${run.machine.cores} cores; medians of ${run.options.rounds} rounds`,
      "",
    ),
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

function perCpuSecond(row: Row): number {
  return row.medians.requestsPerServerCpuSecond;
}

function bar(y: number, row: Row, workload: WorkloadResult, most: number): string {
  const value = perCpuSecond(row);
  const width = Math.max(1, ((WIDTH - LABELS - VALUES) * value) / most);
  const colour = COLOURS[row.id.split(" ")[0] as keyof typeof COLOURS] ?? "#94a3b8";
  const ratio = (value / perCpuSecond(workload.rows[0]!)).toFixed(2);
  const figures = `${whole(value)} (${ratio}×) · ${whole(row.medians.requestsPerSecond)}/s`;
  return [
    svgText(LABELS - 8, y + 11, row.name, "text-anchor='end'"),
    `<rect x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="2" fill="${colour}"/>`,
    svgText(LABELS + width + 6, y + 11, figures, ""),
  ].join("\n");
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}
