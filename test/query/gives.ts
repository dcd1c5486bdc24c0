/** Runs a plan and compares its rows, for the tests of operators. */
import type { Test } from "tap";
import type { Plan } from "../../src/query/plan/plan.js";
import { INT4, TEXT, type Value } from "../../src/values/values.js";
import { values } from "./plan-builder.js";
import type { Database } from "./run-plans.js";

export const AB = [
  ["a", INT4],
  ["b", TEXT],
] as const;

/** The plan gives these rows however its turns fall and however small its batches are. */
export async function gives(
  t: Test,
  database: Database,
  plan: Plan,
  rows: readonly (readonly Value[])[],
  params: readonly Value[] = [],
) {
  t.strictSame(database.rows(plan, { params }), rows);
  t.strictSame(database.rows(plan, { params, batchRows: 1 }), rows, "with one row a batch");
  t.strictSame(await database.yieldingRows(plan, { params, batchRows: 3 }), rows, "giving up its turns");
}

export const numbers = (count: number) =>
  values(
    [["n", INT4]],
    Array.from({ length: count }, (_, i) => [i]),
  );
