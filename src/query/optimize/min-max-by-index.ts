/**
 * MIN or MAX of a column that an index keeps in order is the first value of the index that is not NULL: one row is
 * read instead of all.
 *
 *   Aggregate max(id)                 Aggregate max(id)
 *     Seq Scan on t           ⇒         Limit 1
 *                                         Sort (id DESC)          (eliminate-sort.ts makes it an index scan)
 *                                           Seq Scan on t, Filter (id IS NOT NULL)
 */
import { BOOL, INT8 } from "../../protocol/values.js";
import type { Expr } from "../expr/expr.js";
import { andOf, conjuncts } from "../expr/walk.js";
import type { AggregatePlan, Plan, ScanPlan, SortPlan } from "../plan/plan.js";
import { mapPlan } from "../plan/walk.js";
import { keyColumnIds, keysOfTable } from "./key-conditions.js";
import type { Rule } from "./rule.js";

export const minMaxByIndex: Rule = {
  name: "min-max-by-index",
  apply: (plan) => mapPlan(plan, (node) => (node.kind === "aggregate" ? first(node) : node)),
};

function first(plan: AggregatePlan): Plan {
  const { input, calls } = plan;
  if (plan.groups.length > 0 || calls.length !== 1 || input.kind !== "scan") return plan;
  const { fn, args, filter } = calls[0]!;
  const column = args[0];
  if ((fn.name !== "min" && fn.name !== "max") || filter !== null || column?.kind !== "column") return plan;
  // With conditions on the rows the first one may lie far into the index.
  if (input.filter !== null || !leadsKey(input, column.id)) return plan;
  const one: Expr = { kind: "const", type: INT8, value: 1 };
  const sort = ordered(input, column, fn.name === "max");
  const limit: Plan = Object.freeze({ kind: "limit", input: sort, limit: one, offset: null, columns: sort.columns });
  return Object.freeze({ ...plan, input: limit });
}

/** NULLs stand where the key has them, and are passed over. */
function ordered(scan: ScanPlan, column: Extract<Expr, { kind: "column" }>, descending: boolean): SortPlan {
  const present: Expr = { kind: "isnull", type: BOOL, input: column, negated: true };
  const nullable = scan.columns.find(({ id }) => id === column.id)!.nullable;
  const input: ScanPlan = nullable
    ? Object.freeze({ ...scan, filter: andOf([...conjuncts(scan.filter), present]) })
    : scan;
  const keys = [{ expr: column, descending, nullsFirst: descending }];
  return Object.freeze({ kind: "sort", input, keys, columns: input.columns });
}

function leadsKey(scan: ScanPlan, id: number): boolean {
  const columnId = scan.source[scan.columns.findIndex((column) => column.id === id)];
  return keysOfTable(scan.table).some((key) => {
    if (keyColumnIds(scan.table, key)[0] !== columnId) return false;
    // An index keeps its NULLs on one side; the order asked for has them last ascending, first descending.
    return key === "primary key" || key.columns[0]!.nullsFirst === key.columns[0]!.descending;
  });
}
