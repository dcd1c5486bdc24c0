/**
 * EXPLAIN's answer: the plan with estimates (COSTS, on by default) and, with ANALYZE, what each node did. The session
 * calls it after it has run the statement.
 */
import type { StatisticsSource } from "../catalog/statistics.js";
import { sqlError } from "../protocol/errors.js";
import type { Measurements } from "../query/exec/measure-operators.js";
import { Cardinality } from "../query/optimize/cardinality.js";
import { readCost } from "../query/optimize/join-cost.js";
import { type Annotate, explainJson, explainText } from "../query/plan/explain.js";
import { formatExplained } from "../query/plan/explain-formats.js";
import type { OutputColumn, Plan } from "../query/plan/plan.js";
import type { BoundExplain } from "../sql/bind/bound-statement.js";
import { JSON_TYPE, Json, TEXT } from "../values/values.js";
import { type Outcome, type RowCollector, rowsOutcome, shapeOf } from "./sql-result.js";

/** What ANALYZE adds. */
export interface AnalyzedRun {
  readonly measurements: Measurements;
  readonly milliseconds: number;
  /** The most bytes that the whole statement held. */
  readonly bytesPeak: number;
}

export function explainLines(
  plan: Plan,
  bound: BoundExplain,
  statistics: StatisticsSource,
  run: AnalyzedRun | null,
): string[] {
  const annotate = annotator(plan, bound, statistics, run?.measurements ?? null);
  if (bound.format !== "text") {
    const statement = { Plan: explainJson(plan, annotate) };
    const totals = run && { "Execution Time": round(run.milliseconds), "Peak Memory": kilobytes(run.bytesPeak) };
    return [formatExplained(bound.format, { ...statement, ...totals })];
  }
  const lines = explainText(plan, annotate);
  if (run === null) return lines;
  const memory = run.bytesPeak > 0 ? [`Peak Memory: ${kilobytes(run.bytesPeak)} kB`] : [];
  return [...lines, ...memory, `Execution Time: ${run.milliseconds.toFixed(3)} ms`];
}

/** Of its rows. */
export function explainColumn(format: BoundExplain["format"]): OutputColumn {
  return { id: 0, name: "QUERY PLAN", type: format === "json" ? JSON_TYPE : TEXT, nullable: false };
}

export function explainOutcome({ format }: BoundExplain, lines: readonly string[], collector: RowCollector): Outcome {
  const shape = shapeOf([explainColumn(format)]);
  const rows = collector(shape);
  const values = format === "json" ? lines.map((line) => Json.stored(line, true)) : lines;
  rows.append({ columns: [values], length: lines.length }, lines.length);
  return rowsOutcome(shape, rows, false, null);
}

function annotator(
  plan: Plan,
  { costs }: BoundExplain,
  statistics: StatisticsSource,
  measurements: Measurements | null,
): Annotate {
  const cardinality = new Cardinality(statistics);
  cardinality.learn(plan);
  return (node) => {
    const text: string[] = [];
    const json: Record<string, number> = {};
    if (costs) {
      const rows = Math.max(1, Math.round(cardinality.rows(node)));
      const cost = Math.round(readCost(node, cardinality));
      text.push(`(cost=${cost} rows=${rows})`);
      Object.assign(json, { "Total Cost": cost, "Plan Rows": rows });
    }
    if (measurements === null) return { text: text.join(" "), json };
    const actual = measurements.of(node);
    if (actual === null) text.push("(never executed)");
    else {
      const { rows, loops, milliseconds, bytesPeak, threads } = actual;
      const memory = bytesPeak > 0 ? ` memory=${kilobytes(bytesPeak)}kB` : "";
      const taking = threads > 0 ? ` threads=${threads}` : "";
      text.push(
        `(actual time=${(milliseconds / loops).toFixed(3)} rows=${round(rows / loops)} loops=${loops}${memory}${taking})`,
      );
      Object.assign(json, { "Actual Total Time": round(milliseconds / loops), "Actual Rows": round(rows / loops) });
      Object.assign(json, { "Actual Loops": loops }, bytesPeak > 0 ? { "Peak Memory": kilobytes(bytesPeak) } : {});
      if (threads > 0) json.Threads = threads;
    }
    return { text: text.join(" "), json };
  };
}

function kilobytes(bytes: number): number {
  return Math.ceil(bytes / 1024);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** How many rows there are, or were tried, tells of rows that a role may not see. Throws 42501. */
export function explainedFor(bound: BoundExplain, hidesRows: boolean): BoundExplain {
  if (!hidesRows) return bound;
  if (bound.analyze) throw sqlError("42501", "permission denied for EXPLAIN ANALYZE");
  return { ...bound, costs: false };
}
