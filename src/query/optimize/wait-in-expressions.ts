/**
 * The same plan with its expressions as calls that can be waited for: for a statement that has overrun (protocol/stretch.ts), because
 * one of its expressions takes long for a row. Such an expression becomes the call of a function of its own, which
 * lift-deferred.ts then moves into a `deferred` node, where compile-waiting.ts computes it.
 *
 *   Project: reduce(…)        Project: #-1
 *                        ⇒      Deferred: reduce(…) AS #-1
 *
 * Plans of other nodes' expressions stay as they are: there a statement may take a long turn, and ends when that is not enough.
 */
import type { Value } from "../../protocol/values.js";
import { compileExpr, type SlotOf } from "../expr/compile.js";
import { compileWaiting } from "../expr/compile-waiting.js";
import type { CallExpr, ColumnExpr, ColumnId, EvalContext, Expr, ScalarFunction } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts, inputsOf, isVolatile, someExpr, walkExpr, withInputs } from "../expr/walk.js";
import { mayTakeLong } from "../expr/work.js";
import { variablesOf } from "../plan/graph-steps.js";
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
    case "graphwrite": {
      const made = new Set(variablesOf(node.steps));
      return mapExprsOfPlan(node, (expr) => ([...columnsOf(expr)].some((id) => made.has(id)) ? expr : waiting(expr)));
    }
    default:
      return node;
  }
}

/** The largest parts that take long and that nothing else makes wait already. */
function waiting(expr: Expr): Expr {
  if (!mayTakeLong(expr)) return expr;
  const hasOwn = someExpr(
    expr,
    (part) => part.kind === "subquery" || (part.kind === "call" && part.fn.deferred !== undefined),
  );
  if (!hasOwn) return callOf(expr);
  // The elements of a list are computed where it is.
  if (expr.kind === "list") return expr;
  return withInputs(expr, inputsOf(expr).map(waiting));
}

/** The expression as the call of a function that takes the columns that it reads. */
function callOf(expr: Expr): CallExpr {
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
    args,
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
