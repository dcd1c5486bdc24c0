/** Calls of set-returning functions: in a select list, and as FROM needs them. */
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { resolveTableFunction } from "../../query/expr/resolve.js";
import { needsDefinition } from "../../query/expr/table-function.js";
import type { SetCall } from "../../query/plan/plan.js";
import { type SqlType, TEXT } from "../../values/values.js";
import type { CallNode, ExprNode } from "../parse/ast-query.js";
import type { ExprContext } from "./bind-context.js";
import { argumentsOf, byTypes, functionName, refuseAggregateForms } from "./call-arguments.js";
import { coerceImplicit } from "./coerce.js";
import { checkedRows } from "./json-record-checks.js";
import { positionalCall } from "./parameter-names.js";

type Bind = (node: ExprNode, context: ExprContext) => Expr;

const LATERAL_HINT = "You might be able to move the set-returning function into a LATERAL FROM item.";

/** A column that stands for the call's rows. Throws 0A000 where no set may stand. */
export function bindSetCall(node: CallNode, context: ExprContext, bind: Bind): Expr {
  return placeSetCall(() => resolveSetCall(node, context, bind), context, node.position);
}

/** The column that stands for the rows of a call in a select list. Throws 0A000 where no set may stand. */
export function placeSetCall(resolve: () => SetCall, context: ExprContext, position: number): Expr {
  if (context.sets === undefined) {
    const { setsRefused, clause } = context;
    const message = setsRefused ?? `set-returning functions are not allowed in ${clause}`;
    const lateral = / in (CASE|COALESCE)$|cannot contain/.test(message);
    throw sqlError("0A000", message, { position, ...(lateral && { hint: LATERAL_HINT }) });
  }
  const call = resolve();
  if (needsDefinition(call.shape)) {
    throw sqlError("0A000", `could not determine row type for result of ${call.fn.name}`, {
      position,
      hint: "Provide a non-null record argument, or call the function in the FROM clause using a column definition list.",
    });
  }
  return context.binding.setPosition(context.sets.add(call, context.binding), position);
}

/** The overload and its arguments; `shape` is what the overload returns. */
export function resolveSetCall(call: CallNode, context: ExprContext, bind: Bind): SetCall {
  const node = positionalCall(call);
  const name = functionName(node);
  const { position } = node;
  const { binding } = context;
  refuseAggregateForms(node, name);
  const given = argumentsOf(node, context, bind);
  const { fn, argTypes } = byTypes(given, binding, (types) => resolveTableFunction(name, types, position));
  const args = given.map((arg, i) => coerceImplicit(arg, known(argTypes[i]!), binding, position));
  return checkedRows({ fn, args, shape: fn.returns }, given, binding);
}

const known = (type: SqlType) => (type.name === "unknown" ? TEXT : type);
