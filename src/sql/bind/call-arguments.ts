/** The parts of every call by name: the function's name and its arguments. Called by the binders of calls. */
import { DbError, sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { isNamedOid } from "../../values/catalog-types.js";
import { arrayOf, type SqlType, TEXT } from "../../values/values.js";
import type { CallNode, ExprNode } from "../parse/ast-query.js";
import type { ExprContext } from "./bind-context.js";
import type { Binding } from "./binding.js";
import { coerceExplicit, coerceImplicit, isUnknown, suggestedType } from "./coerce.js";
import { holdsNames, withName } from "./system/define-function.js";

export type Bind = (node: ExprNode, context: ExprContext) => Expr;

/** Throws 0A000 for forms of calls that need more than a function. */
export function functionName(node: CallNode): string {
  const { position, path } = node;
  if (node.variadic) throw sqlError("0A000", "VARIADIC is not supported here yet", { position });
  if (node.args.some((arg) => arg.name !== null)) {
    throw sqlError("0A000", "a named argument is not supported here yet", { position });
  }
  const schema = path.length > 1 ? path[path.length - 2] : "pg_catalog";
  const name = path[path.length - 1]!.toLowerCase();
  // Functions of information_schema begin so, and no others.
  const isKnown = schema === "pg_catalog" || schema === "public" || schema === "information_schema";
  if (!isKnown) throw sqlError("3F000", `schema "${schema}" does not exist`, { position });
  if (schema === "information_schema" && !name.startsWith("_pg_")) {
    throw sqlError("42883", `function ${path.join(".")} does not exist`, { position });
  }
  return name;
}

/** Throws 42809 for what only aggregates take. */
export function refuseAggregateForms(node: CallNode, name: string): void {
  const { position } = node;
  if (node.withinGroup) {
    throw sqlError("42809", `WITHIN GROUP specified, but ${name} is not an aggregate function`, { position });
  }
  const what = node.star ? null : node.distinct ? "DISTINCT" : node.filter !== null ? "FILTER" : "ORDER BY";
  if (what === null) {
    throw sqlError("42809", `${name}(*) specified, but ${name} is not an aggregate function`, { position });
  }
  if (!node.distinct && node.filter === null && node.orderBy.length === 0) return;
  throw sqlError("42809", `${what} specified, but ${name} is not an aggregate function`, { position });
}

/** The arguments of a call. */
export function argumentsOf(node: CallNode, context: ExprContext, bind: Bind): Expr[] {
  return node.args.map((arg) => bind(arg.value, context));
}

/** Functions that take anything and write it as text. */
const TAKING_TEXT =
  /^(?:format|concat|concat_ws|array_to_string|quote_literal|quote_nullable|to_jsonb?|(?:array|row)_to_json|jsonb?_build_(?:array|object)|jsonb?_(?:object_)?agg)$/;

/** regclass and the like by their names, not their numbers; in rows, too. */
function asText(expr: Expr, binding: Binding): Expr {
  const { element } = expr.type;
  if (!holdsNames(expr.type)) return expr;
  if (!isNamedOid(element ?? expr.type)) return withName(expr);
  return coerceExplicit(expr, element === null ? TEXT : arrayOf(TEXT), binding, 0);
}

/** Arguments of that function, with names for OIDs where it writes texts. */
export function namesAsText(name: string, given: Expr[], binding: Binding): Expr[] {
  return TAKING_TEXT.test(name) ? given.map((arg) => asText(arg, binding)) : given;
}

/** Resolves with unknown arguments as they are; when that is ambiguous, the values of parameters decide. */
export function byTypes<T>(given: readonly Expr[], binding: Binding, resolve: (types: readonly SqlType[]) => T): T {
  try {
    return resolve(given.map((arg) => arg.type));
  } catch (error) {
    if (!(error instanceof DbError) || !given.some(isUnknown)) throw error;
    const suggested = given.map((arg) => suggestedType(arg, binding) ?? arg.type);
    if (suggested.every((type, i) => type === given[i]!.type)) throw error;
    return resolve(suggested);
  }
}

/** The overload that the call's arguments choose, the arguments as it takes them, and as they were given. */
export function boundArguments<F extends object>(
  node: CallNode,
  context: ExprContext,
  bind: Bind,
  resolve: (types: readonly SqlType[]) => { readonly fn: F; readonly argTypes: readonly SqlType[] },
): { readonly fn: F; readonly args: readonly Expr[]; readonly given: readonly Expr[] } {
  const { binding } = context;
  const name = functionName(node);
  const given = namesAsText(name, argumentsOf(node, context, bind), binding);
  const { fn: found, argTypes } = byTypes(given, binding, resolve);
  // A list of OIDs that are written as names is one of their own type.
  const isListed = name === "array_agg" && isNamedOid(given[0]!.type);
  const fn = isListed ? { ...found, returns: arrayOf(given[0]!.type) } : found;
  const args = given.map((arg, i) =>
    coerceImplicit(arg, argTypes[i]!, binding, node.args[i]!.value.position || node.position),
  );
  return { fn, args, given };
}
