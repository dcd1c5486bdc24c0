/** Evaluates bound expressions and calls by name, as a statement's run would, for the tests of expressions. */
import { DbError } from "../../src/protocol/errors.js";
import { isBinaryCoercible } from "../../src/query/expr/coercion.js";
import { compileExpr } from "../../src/query/expr/compile.js";
import type { AggregateFunction, ConstExpr, EvalContext, Expr, ScalarFunction } from "../../src/query/expr/expr.js";
import { NO_SERVICES } from "../../src/query/expr/no-services.js";
import { type Resolved, resolveAggregate, resolveFunction, resolveOperator } from "../../src/query/expr/resolve.js";
import { fromText, toText } from "../../src/values/text-format.js";
import { type SqlType, UNKNOWN, type Value } from "../../src/values/values.js";

export const context: EvalContext = {
  params: [],
  // 2024-02-29 13:05:00 UTC
  transactionMicros: Date.UTC(2024, 1, 29, 13, 5) * 1000,
  statementMicros: Date.UTC(2024, 1, 29, 13, 5) * 1000,
  timeZone: "UTC",
  user: "someone",
  tenant: "acme",
  outer: null,
  checkpoint() {},
  services: NO_SERVICES,
};

export function constant(type: SqlType, value: Value): ConstExpr {
  return { kind: "const", type, value };
}

/** A literal of a type by its text; null for NULL. */
export function literal(type: SqlType, text: string | null): ConstExpr {
  return constant(type, text === null || type === UNKNOWN ? text : fromText(type, text));
}

export function evaluate(expr: Expr, given: Partial<EvalContext> = {}): Value {
  return compileExpr(expr, () => -1)({ columns: [], length: 1 }, 0, { ...context, ...given });
}

/** The value as text, NULL as null, an error as "ERROR sqlstate: message". */
export function textOf(expr: Expr, given: Partial<EvalContext> = {}): string | null {
  try {
    const value = evaluate(expr, given);
    return value === null ? null : toText(expr.type, value, given.timeZone);
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return `ERROR ${error.details?.sqlstate}: ${error.message}`;
  }
}

function coerced(expr: Expr, type: SqlType): Expr {
  if (isBinaryCoercible(expr.type, type)) return expr;
  return expr.kind === "const" && expr.value === null ? constant(type, null) : { kind: "cast", type, input: expr };
}

function callOf(resolved: Resolved<ScalarFunction>, args: readonly Expr[]): Expr {
  const { fn, argTypes } = resolved;
  return { kind: "call", type: fn.returns, fn, args: args.map((arg, i) => coerced(arg, argTypes[i] as SqlType)) };
}

const typesOf = (args: readonly Expr[]) => args.map((arg) => arg.type);

export function call(name: string, ...args: readonly Expr[]): Expr {
  return callOf(resolveFunction(name, typesOf(args)), args);
}

export function infix(left: Expr, symbol: string, right: Expr): Expr {
  return callOf(resolveOperator(symbol, left.type, right.type), [left, right]);
}

/** The aggregate's result over rows of arguments, as text. */
export function aggregated(
  name: string,
  types: readonly SqlType[],
  rows: readonly (readonly Value[])[],
): string | null {
  const { fn }: { fn: AggregateFunction } = resolveAggregate(name, types);
  let state = fn.init();
  for (const row of rows) if (!fn.strict || !row.includes(null)) state = fn.step(state, ...row);
  const value = fn.result(state);
  return value === null ? null : toText(fn.returns, value);
}
