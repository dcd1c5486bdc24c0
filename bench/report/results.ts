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
  const folder = join(ROOT, "bench/results");
  mkdirSync(folder, { recursive: true });
  const base = join(folder, process.env.RESULT ?? run.date);
  writeFileSync(`${base}.json`, `${JSON.stringify(run, null, 2)}\n`);
  writeFileSync(`${base}.md`, `${markdown(run)}\n`);
  if (run.workloads.some(({ rows }) => rows.length > 0)) writeFileSync(`${base}.svg`, chart(run));
  return base;
}
