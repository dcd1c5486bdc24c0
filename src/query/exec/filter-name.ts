/**
 * A name for a filter over a table in one run: runs with the same name pass the same rows, as long as these do not
 * change. Null if that cannot be known: the filter depends on other rows, the time, or the surrounding statement.
 */
import { toText } from "../../values/text-format.js";
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { EvalContext, Evaluate, Expr, ParamExpr } from "../expr/expr.js";
import { isLongConst, printExpr } from "../expr/print.js";
import { mapExpr, walkExpr } from "../expr/walk.js";
import type { ScanPlan } from "../plan/plan.js";
import { EMPTY_ROW, NO_SLOTS } from "./slots.js";

export interface FilterName {
  /** Of the run with these parameters. */
  of(context: EvalContext): string;
}

export function filterNameOf(scan: ScanPlan, filter: Expr): FilterName | null {
  const columnIdOf = new Map(scan.columns.map(({ id }, i) => [id, scan.source[i]!]));
  const params: ParamExpr[] = [];
  let isRepeatable = true;
  walkExpr(filter, (node) => {
    if (node.kind === "param") params.push(node);
    if (node.kind === "subquery" || (node.kind === "column" && !columnIdOf.has(node.id))) isRepeatable = false;
    if (node.kind === "const" && isLongConst(node)) isRepeatable = false;
    if (node.kind === "call" && node.fn.volatility !== "immutable") isRepeatable = false;
  });
  if (!isRepeatable) return null;
  const named = mapExpr(filter, (node) =>
    node.kind === "column" ? { ...node, name: `#${columnIdOf.get(node.id)!}` } : node,
  );
  const text = printExpr(named);
  const values = params.map((param) => ({ param, evaluate: compileExpr(param, NO_SLOTS) }));
  return {
    of: (context) =>
      JSON.stringify([text, context.timeZone, context.style, ...values.map((value) => valueText(value, context))]),
  };
}

function valueText({ param, evaluate }: { param: ParamExpr; evaluate: Evaluate }, context: EvalContext): string | null {
  const value: Value = evaluate(EMPTY_ROW, 0, context);
  return value === null ? null : toText(param.type, value, context.timeZone);
}
