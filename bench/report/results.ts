/** Writes a run to bench/results: Markdown, JSON, and the chart. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Options, WorkloadResult } from "../measure.js";
import type { ScalingResult } from "../scaling.js";
import { ROOT } from "../servers.js";
import { chart } from "./chart.js";
import type { Machine } from "./machine.js";
import { markdown } from "./markdown.js";

export interface RunResult {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly machine: Machine;
  readonly loadAverageAfter: number;
  readonly options: Options;
  readonly workloads: readonly WorkloadResult[];
  readonly scaling: ScalingResult | null;
}

/** Answers the path without the extension. RESULT names the files; the date does otherwise. */
export function writeResults(run: RunResult): string {
  const hasRows = run.workloads.some(({ rows }) => rows.length > 0);
  return writeReport(run.date, run, markdown(run), hasRows ? chart(run) : null);
}

/** The files of a run that has a report of its own; `name` unless RESULT names them. */
export function writeReport(name: string, run: object, text: string, svg: string | null): string {
  const folder = join(ROOT, "bench/results");
  mkdirSync(folder, { recursive: true });
  const base = join(folder, process.env.RESULT ?? name);
  writeFileSync(`${base}.json`, `${JSON.stringify(run, null, 2)}\n`);
  writeFileSync(`${base}.md`, `${text}\n`);
  if (svg !== null) writeFileSync(`${base}.svg`, svg);
  return base;
}
