/**
 * Functions and operators that run SQL/JSON paths over jsonb (chapter 9.16.1); jsonb_path_query returns
 * a row per item.
 */
import { sqlError } from "../../../protocol/errors.js";
import type { JsonPath } from "../../../values/json-path.js";
import { BOOL, JSONB, JSONPATH, Json, type SqlType, type Value } from "../../../values/values.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { type TableFunction, valueRows } from "../table-function.js";
import { contextFn } from "./define.js";
import { existsPath, type PathRun, queryPath } from "./json-path-exec.js";

const NO_VARS: Json = new Json({});

/** A run of a path within a statement. */
export function pathRun(
  context: EvalContext,
  target: Json,
  path: JsonPath,
  vars: Json,
  silent: boolean,
  withZone: boolean,
): PathRun {
  const session = {
    timeZone: context.timeZone,
    nowMicros: context.transactionMicros,
    checkpoint: () => context.checkpoint(),
  };
  return { path, target: target.value, vars: vars.value, silent, withZone, session };
}

/** The items that jsonb_path_query (with `withZone`: jsonb_path_query_tz) returns, a row each. */
function jsonPathItems(
  context: EvalContext,
  withZone: boolean,
  target: Json,
  path: JsonPath,
  vars: Json = NO_VARS,
  silent = false,
): Json[] {
  return queryPath(pathRun(context, target, path, vars, silent, withZone)).map((item) => new Json(item));
}

function exists(run: PathRun): Value {
  return existsPath(run);
}

/** The one boolean that the path gives; NULL for a null, or where `silent` hides that it is something else. */
function match(run: PathRun): Value {
  const items = queryPath(run);
  if (items.length === 1 && (typeof items[0] === "boolean" || items[0] === null)) return items[0];
  if (run.silent) return null;
  throw sqlError("22038", "single boolean result is expected");
}

function array(run: PathRun): Value {
  return new Json(queryPath(run));
}

function first(run: PathRun): Value {
  const items = queryPath(run);
  return items.length === 0 ? null : new Json(items[0]);
}

/** The function and its twin that may use the session's time zone, with two to four arguments. */
function pathFunctions(name: string, returns: SqlType, apply: (run: PathRun) => Value): ScalarFunction[] {
  const all: readonly SqlType[] = [JSONB, JSONPATH, JSONB, BOOL];
  return [false, true].flatMap((withZone) =>
    [2, 3, 4].map((count) =>
      contextFn(
        withZone ? `${name}_tz` : name,
        all.slice(0, count),
        returns,
        (context: EvalContext, target: Json, path: JsonPath, vars: Json = NO_VARS, silent = false) =>
          apply(pathRun(context, target, path, vars, silent, withZone)),
        { volatility: withZone ? "stable" : "immutable" },
      ),
    ),
  );
}

export const JSON_PATH_FUNCTIONS: readonly ScalarFunction[] = [
  ...pathFunctions("jsonb_path_exists", BOOL, exists),
  ...pathFunctions("jsonb_path_match", BOOL, match),
  ...pathFunctions("jsonb_path_query_array", JSONB, array),
  ...pathFunctions("jsonb_path_query_first", JSONB, first),
];

function pathOperator(symbol: string, apply: (run: PathRun) => Value): ScalarFunction {
  const overload = contextFn(symbol, [JSONB, JSONPATH], BOOL, (context: EvalContext, target: Json, path: JsonPath) =>
    apply(pathRun(context, target, path, NO_VARS, true, false)),
  );
  return Object.freeze({ ...overload, operator: symbol, volatility: "immutable" });
}

export const JSON_PATH_OPERATORS: readonly ScalarFunction[] = [pathOperator("@?", exists), pathOperator("@@", match)];

/** jsonb_path_query and its twin that may use the session's time zone, with two to four arguments. */
export const JSON_PATH_SETS: readonly TableFunction[] = [false, true].flatMap((withZone) =>
  [2, 3, 4].map((count): TableFunction => {
    const name = withZone ? "jsonb_path_query_tz" : "jsonb_path_query";
    return Object.freeze({
      name,
      args: [JSONB, JSONPATH, JSONB, BOOL].slice(0, count),
      returns: JSONB,
      strict: true,
      open: (context: EvalContext, [target, path, vars, silent]: readonly Value[]) =>
        valueRows(jsonPathItems(context, withZone, target as Json, path as JsonPath, vars as Json, silent as boolean)),
    });
  }),
);
