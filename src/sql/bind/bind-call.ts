/** Calls of functions and aggregates by name. */
import { DbError, sqlError } from "../../protocol/errors.js";
import type { SqlType } from "../../protocol/values.js";
import type { ColumnId, Expr } from "../../query/expr/expr.js";
import { isAggregateName, isTableFunctionName, resolveAggregate, resolveFunction } from "../../query/expr/resolve.js";
import { columnsOf } from "../../query/expr/walk.js";
import type { SortKey } from "../../query/plan/plan.js";
import type { CallNode, ExprNode, SortNode } from "../parse/ast-query.js";
import type { AggregateCollector } from "./aggregate-collector.js";
import type { ExprContext } from "./bind-context.js";
import { bindSetCall } from "./bind-set-call.js";
import type { Binding } from "./binding.js";
import { coerceBoolean, coerceImplicit, isUnknown, resolveUnknown, suggestedType } from "./coerce.js";
import type { Scope } from "./scope.js";
import { bindSequenceCall, isSequenceFunction } from "./sequence-functions.js";

type Bind = (node: ExprNode, context: ExprContext) => Expr;

/** Throws 0A000 for forms of calls that need more than a function. */
export function functionName(node: CallNode): string {
  const { position, path } = node;
  if (node.over !== null) throw sqlError("0A000", "a window function (OVER) is not supported yet", { position });
  if (node.withinGroup) throw sqlError("0A000", "WITHIN GROUP is not supported yet", { position });
  if (node.variadic) throw sqlError("0A000", "VARIADIC is not supported yet", { position });
  if (node.args.some((arg) => arg.name !== null)) {
    throw sqlError("0A000", "a named argument is not supported yet", { position });
  }
  const schema = path.length > 1 ? path[path.length - 2] : "pg_catalog";
  if (schema !== "pg_catalog" && schema !== "public") {
    throw sqlError("3F000", `schema "${schema}" does not exist`, { position });
  }
  return path[path.length - 1]!.toLowerCase();
}

export function isAggregateCall(node: CallNode): boolean {
  return isAggregateName(node.path[node.path.length - 1]!.toLowerCase());
}

export function bindFunctionCall(node: CallNode, context: ExprContext, bind: Bind): Expr {
  const name = functionName(node);
  const { binding } = context;
  const { position } = node;
  if (isTableFunctionName(name)) return bindSetCall(node, context, bind);
  refuseAggregateForms(node, name);
  const given = argumentsOf(node, name, context, bind);
  if (isSequenceFunction(name)) {
    return bindSequenceCall(name, given, binding.env.catalog, binding.env.searchPath, position);
  }
  const { fn, argTypes } = byTypes(given, binding, (types) => resolveFunction(name, types, position));
  const args = given.map((arg, i) =>
    coerceImplicit(arg, argTypes[i]!, binding, node.args[i]!.value.position || position),
  );
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}

/** Throws 42809 for what only aggregates take. */
export function refuseAggregateForms(node: CallNode, name: string): void {
  const { position } = node;
  const what = node.star ? null : node.distinct ? "DISTINCT" : node.filter !== null ? "FILTER" : "ORDER BY";
  if (what === null) {
    throw sqlError("42809", `${name}(*) specified, but ${name} is not an aggregate function`, { position });
  }
  if (!node.distinct && node.filter === null && node.orderBy.length === 0) return;
  throw sqlError("42809", `${what} specified, but ${name} is not an aggregate function`, { position });
}

/** The arguments of a call, in the order in which the function takes them. */
export function argumentsOf(node: CallNode, _name: string, context: ExprContext, bind: Bind): Expr[] {
  return node.args.map((arg) => bind(arg.value, context));
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

export function bindAggregateCall(node: CallNode, context: ExprContext, bind: Bind): Expr {
  const name = functionName(node);
  const { binding, scope } = context;
  const { position } = node;
  if (!node.star && node.args.length === 0 && name === "count") {
    throw sqlError("42809", "count(*) must be used to call a parameterless aggregate function", { position });
  }
  if (node.distinct && node.star) throw sqlError("42601", "DISTINCT cannot be used with *", { position });
  const { sets: _, ...place } = context;
  const setsRefused = "aggregate function calls cannot contain set-returning function calls";
  const inner: ExprContext = { ...place, aggregates: false, clause: INSIDE_AGGREGATE, setsRefused };
  const given = node.args.map((arg) => bind(arg.value, inner));
  const filter = node.filter === null ? null : bindFilter(node.filter, { ...inner, clause: "FILTER" }, bind);
  const { fn, argTypes } = byTypes(given, binding, (types) => resolveAggregate(name, types, position));
  const args = given.map((arg, i) =>
    coerceImplicit(arg, argTypes[i]!, binding, node.args[i]!.value.position || position),
  );
  const orderBy = node.orderBy.map((sort) => aggregateSort(sort, inner, bind));
  if (node.distinct && orderBy.length > 0 && args.length > 0 && node.orderBy.length > args.length) {
    const message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
    throw sqlError("42P10", message, { position });
  }
  const read = columnsRead([...args, ...(filter === null ? [] : [filter]), ...orderBy.map((key) => key.expr)]);
  const target = collectorOf(scope, read);
  if (target?.columns.some((column) => read.has(column.id))) throw nestedAggregate(position);
  if (target === null || (target === scope.aggregates && !context.aggregates)) {
    throw context.clause === INSIDE_AGGREGATE
      ? nestedAggregate(position)
      : sqlError("42803", `aggregate functions are not allowed in ${context.clause}`, { position });
  }
  const call = { fn, args, distinct: node.distinct, filter, orderBy };
  return binding.setPosition(
    target.add(call, (columnName, type, nullable) => binding.newColumn(columnName, type, nullable)),
    position,
  );
}

const INSIDE_AGGREGATE = "an aggregate's arguments";

function bindFilter(node: ExprNode, context: ExprContext, bind: Bind): Expr {
  return coerceBoolean(bind(node, context), "FILTER", context.binding, node.position);
}

function aggregateSort(node: SortNode, context: ExprContext, bind: Bind): SortKey {
  const expr = resolveUnknown(bind(node.expr, context), context.binding);
  return { expr, descending: node.descending, nullsFirst: node.nullsFirst ?? node.descending };
}

function nestedAggregate(position: number): Error {
  return sqlError("42803", "aggregate function calls cannot be nested", { position });
}

/** Columns that the expressions and their subqueries take from around them. */
function columnsRead(exprs: readonly Expr[]): ReadonlySet<ColumnId> {
  const read = new Set<ColumnId>();
  for (const expr of exprs) for (const id of columnsOf(expr)) read.add(id);
  return read;
}

/**
 * The query that an aggregate belongs to: the innermost one whose columns it reads, or the one it stands in when it
 * reads none. Null when that query is not collecting aggregates.
 */
function collectorOf(scope: Scope, read: ReadonlySet<ColumnId>): AggregateCollector | null {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const owner = at;
    if ([...read].some((id) => owner.owns(id))) return owner.aggregates;
  }
  return scope.aggregates;
}
