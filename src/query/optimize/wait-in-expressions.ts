/**
 * The same plan with its expressions as calls that can be waited for: for a statement that has overrun
 * (protocol/stretch.ts), because one of its expressions takes long for a row. Such an expression becomes the call of a
 * function of its own, which lift-deferred.ts then moves into a `deferred` node, where compile-waiting.ts computes it.
 *
 *   Project: reduce(…)        Project: #-1
 *                        ⇒      Deferred: reduce(…) AS #-1
 *
 * Plans of other nodes' expressions stay as they are: there a statement may take a long turn, and ends when that is not
 * enough.
 */
import type { Value } from "../../values/values.js";
import { compileExpr, type SlotOf } from "../expr/compile.js";
import { compileWaiting } from "../expr/compile-waiting.js";
import type { CallExpr, ColumnExpr, ColumnId, EvalContext, Expr, ScalarFunction } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts, inputsOf, isVolatile, someExpr, walkExpr, withInputs } from "../expr/walk.js";
import { mayTakeLong } from "../expr/work.js";
import type { GraphWritePlan } from "../plan/graph-plans.js";
import { columnsChangedBy, columnsMadeBy, variablesOf } from "../plan/graph-steps.js";
import type { Plan } from "../plan/plan.js";
import { childrenOf, mapExprsOfPlan, mapSubqueries, withChildren } from "../plan/walk.js";

export function waitInExpressions(plan: Plan): Plan {
  const inputs = childrenOf(plan).map(waitInExpressions);
  const node = mapSubqueries(withChildren(plan, inputs), waitInExpressions);
  switch (node.kind) {
    case "project":
    case "projectset":
    case "sort":
    case "topn":
    case "window":
    case "distinct":
    case "aggregate":
    case "values":
    case "tablefunction":
      return mapExprsOfPlan(node, waiting);
    case "filter":
      return Object.freeze({ ...node, predicate: andOf(conjuncts(node.predicate).map(waiting))! });
    case "join":
      if (node.type !== "inner" || node.condition === null) return node;
      return Object.freeze({ ...node, condition: andOf(conjuncts(node.condition).map(waiting)) });
    case "match":
      if (node.optional || node.predicate === null) return node;
      return Object.freeze({ ...node, predicate: andOf(conjuncts(node.predicate).map(waiting)) });
    case "update":
      return Object.freeze({
        ...node,
        assignments: node.assignments.map(({ columnId, expr }) => ({ columnId, expr: waiting(expr) })),
      });
    case "graphwrite":
      return mapExprsOfPlan(node, (expr) => (isSameBefore(node, expr) ? waiting(expr) : expr));
    default:
      return node;
  }
}

/**
 * Whether the expression has the same value before any step is taken. What rows hold may be changed by steps of earlier
 * ones.
 */
function isSameBefore({ steps }: GraphWritePlan, expr: Expr): boolean {
  const made = new Set([...variablesOf(steps), ...columnsMadeBy(steps).map(({ id }) => id)]);
  const read = [...columnsOf(expr)];
  if (read.some((id) => made.has(id))) return false;
  if (columnsChangedBy(steps).length === 0) return true;
  return read.length === 0;
}

/** The largest parts that take long and that nothing else makes wait already. */
function waiting(expr: Expr): Expr {
  if (!mayTakeLong(expr)) return expr;
  // The elements of a list are computed in place.
  if (expr.kind === "list" && hasOwn(expr)) return expr;
  if (hasOwn(expr) && !computesAllInputs(expr)) return withInputs(expr, inputsOf(expr).map(waiting));
  const given = new Map<ColumnId, Expr>();
  return callOf(withColumnsFor(expr, given), given);
}

/** Has a part that is waited for by itself. */
function hasOwn(expr: Expr): boolean {
  return someExpr(expr, (part) => part.kind === "subquery" || (part.kind === "call" && part.fn.deferred !== undefined));
}

/** Its parts are needed whatever its value is. */
function computesAllInputs(expr: Expr): boolean {
  if (expr.kind === "call") return expr.fn.lazy !== true && expr.fn.deferred === undefined;
  return expr.kind === "cast";
}

/** The expression with a column for each part that is waited for by itself; those are added to `given`. */
function withColumnsFor(expr: Expr, given: Map<ColumnId, Expr>): Expr {
  if (!hasOwn(expr)) return expr;
  if (computesAllInputs(expr)) {
    return withInputs(
      expr,
      inputsOf(expr).map((input) => withColumnsFor(input, given)),
    );
  }
  const id = GIVEN_FROM - given.size;
  given.set(id, waiting(expr));
  return { kind: "column", id, type: expr.type, name: "" };
}

/** No plan has columns of these numbers. */
const GIVEN_FROM = -1_000_000_000;

/**
 * The expression as the call of a function that takes the columns that it reads; those in `given` are other
 * expressions.
 */
function callOf(expr: Expr, given: ReadonlyMap<ColumnId, Expr>): CallExpr {
  const columns = new Map<ColumnId, ColumnExpr>();
  const read = columnsOf(expr);
  walkExpr(expr, (part) => {
    if (part.kind === "column" && read.has(part.id)) columns.set(part.id, part);
  });
  const args = [...columns.values()];
  const places = new Map(args.map(({ id }, place) => [id, place]));
  return Object.freeze({
    kind: "call",
    type: expr.type,
    fn: functionOf(expr, args, (id) => places.get(id) ?? -1),
    args: args.map((column) => given.get(column.id) ?? column),
  });
}

function functionOf(expr: Expr, args: readonly ColumnExpr[], slotOf: SlotOf): ScalarFunction {
  const evaluate = compileWaiting(expr, slotOf);
  const evaluateNow = compileExpr(expr, slotOf);
  return Object.freeze({
    name: expr.kind === "call" ? expr.fn.name : expr.kind,
    args: args.map(({ type }) => type),
    returns: expr.type,
    volatility: isVolatile(expr) ? "volatile" : "stable",
    strict: false,
    needsContext: true,
    apply: (context: EvalContext, ...values: Value[]) =>
      evaluateNow({ columns: values.map((value) => [value]), length: 1 }, 0, context),
    deferred: {
      async evaluate(columns, count, context) {
        const batch = { columns, length: count };
        const values = new Array<Value>(count);
        for (let row = 0; row < count; row++) {
          const value = evaluate(batch, row, context);
          values[row] = value instanceof Promise ? await value : value;
          if (context.shouldYield()) await context.yieldTurn();
        }
        return values;
      },
    },
  } satisfies ScalarFunction);
}
