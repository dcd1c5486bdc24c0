/** Calls of functions and aggregates by name. */

import { meant } from "../../catalog/did-you-mean.js";
import type { FunctionDef } from "../../catalog/function.js";
import { BUILT_IN_SCHEMAS } from "../../catalog/schema.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { CallExpr, ColumnId, Expr, ScalarFunction } from "../../query/expr/expr.js";
import { isHypotheticalSetName } from "../../query/expr/functions/ordered-sets.js";
import { ownRangeConstructors } from "../../query/expr/functions/own-ranges.js";
import {
  functionNames,
  isAggregateName,
  isKnownFunction,
  isTableFunctionName,
  isWindowName,
  type ResolvedFunction,
  resolveAggregate,
  resolveFunction,
  resolveOverload,
} from "../../query/expr/resolve.js";
import { displayName } from "../../query/expr/types.js";
import { columnsOf, exprEquals } from "../../query/expr/walk.js";
import type { AggregateCall, SortKey } from "../../query/plan/plan.js";
import { namedOidType } from "../../values/catalog-types.js";
import { INT4, TEXT } from "../../values/values.js";
import type { CallNode, ExprNode, GroupingNode, SortNode } from "../parse/ast-query.js";
import { startOf } from "../parse/expr-start.js";
import type { AggregateCollector } from "./aggregate-collector.js";
import { extractedNumber } from "./bind-comparison.js";
import type { ExprContext } from "./bind-context.js";
import { bindOrderedSet } from "./bind-ordered-set.js";
import { fieldCall } from "./bind-row.js";
import { bindSetCall } from "./bind-set-call.js";
import { bindVariadicCall } from "./bind-variadic.js";
import type { Binding } from "./binding.js";
import {
  argumentsOf,
  boundArguments,
  byTypes,
  functionName,
  namesAsText,
  refuseAggregateForms,
} from "./call-arguments.js";
import { coerceBoolean, coerceExplicit, coerceImplicit, constant, isUnknown, resolveUnknown } from "./coerce.js";
import { checkedRecord } from "./json-record-checks.js";
import { boundAggregate } from "./made-aggregate.js";
import { schemaNamed, userTypeNamed } from "./names.js";
import { positionalCall } from "./parameter-names.js";
import type { Scope } from "./scope.js";
import { bindSequenceCall, isSequenceFunction } from "./sequence-functions.js";
import { bindSortKey, checkComparable } from "./sort-key.js";
import { bindSystemCall, isSystemFunction } from "./system/system-functions.js";

type Bind = (node: ExprNode, context: ExprContext) => Expr;

export function isAggregateCall(node: CallNode): boolean {
  const name = node.path[node.path.length - 1]!.toLowerCase();
  return isAggregateName(name) || (node.withinGroup && isHypotheticalSetName(name));
}

/** Throws 42883 for a call in a schema of the tenant that has no such function. What is built in is seen in public. */
function refuseOwnSchema({ path, args, position }: CallNode, context: ExprContext, bind: Bind): void {
  if (path.length < 2) return;
  const name = path.at(-1)!;
  const isBuiltIn = isKnownFunction(name) || isSystemFunction(name) || isSequenceFunction(name);
  if (BUILT_IN_SCHEMAS.includes(path.at(-2)!) && (isBuiltIn || path.at(-2) !== "public")) return;
  if (!context.binding.env.catalog.hasSchema(schemaNamed(path.at(-2)!, context.binding.env))) return;
  const types = args.map(({ value }) => displayName(bind(value, context).type));
  throw sqlError("42883", `function ${path.join(".")}(${types.join(", ")}) does not exist`, {
    position,
    hint: "No function matches the given name and argument types. You might need to add explicit type casts.",
  });
}

export function bindFunctionCall(call: CallNode, context: ExprContext, bind: Bind): Expr {
  const node = positionalCall(call);
  const constructors = ownConstructors(call, context.binding);
  if (constructors.length > 0) return constructorCall(node, constructors, context, bind);
  refuseOwnSchema(node, context, bind);
  const name = functionName(node.variadic ? { ...node, variadic: false } : node);
  const { binding } = context;
  const { position } = node;
  if (isTableFunctionName(name)) return bindSetCall(node, context, bind);
  if (node.star && !isKnownFunction(name) && !isSystemFunction(name) && !isSequenceFunction(name)) {
    const message = `function ${name}(*) does not exist`;
    throw sqlError("42883", message, { position, ...meant(name, functionNames()) });
  }
  refuseAggregateForms(node, name);
  if (isWindowName(name)) {
    throw isHypotheticalSetName(name) && node.args.length > 0
      ? sqlError("42809", `WITHIN GROUP is required for ordered-set aggregate ${name}`, { position })
      : sqlError("42809", `window function ${name} requires an OVER clause`, { position });
  }
  const written = argumentsOf(node, context, bind);
  const given = namesAsText(name, written, binding);
  const [first] = given;
  // Overloads are chosen by what a domain is made of; here the domain itself is asked for.
  const isNamed =
    first !== undefined &&
    (first.type.user?.kind === "domain" || (first.type.element ?? first.type).typeName !== undefined);
  if (name === "pg_typeof" && given.length === 1 && isNamed) return constant(TEXT, displayName(first!.type));
  // regclass('t') is a cast.
  const type = given.length === 1 ? namedOidType(name) : null;
  if (type !== null) return coerceExplicit(first!, type, binding, position);
  if (isSystemFunction(name)) return bindSystemCall(name, given, binding, position);
  if (isSequenceFunction(name)) {
    return bindSequenceCall(name, given, binding, position);
  }
  if (node.variadic) return bindVariadicCall(name, given, node, binding);
  const found = resolvedOr(given, binding, name, position, () => fieldCall(name, given));
  if ("kind" in found) return found;
  const { fn, argTypes } = found;
  refuseDeferred(fn, context, position);
  const args = given.map((arg, i) =>
    coerceImplicit(arg, argTypes[i]!, binding, node.args[i]!.value.position || position),
  );
  const place = fn.deferred === undefined ? {} : { position };
  const made: CallExpr = Object.freeze({ kind: "call", type: fn.returns, fn, args, ...place });
  if (fn.deferred?.check !== undefined) binding.env.calls?.push(made);
  return checkedRecord(made, name, given, binding);
}

/** Of a range or multirange that a statement made and that has the function's name; empty: it is none. */
function ownConstructors(node: CallNode, { env, noted }: Binding): readonly ScalarFunction[] {
  const { path } = node;
  const name = path.at(-1)!;
  if (isKnownFunction(name) || isSystemFunction(name) || isSequenceFunction(name)) return [];
  const type = userTypeNamed(path, env);
  if (type === null) return [];
  const constructors = ownRangeConstructors(type);
  if (constructors.length > 0) noted.named.set(node, type.user!.id);
  return constructors;
}

function constructorCall(
  node: CallNode,
  constructors: readonly ScalarFunction[],
  context: ExprContext,
  bind: Bind,
): Expr {
  const { binding } = context;
  const { position } = node;
  const name = node.path.at(-1)!;
  refuseAggregateForms(node, name);
  if (node.args.some((arg) => arg.name !== null)) {
    throw sqlError("0A000", `named arguments are not supported for the constructor ${name}`, { position });
  }
  const given = argumentsOf(node, context, bind);
  const { fn, argTypes } = byTypes(given, binding, (types) => resolveOverload(name, constructors, types, position));
  const args = given.map((arg, i) => coerceImplicit(arg, argTypes[i]!, binding, position));
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}

/** A call of a function of no known name gets the nearest one as its hint. */
function withNearestFunction(error: unknown, name: string, { env }: Binding): unknown {
  if (!(error instanceof DbError) || error.details?.sqlstate !== "42883" || isKnownFunction(name)) return error;
  const own = env.catalog.functions().map((routine) => routine.name);
  const { hint } = meant(name, [...functionNames(), ...own]);
  return hint === undefined ? error : sqlError("42883", error.message, { ...error.details, hint });
}

/** `json_object('a', 'b')` is a member, where `json_object('{a}', '{b}')` is arrays of names and values. */
function pairsName(name: string, given: readonly Expr[]): string {
  if (name !== "json_object" && name !== "jsonb_object") return name;
  const [key, value] = given;
  const isPair = given.length === 2 && isUnknown(key!) && isUnknown(value!) && key!.kind === "const";
  const isArray = key?.kind !== "const" || key.value === null || /^\s*[{[]/.test(key.value as string);
  return isPair && !isArray ? name.replace("_", "_build_") : name;
}

/** The function, or another meaning of the call: `name(row)` may be a field. Throws 42883. */
function resolvedOr(
  given: readonly Expr[],
  binding: Binding,
  name: string,
  position: number,
  otherwise: () => Expr | null,
): ResolvedFunction | Expr {
  try {
    return byTypes(given, binding, (types) => resolveFunction(pairsName(name, given), types, position));
  } catch (error) {
    const field = otherwise();
    if (field === null) throw withNearestFunction(error, name, binding);
    return field;
  }
}

/** `made`: user-defined aggregates, one of which the call means. */
export function bindAggregateCall(
  node: CallNode,
  context: ExprContext,
  bind: Bind,
  made: readonly FunctionDef[] | null = null,
): Expr {
  const name = made === null ? functionName(node) : node.path[node.path.length - 1]!;
  const { binding, scope } = context;
  const { position } = node;
  if (!node.star && node.args.length === 0 && name === "count" && made === null) {
    throw sqlError("42809", "count(*) must be used to call a parameterless aggregate function", { position });
  }
  if (node.distinct && node.star) throw sqlError("42601", "DISTINCT cannot be used with *", { position });
  const { sets: _, ...place } = context;
  const setsRefused = "aggregate function calls cannot contain set-returning function calls";
  const inner: ExprContext = { ...place, aggregates: false, windows: false, clause: INSIDE_AGGREGATE, setsRefused };
  const filter = node.filter === null ? null : bindFilter(node.filter, { ...inner, clause: "FILTER" }, bind);
  if (node.withinGroup && made !== null) {
    throw sqlError("42809", `${name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP`, { position });
  }
  const call: AggregateCall = node.withinGroup
    ? { ...bindOrderedSet(node, inner, bind), distinct: false, filter }
    : { ...bindPlainAggregate(node, name, inner, bind, made), distinct: node.distinct, filter };
  const { args, orderBy, direct = [] } = call;
  const read = columnsRead([
    ...args,
    ...direct,
    ...(filter === null ? [] : [filter]),
    ...orderBy.map((key) => key.expr),
  ]);
  const target = collectorOf(scope, read);
  if (target?.columnIds().some((id) => read.has(id))) throw nestedAggregate(position);
  if (target === null || (target === scope.aggregates && !context.aggregates)) {
    throw context.clause === INSIDE_AGGREGATE
      ? nestedAggregate(position)
      : sqlError("42803", `aggregate functions are not allowed in ${context.clause}`, { position });
  }
  return binding.setPosition(
    target.add(call, (columnName, type, nullable) => binding.newColumn(columnName, type, nullable)),
    position,
  );
}

const NUMERIC_AGGREGATES: ReadonlySet<string> = new Set(["sum", "avg", "stddev", "variance"]);

function bindPlainAggregate(
  node: CallNode,
  name: string,
  context: ExprContext,
  bind: Bind,
  made: readonly FunctionDef[] | null,
) {
  const { position } = node;
  const argument: Bind = NUMERIC_AGGREGATES.has(name) ? (arg, place) => extractedNumber(bind(arg, place)) : bind;
  const { fn, args, given } =
    made === null
      ? boundArguments(node, context, argument, (types) => resolveAggregate(name, types, position))
      : boundAggregate(node, made, context, bind);
  if (fn.directArgs !== undefined) {
    throw sqlError("42809", `WITHIN GROUP is required for ordered-set aggregate ${name}`, { position });
  }
  const orderBy = node.orderBy.map((sort) => aggregateSort(sort, context, bind));
  if (node.distinct) {
    for (const [i, arg] of args.entries()) checkComparable(arg.type, node.args[i]?.value.position || position);
    const stray = orderBy.findIndex(({ expr }) => ![...args, ...given].some((arg) => exprEquals(arg, expr)));
    if (stray >= 0) {
      const message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
      throw sqlError("42P10", message, { position: node.orderBy[stray]!.position });
    }
  }
  return { fn, args, orderBy };
}

/** GROUPING(…): a column of the query whose groups its arguments are. */
export function bindGrouping(node: GroupingNode, context: ExprContext, bind: Bind): Expr {
  const { binding, scope } = context;
  const { position } = node;
  if (node.args.length > GROUPING_ARGS_MAX) {
    throw sqlError("54023", `GROUPING must have fewer than ${GROUPING_ARGS_MAX + 1} arguments`, { position });
  }
  const args = node.args.map((arg) => bind(arg, { ...context, aggregates: false, windows: false }));
  const target = collectorOf(scope, columnsRead(args));
  if (target === null || (target === scope.aggregates && !context.aggregates)) {
    if (context.clause === INSIDE_AGGREGATE) throw nestedAggregate(position);
    throw sqlError("42803", `grouping operations are not allowed in ${context.clause}`, { position });
  }
  const column = target.addGrouping(args, position, () => binding.newColumn("grouping", INT4, false));
  return binding.setPosition(column, position);
}

/** The bits of an int4. */
const GROUPING_ARGS_MAX = 31;

const INSIDE_AGGREGATE = "an aggregate's arguments";

function bindFilter(node: ExprNode, context: ExprContext, bind: Bind): Expr {
  return coerceBoolean(bind(node, context), "FILTER", context.binding, startOf(node));
}

function aggregateSort(node: SortNode, context: ExprContext, bind: Bind): SortKey {
  return bindSortKey(node, resolveUnknown(bind(node.expr, context), context.binding));
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

/** Expressions that are stored with a definition are evaluated where nothing can be waited for. */
function refuseDeferred(
  { name, deferred }: ScalarFunction,
  { subqueries, clause }: ExprContext,
  position: number,
): void {
  if (subqueries || deferred === undefined || deferred.mayBeApplied === true) return;
  throw sqlError("0A000", `${name} cannot be called in ${clause}`, {
    position,
    hint: "The function has to wait for its values. That is possible only in queries and in the new values of rows.",
  });
}
