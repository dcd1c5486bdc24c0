/**
 * MIN or MAX of a column that an index keeps in order is the first value of the index that is not NULL: one row is
 * read instead of all.
 *
 *   Aggregate max(id)                 Aggregate max(id)
 *     Seq Scan on t           ⇒         Limit 1
 *                                         Sort (id DESC)          (eliminate-sort.ts makes it an index scan)
 *                                           Seq Scan on t, Filter (id IS NOT NULL)
 *
 * Several such calls become as many plans of one row each, side by side; for each outer row only where it has many.
 */
import { BOOL, INT8 } from "../../values/values.js";
import type { ColumnExpr, Expr } from "../expr/expr.js";
import { andOf, conjuncts } from "../expr/walk.js";
import type { AggregateCall, AggregatePlan, AppendPlan, Plan, ScanPlan, SortPlan } from "../plan/plan.js";
import { joinColumns, mapPlan } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { copyOfScan, isRepeatable, isRepeatableInPlace } from "./copy-scan.js";
import { keyColumnIds, keyConditionsOf, keysOfTable } from "./key-conditions.js";
import type { Rule } from "./rule.js";

export const minMaxByIndex: Rule = {
  name: "min-max-by-index",
  places: [350],
  apply: (plan, cardinality) => mapPlan(plan, (node) => (node.kind === "aggregate" ? first(node, cardinality) : node)),
};

/** For one outer row: an index read once more, by a plan of its own, costs as much as so many of its entries. */
const ROWS_PER_READ = 10;

function first(plan: AggregatePlan, cardinality: Cardinality): Plan {
  const { input, calls } = plan;
  if (plan.groups.length > 0 || plan.grouping !== undefined || calls.length === 0) return plan;
  if (input.kind === "append" && calls.length === 1) return firstOfAll(plan, input) ?? plan;
  if (input.kind !== "scan") return plan;
  const columns = calls.map((call) => argumentOf(call));
  if (!columns.every((column) => column !== null && followsKey(input, column.id))) return plan;
  if (calls.length > 1 && !isRepeatable(input)) {
    const isWorthIt = cardinality.rows(input) > ROWS_PER_READ * calls.length;
    if (!isWorthIt || !isRepeatableInPlace(input)) return plan;
  }
  const singles = calls.map((call, i) => single(plan, i, input, columns[i]!, call.fn.name === "max"));
  return singles.reduce(beside);
}

/** The column of a call that asks for its first or last value. */
function argumentOf({ fn, args, filter }: AggregateCall): ColumnExpr | null {
  if (fn.extreme === undefined || (fn.name !== "min" && fn.name !== "max") || filter !== null) return null;
  return args[0]?.kind === "column" ? args[0] : null;
}

/** One of the calls, over its own first row; further ones read the table under other names. */
function single(plan: AggregatePlan, i: number, scan: ScanPlan, column: ColumnExpr, isMax: boolean): Plan {
  const copy = i === 0 ? null : copyOfScan(scan);
  const own: ColumnExpr = copy === null ? column : { ...column, id: copy.columns.get(column.id)!.id };
  const sort = ordered(copy?.scan ?? scan, own, isMax);
  const one: Expr = { kind: "const", type: INT8, value: 1 };
  const limit: Plan = Object.freeze({ kind: "limit", input: sort, limit: one, offset: null, columns: sort.columns });
  const call: AggregateCall = { ...plan.calls[i]!, args: [own] };
  return Object.freeze({ ...plan, input: limit, calls: [call], columns: [plan.columns[i]!] });
}

/** Over a family of tables each of which has such a key; null: not all do. */
function firstOfAll(plan: AggregatePlan, append: AppendPlan): Plan | null {
  const column = argumentOf(plan.calls[0]!);
  const place = append.columns.findIndex(({ id }) => id === column?.id);
  if (column === null || place < 0) return null;
  const inputs: Plan[] = [];
  for (const input of append.inputs) {
    const own = input.columns[place];
    if (input.kind !== "scan" || own === undefined || !followsKey(input, own.id)) return null;
    inputs.push(ordered(input, { kind: "column", id: own.id, type: own.type, name: own.name }, false).input);
  }
  const input: Plan = Object.freeze({ ...append, inputs });
  const isMax = plan.calls[0]!.fn.name === "max";
  const keys = [{ expr: column, descending: isMax, nullsFirst: isMax }];
  const sort: Plan = Object.freeze({ kind: "sort", input, keys, columns: input.columns });
  const one: Expr = { kind: "const", type: INT8, value: 1 };
  const limit: Plan = Object.freeze({ kind: "limit", input: sort, limit: one, offset: null, columns: sort.columns });
  return Object.freeze({ ...plan, input: limit });
}

/** Single rows next to each other. */
function beside(left: Plan, right: Plan): Plan {
  const columns = joinColumns("inner", left, right);
  return Object.freeze({ kind: "join", type: "inner", left, right, condition: null, lateral: false, columns });
}

/** NULLs stand where the key has them, and are passed over. */
function ordered(scan: ScanPlan, column: ColumnExpr, descending: boolean): SortPlan {
  const present: Expr = { kind: "isnull", type: BOOL, input: column, negated: true };
  const nullable = scan.columns.find(({ id }) => id === column.id)!.nullable;
  const input: ScanPlan = nullable
    ? Object.freeze({ ...scan, filter: andOf([...conjuncts(scan.filter), present]) })
    : scan;
  const keys = [{ expr: column, descending, nullsFirst: descending }];
  return Object.freeze({ kind: "sort", input, keys, columns: input.columns });
}

/**
 * Whether a key keeps the column in order among the rows that the scan's conditions leave: it begins with columns that
 * they hold to one value. With other conditions the first row may lie far into the index.
 */
function followsKey(scan: ScanPlan, id: number): boolean {
  const conditions = conjuncts(scan.filter);
  const equal = keyConditionsOf(scan).filter(({ op, isWider }) => op === "=" && isWider !== true);
  if (!conditions.every((condition) => equal.some((one) => one.condition === condition))) return false;
  const fixed = new Set(equal.map(({ columnId }) => columnId));
  const columnId = scan.source[scan.columns.findIndex((column) => column.id === id)];
  return keysOfTable(scan.table).some((key) => {
    const ids = keyColumnIds(scan.table, key);
    const at = ids.findIndex((one) => !fixed.has(one));
    if (at < 0 || at < fixed.size || ids[at] !== columnId) return false;
    // An index keeps its NULLs on one side; the order asked for has them last ascending, first descending.
    return key === "primary key" || key.columns[at]!.nullsFirst === key.columns[at]!.descending;
  });
}
