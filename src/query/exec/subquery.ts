/**
 * Subqueries in expressions. `compile-plan.ts` compiles each one with the plan that contains it and registers it here;
 * compiled expressions reach `runSubquery` through the context's services.
 *
 * An uncorrelated subquery runs once per statement, before the plan's first row is asked for, so that it can give the
 * actor's loop its turns like any other plan. If it fails, the error is thrown where its value is needed. A correlated
 * one runs inside the evaluation of an expression, so it cannot wait: it runs to its end in one go, once for each
 * different set of outer values (subquery-memo.ts).
 */
import { DbError, sqlError } from "../../protocol/errors.js";
import { sqlArray } from "../../values/text-format-array.js";
import type { SqlArray, Value } from "../../values/values.js";
import type { Batch, EvalContext, SubqueryExpr } from "../expr/expr.js";
import { stackedArrays } from "../expr/functions/array-parts.js";
import { isRowComparison } from "../expr/row-comparison.js";
import type { CommonTable } from "../plan/plan.js";
import { dropCommonRows } from "./common-rows.js";
import type { ExecContext, SubqueryOutcome } from "./context.js";
import type { Open, Operator, Program, Pulled } from "./operator.js";
import { isRepeatable, SubqueryMemo } from "./subquery-memo.js";
import { uninterrupted } from "./uninterrupted.js";
import { sumOfBytes } from "./value-bytes.js";

const programs = new WeakMap<SubqueryExpr, Program>();
/** Correlated ones whose answers may be kept for rows with the same outer values. */
const repeatable = new WeakSet<SubqueryExpr>();

export function registerSubquery(expr: SubqueryExpr, program: Program): void {
  programs.set(expr, program);
  if (expr.outer.length > 0 && isRepeatable(program.plan)) repeatable.add(expr);
}

/**
 * The subquery's value: for `scalar` the value or NULL, for `exists` a boolean, for `array` an array, for in, any and
 * all the list of values that the caller compares. Throws 21000 when a scalar subquery has more than one row.
 */
export function runSubquery(expr: SubqueryExpr, context: EvalContext): Value {
  const exec = context as ExecContext;
  if (expr.outer.length > 0) {
    if (!repeatable.has(expr)) return valueIn(expr, collectNow(expr, exec));
    exec.statement.subqueryMemo ??= new SubqueryMemo();
    return valueIn(
      expr,
      exec.statement.subqueryMemo.answer(expr, exec, () => collectNow(expr, exec)),
    );
  }
  const outcome = exec.statement.subqueryOutcomes?.get(expr);
  if (outcome === undefined) {
    const values = collectNow(expr, exec);
    keepOutcome(expr, exec, { values });
    return valueIn(expr, values);
  }
  if ("error" in outcome) throw outcome.error;
  return valueIn(expr, outcome.values);
}

/** The rows of a correlated subquery for the context's outer values; waits if necessary. */
export async function runSubqueryLater(expr: SubqueryExpr, context: ExecContext): Promise<readonly Value[]> {
  const outcome = await collect(expr, context);
  if ("error" in outcome) throw outcome.error;
  return outcome.values;
}

/** What a subquery with these rows is, as `runSubquery` answers. */
export function subqueryValue(expr: SubqueryExpr, values: readonly Value[]): Value {
  return valueIn(expr, values);
}

/**
 * Runs uncorrelated subqueries ahead of the operator whose expressions need them. `tables`: the WITH tables that they
 * may read and that the operator, once it is open, frees.
 */
export function runningFirst(subqueries: readonly SubqueryExpr[], tables: readonly CommonTable[], open: Open): Open {
  return (context) => new SubqueriesFirstOperator(subqueries, tables, open, context);
}

class SubqueriesFirstOperator implements Operator {
  private position = 0;
  /** Opened after the subqueries, because opening may evaluate expressions. */
  private operator: Operator | null = null;

  constructor(
    private readonly subqueries: readonly SubqueryExpr[],
    private readonly tables: readonly CommonTable[],
    private readonly open: Open,
    private readonly context: ExecContext,
  ) {}

  next(): Pulled {
    if (this.operator !== null) return this.operator.next();
    const { context } = this;
    while (this.position < this.subqueries.length) {
      const expr = this.subqueries[this.position++]!;
      if (context.statement.subqueryOutcomes?.has(expr)) continue;
      const outcome = collect(expr, context);
      if (outcome instanceof Promise) {
        return outcome.then((arrived) => {
          keepOutcome(expr, context, arrived);
          return this.next();
        });
      }
      keepOutcome(expr, context, outcome);
    }
    this.operator = this.open(context);
    return this.operator.next();
  }

  close(): void {
    if (this.operator === null) for (const table of this.tables) dropCommonRows(table, this.context);
    else this.operator.close();
  }
}

function keepOutcome(expr: SubqueryExpr, context: ExecContext, outcome: SubqueryOutcome): void {
  const { statement } = context;
  statement.subqueryOutcomes ??= new Map();
  statement.subqueryOutcomes.set(expr, outcome);
  if ("values" in outcome) statement.reserve(sumOfBytes(outcome.values, outcome.values.length));
}

/** Of a scalar subquery two rows are an error. */
function openFor(expr: SubqueryExpr, context: ExecContext): Operator {
  const operator = programs.get(expr)!.open(context);
  if (expr.form === "exists" || expr.form === "scalar") operator.expectRows?.(expr.form === "exists" ? 1 : 2);
  return operator;
}

function collect(expr: SubqueryExpr, context: ExecContext): SubqueryOutcome | Promise<SubqueryOutcome> {
  const rows = new SubqueryRows(expr);
  const operator = openFor(expr, context);
  let pending = false;
  try {
    for (;;) {
      const batch = operator.next();
      if (batch instanceof Promise) {
        pending = true;
        return collectLater(batch, operator, rows);
      }
      if (batch === null || rows.add(batch)) return { values: rows.values };
    }
  } catch (error) {
    return { error };
  } finally {
    if (!pending) operator.close();
  }
}

async function collectLater(
  first: Promise<Batch | null>,
  operator: Operator,
  rows: SubqueryRows,
): Promise<SubqueryOutcome> {
  try {
    for (let batch = await first; batch !== null && !rows.add(batch); ) batch = await operator.next();
    return { values: rows.values };
  } catch (error) {
    return { error };
  } finally {
    operator.close();
  }
}

function collectNow(expr: SubqueryExpr, context: ExecContext): readonly Value[] {
  const rows = new SubqueryRows(expr);
  const operator = openFor(expr, uninterrupted(context));
  try {
    for (;;) {
      const batch = operator.next();
      if (batch instanceof Promise)
        throw new DbError("not_supported", "A correlated subquery cannot wait for a model.");
      if (batch === null || rows.add(batch)) return rows.values;
    }
  } finally {
    operator.close();
  }
}

/** Takes what the form needs of the rows: a marker of existence, one value, or the first column. */
class SubqueryRows {
  readonly values: Value[] = [];

  private readonly form: SubqueryExpr["form"];
  /** Each row's values together, for a comparison with a row. */
  private readonly rows: boolean;

  constructor(expr: SubqueryExpr) {
    this.form = expr.form;
    this.rows = expr.compare !== null && isRowComparison(expr.compare);
  }

  /** True when no further row can change the answer. Throws 21000. */
  add(batch: Batch): boolean {
    if (this.form === "exists") {
      this.values.push(true);
      return true;
    }
    const column = batch.columns[0]!;
    if (this.rows) {
      for (let row = 0; row < batch.length; row++) this.values.push(batch.columns.map((items) => items[row]!));
    } else {
      for (let row = 0; row < batch.length; row++) this.values.push(column[row]!);
    }
    if (this.form === "scalar" && this.values.length > 1) {
      throw sqlError("21000", "more than one row returned by a subquery used as an expression");
    }
    return false;
  }
}

function valueIn(expr: SubqueryExpr, values: readonly Value[]): Value {
  switch (expr.form) {
    case "exists":
      return values.length > 0;
    case "scalar":
      return values.length === 0 ? null : values[0]!;
    case "array":
      return arrayOfValues(values, expr.plan.columns[0]!.type.element !== null);
    default:
      return values;
  }
}

function arrayOfValues(values: readonly Value[], ofArrays: boolean): SqlArray {
  if (!ofArrays) return sqlArray(values);
  const arrays = values.map((value) => {
    if (value === null) throw sqlError("22004", "cannot accumulate null arrays");
    return value as SqlArray;
  });
  if (arrays[0]?.dimensions.length === 0) throw sqlError("2202E", "cannot accumulate empty arrays");
  return stackedArrays(arrays, () => sqlError("2202E", "cannot accumulate arrays of different dimensionality"));
}
