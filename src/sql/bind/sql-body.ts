/**
 * Bodies of LANGUAGE sql functions: their statements, the meaning of names in them, and the result that the last one
 * must have. Read by the binders of functions and by their runner.
 */
import { type FunctionDef, inputsOf } from "../../catalog/function.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import { canCoerce } from "../../query/expr/coercion.js";
import type { Expr } from "../../query/expr/expr.js";
import { displayName } from "../../query/expr/types.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { type SqlType, VOID } from "../../values/values.js";
import type { Statement } from "../parse/ast.js";
import { parseSql } from "../parse/parse.js";
import { standardBodyText } from "../parse/routine-body.js";
import type { ExpectedResult, FoundVariable, Variables } from "./bound-statement.js";
import { fieldSelector } from "./record-functions.js";

const parsed = new WeakMap<object, readonly Statement[]>();

/** The statements of the body. Throws the parser's errors. */
export function statementsOf(fn: Pick<FunctionDef, "body" | "standard">): readonly Statement[] {
  let statements = parsed.get(fn);
  if (statements === undefined) {
    statements = parseSql(fn.standard ? standardBodyText(fn.body) : fn.body);
    parsed.set(fn, statements);
  }
  return statements;
}

/** Parameters by name (also qualified by the function's name) and by number. `args`: the expression of each. */
export function parameterVariables(fn: Pick<FunctionDef, "name" | "parameters">, args: readonly Expr[]): Variables {
  const named = new Map<string, Expr>();
  inputsOf(fn).forEach(({ name }, i) => {
    if (name !== null) named.set(name, args[i]!);
  });
  const find = (path: readonly string[]): FoundVariable | null => {
    const [first, second] = path as [string, string | undefined];
    if (second === undefined) {
      const expr = named.get(first);
      return expr === undefined ? null : { name: first, expr };
    }
    if (path.length === 2 && first === fn.name && named.has(second)) return { name: second, expr: named.get(second)! };
    if (path.length === 3 && first === fn.name) return find(path.slice(1));
    return path.length === 2 ? fieldOf(named.get(first), second) : null;
  };
  return { find, parameter: (index) => args[index] ?? null, conflict: "column" };
}

/** A field of a variable that holds a row. */
export function fieldOf(expr: Expr | undefined, field: string): FoundVariable | null {
  const index = expr?.type.fields?.findIndex(({ name }) => name === field) ?? -1;
  if (expr === undefined || index < 0) return null;
  const fn = fieldSelector(expr.type, index);
  return { name: field, expr: Object.freeze({ kind: "call", type: fn.returns, fn, args: [expr] }) };
}

const mismatch = (returns: SqlType, detail: string): DbError =>
  sqlError("42P13", `return type mismatch in function declared to return ${displayName(returns)}`, { detail });

/** The columns of the rows that a function answers with. */
export function resultTypes(returns: SqlType): readonly SqlType[] {
  return returns.fields?.map(({ type }) => type) ?? [returns];
}

/**
 * What the last statement has to answer: the value, the fields of the record one by one, or one record. Null when
 * anything will do.
 */
export function expectedOf(returns: SqlType): ExpectedResult | null {
  if (returns === VOID || (returns.name === "record" && returns.fields === undefined)) return null;
  const types = resultTypes(returns);
  return {
    types,
    check(columns: readonly OutputColumn[]) {
      if (returns.fields === undefined && columns.length !== 1) {
        throw mismatch(returns, "Final statement must return exactly one column.");
      }
      if (columns.length > types.length) throw mismatch(returns, "Final statement returns too many columns.");
      if (columns.length < types.length) throw mismatch(returns, "Final statement returns too few columns.");
      columns.forEach(({ type }, i) => {
        const wanted = types[i]!;
        if (type.name === "unknown" || canCoerce(type, wanted, "assignment")) return;
        throw mismatch(
          returns,
          returns.fields === undefined
            ? `Actual return type is ${displayName(type)}.`
            : `Final statement returns ${displayName(type)} instead of ${displayName(wanted)} at column ${i + 1}.`,
        );
      });
    },
  };
}

/** Whether the only column is the record itself. */
export function isWholeRecord(columns: readonly { readonly type: SqlType }[], returns: SqlType): boolean {
  const [only] = columns;
  if (columns.length !== 1 || only === undefined || returns.fields === undefined) return false;
  return only.type.name === "record" && canCoerce(only.type, returns, "assignment");
}

/** Throws 42P13: the last statement gives no rows. */
export function refuseNoRows(returns: SqlType): never {
  throw mismatch(returns, "Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.");
}
