/** Calls of functions and aggregates by name. */
import { sqlError } from "../../protocol/errors.js";
import type { ColumnId, Expr } from "../../query/expr/expr.js";
import {
  isAggregateName,
  isTableFunctionName,
  isWindowName,
  type ResolvedFunction,
  resolveAggregate,
  resolveFunction,
} from "../../query/expr/resolve.js";
import { columnsOf } from "../../query/expr/walk.js";
import type { SortKey } from "../../query/plan/plan.js";
import type { CallNode, ExprNode, SortNode } from "../parse/ast-query.js";
import type { AggregateCollector } from "./aggregate-collector.js";
import type { ExprContext } from "./bind-context.js";
import { fieldCall } from "./bind-row.js";
import { bindSetCall } from "./bind-set-call.js";
import { bindVariadicCall } from "./bind-variadic.js";
import type { Binding } from "./binding.js";
import { argumentsOf, boundArguments, byTypes, functionName, refuseAggregateForms } from "./call-arguments.js";
import { coerceBoolean, coerceImplicit, resolveUnknown } from "./coerce.js";
import { positionalCall } from "./parameter-names.js";
import type { Scope } from "./scope.js";
import { bindSequenceCall, isSequenceFunction } from "./sequence-functions.js";

type Bind = (node: ExprNode, context: ExprContext) => Expr;

export function isAggregateCall(node: CallNode): boolean {
  return isAggregateName(node.path[node.path.length - 1]!.toLowerCase());
}

export function bindFunctionCall(call: CallNode, context: ExprContext, bind: Bind): Expr {
  const node = positionalCall(call);
  const name = functionName(node.variadic ? { ...node, variadic: false } : node);
  const { binding } = context;
  const { position } = node;
  if (isTableFunctionName(name)) return bindSetCall(node, context, bind);
  refuseAggregateForms(node, name);
  if (isWindowName(name)) throw sqlError("42809", `window function ${name} requires an OVER clause`, { position });
  const given = argumentsOf(node, context, bind);
  if (isSequenceFunction(name)) {
    return bindSequenceCall(name, given, binding.env.catalog, binding.env.searchPath, position);
  }
  if (node.variadic) return bindVariadicCall(name, given, node, binding);
  const found = resolvedOr(given, binding, name, position, () => fieldCall(name, given));
  if ("kind" in found) return found;
  const { fn, argTypes } = found;
  const args = given.map((arg, i) =>
    coerceImplicit(arg, argTypes[i]!, binding, node.args[i]!.value.position || position),
  );
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}

/** The function, or what the call means when there is none: `name(row)` may be a field. Throws 42883. */
function resolvedOr(
  given: readonly Expr[],
  binding: Binding,
  name: string,
  position: number,
  otherwise: () => Expr | null,
): ResolvedFunction | Expr {
  try {
    return byTypes(given, binding, (types) => resolveFunction(name, types, position));
  } catch (error) {
    const field = otherwise();
    if (field === null) throw error;
    return field;
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
  const inner: ExprContext = { ...place, aggregates: false, windows: false, clause: INSIDE_AGGREGATE, setsRefused };
  const { fn, args } = boundArguments(node, inner, bind, (types) => resolveAggregate(name, types, position));
  const filter = node.filter === null ? null : bindFilter(node.filter, { ...inner, clause: "FILTER" }, bind);
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
