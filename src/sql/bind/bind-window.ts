/** Calls with OVER, and the windows that they name or define (chapters 3.5, 4.2.8 and 7.2.5 of PostgreSQL's manual). */
import type { FunctionDef } from "../../catalog/function.js";
import { sqlError } from "../../protocol/errors.js";
import { canCoerce } from "../../query/expr/coercion.js";
import type { Expr } from "../../query/expr/expr.js";
import { type InRange, inRangesOf } from "../../query/expr/in-range.js";
import {
  isAggregateName,
  isFunctionName,
  isWindowName,
  resolveAggregate,
  resolveWindowFunction,
} from "../../query/expr/resolve.js";
import { baseType } from "../../query/expr/types.js";
import { columnsOf } from "../../query/expr/walk.js";
import type { SortKey, WindowBound, WindowCall, WindowFrame } from "../../query/plan/plan.js";
import { INT8, type SqlType } from "../../values/values.js";
import type { CallNode, ExprNode, FrameBound, FrameNode, WindowNode } from "../parse/ast-query.js";
import { startOf } from "../parse/expr-start.js";
import type { ExprContext } from "./bind-context.js";
import { boundArguments, functionName } from "./call-arguments.js";
import { coerceBoolean, coerceImplicit, coerceTo, isUnknown, resolveUnknown, typeName } from "./coerce.js";
import { boundAggregate } from "./made-aggregate.js";
import { bindSortKey, checkComparable } from "./sort-key.js";
import type { WindowCollector, WindowSpec } from "./window-collector.js";

type Bind = (node: ExprNode, context: ExprContext) => Expr;

/** How messages name the insides of windows; other clauses are named as they are written. */
const INSIDE_WINDOW = "a window function's arguments";
const DEFINITIONS = "window definitions";

/** `made`: user-defined aggregates, one of which the call means. */
export function bindWindowCall(
  node: CallNode,
  context: ExprContext,
  bind: Bind,
  made: readonly FunctionDef[] | null = null,
): Expr {
  const name = made === null ? functionName(node) : node.path[node.path.length - 1]!;
  const { position } = node;
  checkForm(node, name, made !== null);
  const windows = context.windows ? context.scope.windows : null;
  if (windows === null) throw misplaced(context.clause, position);
  const { binding } = context;
  const { sets: _, ...place } = context;
  const setsRefused = "window function calls cannot contain set-returning function calls";
  const inner: ExprContext = { ...place, windows: false, clause: INSIDE_WINDOW, setsRefused };
  const aggregate = made !== null || (isAggregateName(name) && !(isWindowName(name) && !node.star));
  const resolve = aggregate ? resolveAggregate : resolveWindowFunction;
  const { fn, args } =
    made !== null
      ? boundAggregate(node, made, inner, bind)
      : boundArguments<ReturnType<typeof resolve>["fn"]>(node, inner, bind, (types) => resolve(name, types, position));
  if ("directArgs" in fn && fn.directArgs !== undefined) {
    throw sqlError("0A000", `OVER is not supported for ordered-set aggregate ${name}`, { position });
  }
  let filter: Expr | null = null;
  if (node.filter !== null) {
    const inFilter = { ...inner, aggregates: false, clause: "FILTER" };
    filter = coerceBoolean(bind(node.filter, inFilter), "FILTER", binding, startOf(node.filter));
  }
  const call = (
    aggregate ? { kind: "aggregate", fn, args, filter } : { kind: "function", fn, args, filter: null }
  ) as WindowCall;
  const spec = bindWindow(node.over!, windows, context, bind);
  return binding.setPosition(
    windows.add(spec, call, (column, type, nullable) => binding.newColumn(column, type, nullable)),
    position,
  );
}

/** Binds the definitions of the WINDOW clause that no call has named, for their errors. */
export function bindWindowClause(windows: WindowCollector, context: ExprContext, bind: Bind): void {
  const seen = new Set<string>();
  for (const node of windows.definitions) {
    if (seen.has(node.name!)) {
      throw sqlError("42P20", `window "${node.name}" is already defined`, { position: node.position });
    }
    seen.add(node.name!);
    namedWindow(node.name!, node.position, windows, context, bind);
  }
}

function checkForm(node: CallNode, name: string, made: boolean): void {
  const { position } = node;
  const isAggregate = made || isAggregateName(name);
  if (!isAggregate && !isWindowName(name)) {
    if (isFunctionName(name)) {
      const message = `OVER specified, but ${name} is not a window function nor an aggregate function`;
      throw sqlError("42809", message, { position });
    }
  }
  if (node.withinGroup) {
    throw isAggregate && !isWindowName(name)
      ? sqlError("0A000", `OVER is not supported for ordered-set aggregate ${name}`, { position })
      : sqlError("42809", `window function ${name} cannot have WITHIN GROUP`, { position });
  }
  if (node.distinct) throw sqlError("0A000", "DISTINCT is not implemented for window functions", { position });
  if (node.orderBy.length > 0) {
    throw sqlError("0A000", "aggregate ORDER BY is not implemented for window functions", { position });
  }
  if (node.filter !== null && !isAggregate) {
    throw sqlError("0A000", "FILTER is not implemented for non-aggregate window functions", { position });
  }
  if (!made && isAggregate && !node.star && node.args.length === 0 && name === "count") {
    throw sqlError("42809", "count(*) must be used to call a parameterless aggregate function", { position });
  }
  if (node.star && isWindowName(name) && !made) {
    throw sqlError("42809", `${name}(*) specified, but ${name} is not an aggregate function`, { position });
  }
}

function misplaced(clause: string, position: number): Error {
  if (clause === INSIDE_WINDOW) return sqlError("42P20", "window function calls cannot be nested", { position });
  if (clause === "an aggregate's arguments") {
    return sqlError("42803", "aggregate function calls cannot contain window function calls", { position });
  }
  const place = clause.startsWith("window ") ? DEFINITIONS : clause;
  return sqlError("42P20", `window functions are not allowed in ${place}`, { position });
}

// ---- definitions ----

function bindWindow(node: WindowNode, windows: WindowCollector, context: ExprContext, bind: Bind): WindowSpec {
  // OVER name: that very window, its frame included.
  if (node.name !== null) return namedWindow(node.name, node.position, windows, context, bind);
  return bindDefinition(node, windows, context, bind);
}

function namedWindow(
  name: string,
  position: number,
  windows: WindowCollector,
  context: ExprContext,
  bind: Bind,
  before = windows.definitions.length,
): WindowSpec {
  const index = windows.definitions.findIndex((other) => other.name === name);
  if (index < 0 || index >= before) throw sqlError("42704", `window "${name}" does not exist`, { position });
  const bound = windows.named.get(name);
  if (bound !== undefined) return bound;
  const spec = bindDefinition(windows.definitions[index]!, windows, context, bind, index);
  windows.named.set(name, spec);
  return spec;
}

/** `before`: how many definitions of the WINDOW clause it may build upon. */
function bindDefinition(
  node: WindowNode,
  windows: WindowCollector,
  context: ExprContext,
  bind: Bind,
  before?: number,
): WindowSpec {
  const { position } = node;
  const base = node.base === null ? null : namedWindow(node.base, position, windows, context, bind, before);
  const { sets: _, ...place } = context;
  const inner: ExprContext = { ...place, windows: false, clause: DEFINITIONS };
  // What a window is partitioned and ordered by is expanded below it, as for GROUP BY.
  const inKeys: ExprContext = context.sets === undefined ? inner : { ...inner, sets: context.sets };
  let partitionBy = node.partitionBy.map((expr) => bindPartitionKey(expr, inKeys, bind));
  let orderBy = node.orderBy.map((sort) => bindSortKey(sort, resolveUnknown(bind(sort.expr, inKeys), context.binding)));
  if (base !== null) {
    if (partitionBy.length > 0) {
      throw sqlError("42P20", `cannot override PARTITION BY clause of window "${node.base}"`, { position });
    }
    if (orderBy.length > 0 && base.orderBy.length > 0) {
      throw sqlError("42P20", `cannot override ORDER BY clause of window "${node.base}"`, { position });
    }
    if (base.framed) throw copiedFrame(node);
    partitionBy = [...base.partitionBy];
    if (orderBy.length === 0) orderBy = [...base.orderBy];
  }
  const frame = node.frame === null ? DEFAULT_FRAME : bindFrame(node.frame, node, orderBy, inner, bind);
  return { partitionBy, orderBy, frame, framed: node.frame !== null };
}

function copiedFrame(node: WindowNode): Error {
  const bare = node.partitionBy.length === 0 && node.orderBy.length === 0 && node.frame === null;
  return sqlError("42P20", `cannot copy window "${node.base}" because it has a frame clause`, {
    position: node.position,
    ...(bare && { hint: "Omit the parentheses in this OVER clause." }),
  });
}

function bindPartitionKey(node: ExprNode, context: ExprContext, bind: Bind): Expr {
  const expr = resolveUnknown(bind(node, context), context.binding);
  checkComparable(expr.type, node.position);
  return expr;
}

// ---- frames ----

const UNBOUNDED: WindowBound = { kind: "unbounded preceding", offset: null, inRange: null };
const CURRENT: WindowBound = { kind: "current row", offset: null, inRange: null };
const DEFAULT_FRAME: WindowFrame = { mode: "range", start: UNBOUNDED, end: CURRENT, exclude: "no others" };

function bindFrame(
  frame: FrameNode,
  window: WindowNode,
  orderBy: readonly SortKey[],
  context: ExprContext,
  bind: Bind,
): WindowFrame {
  const { mode } = frame;
  const { position } = window;
  if (mode === "groups" && orderBy.length === 0) {
    throw sqlError("42P20", "GROUPS mode requires an ORDER BY clause", { position });
  }
  const bound = (node: FrameBound): WindowBound => {
    if (node.offset === null) return { kind: node.kind, offset: null, inRange: null };
    if (mode !== "range")
      return { kind: node.kind, offset: bindCount(node.offset, mode, context, bind), inRange: null };
    const [key] = orderBy;
    if (orderBy.length !== 1) {
      const message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column";
      throw sqlError("42P20", message, { position });
    }
    return { kind: node.kind, ...bindDistance(node.offset, key!.expr.type, context, bind) };
  };
  return { mode, start: bound(frame.start), end: bound(frame.end), exclude: frame.exclude };
}

function bindCount(node: ExprNode, mode: "rows" | "groups", context: ExprContext, bind: Bind): Expr {
  const clause = mode.toUpperCase();
  const expr = bindOffset(node, clause, context, bind);
  return coerceTo(expr, INT8, clause, context.binding, node.position);
}

/** An offset may hold no column of its own query, nor aggregates. */
function bindOffset(node: ExprNode, clause: string, context: ExprContext, bind: Bind): Expr {
  const expr = bind(node, { ...context, aggregates: false, clause: `window ${clause}` });
  if ([...columnsOf(expr)].some((id) => context.scope.owns(id))) {
    throw sqlError("42P10", `argument of ${clause} must not contain variables`, { position: node.position });
  }
  return expr;
}

/** The offset of RANGE, of a type that can be added to the sort key's. */
function bindDistance(node: ExprNode, key: SqlType, context: ExprContext, bind: Bind) {
  const { position } = node;
  const expr = bindOffset(node, "RANGE", context, bind);
  const type = baseType(key);
  const all = inRangesOf(type);
  const what = "RANGE with offset PRECEDING/FOLLOWING is not supported for column type";
  if (all.length === 0) throw sqlError("0A000", `${what} ${typeName(type)}`, { position });
  // A literal is taken for one of the key's own type where that can be.
  const given = isUnknown(expr) ? type : baseType(expr.type);
  const fitting = all.filter((one) => isUnknown(expr) || canCoerce(given, one.offset, "implicit"));
  const inRange: InRange | undefined = fitting.find((one) => one.offset === given) ?? fitting[0];
  if (inRange === undefined) {
    throw sqlError("0A000", `${what} ${typeName(type)} and offset type ${typeName(given)}`, {
      position,
      hint: "Cast the offset value to an appropriate type.",
    });
  }
  return { offset: coerceImplicit(expr, inRange.offset, context.binding, position), inRange };
}
