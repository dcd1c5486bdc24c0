/**
 * A name for a filter over a table in one run: runs with the same name pass the same rows, as long as these do not
 * change. Null if that cannot be known: the filter depends on other rows, the time, or the surrounding statement.
 */
import { DbError } from "../../protocol/errors.js";
import { toText } from "../../values/text-format.js";
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { EvalContext, Evaluate, Expr } from "../expr/expr.js";
import { isLongConst, printExpr } from "../expr/print.js";
import { mapExpr, walkExpr } from "../expr/walk.js";
import type { ScanPlan } from "../plan/plan.js";
import { EMPTY_ROW, NO_SLOTS } from "./slots.js";

export interface FilterName {
  /** Of the run with these parameters; null: it has none. */
  of(context: EvalContext): string | null;
}

/** Functions of the session, by which policies mostly tell rows apart: the same for a whole statement. */
const OF_SESSION: ReadonlySet<string> = new Set([
  "current_user",
  "user",
  "current_role",
  "session_user",
  "current_setting",
]);

const isOfSession = (node: Expr): boolean =>
  node.kind === "call" && OF_SESSION.has(node.fn.name) && node.args.every(({ kind }) => kind === "const");

export function filterNameOf(scan: Pick<ScanPlan, "columns" | "source">, filter: Expr): FilterName | null {
  const columnIdOf = new Map(scan.columns.map(({ id }, i) => [id, scan.source[i]!]));
  const given: Expr[] = [];
  let isRepeatable = true;
  walkExpr(filter, (node) => {
    if (node.kind === "param" || isOfSession(node)) given.push(node);
    if (node.kind === "subquery" || (node.kind === "column" && !columnIdOf.has(node.id))) isRepeatable = false;
    if (node.kind === "const" && isLongConst(node)) isRepeatable = false;
    if (node.kind === "call" && node.fn.volatility !== "immutable" && !isOfSession(node)) isRepeatable = false;
  });
  if (!isRepeatable) return null;
  const named = mapExpr(filter, (node) =>
    node.kind === "column" ? { ...node, name: `#${columnIdOf.get(node.id)!}` } : node,
  );
  const text = printExpr(named);
  const values = given.map((expr) => ({ expr, evaluate: compileExpr(expr, NO_SLOTS) }));
  return {
    of: (context) => {
      try {
        return JSON.stringify([
          text,
          context.timeZone,
          context.style,
          ...values.map((value) => valueText(value, context)),
        ]);
      } catch (error) {
        // The filter may never ask for that value: only it can tell whether this is an error.
        if (error instanceof DbError) return null;
        throw error;
      }
    },
  };
}

function valueText({ expr, evaluate }: { expr: Expr; evaluate: Evaluate }, context: EvalContext): string | null {
  const value: Value = evaluate(EMPTY_ROW, 0, context);
  return value === null ? null : toText(expr.type, value, context.timeZone);
}
