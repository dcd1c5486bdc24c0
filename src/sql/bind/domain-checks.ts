/**
 * Domains: a value becomes one of a domain by being converted to the type below and then checked against the domain's
 * conditions. coerce.ts puts the check around every such conversion.
 */
import type { CheckDef } from "../../catalog/table.js";
import type { DomainDef } from "../../catalog/type.js";
import { sqlError } from "../../protocol/errors.js";
import { compileExpr } from "../../query/expr/compile.js";
import type { ColumnId, EvalContext, Expr, ScalarFunction } from "../../query/expr/expr.js";
import { displayName } from "../../query/expr/types.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { arrayOf, type SqlArray, type SqlType, type Value } from "../../values/values.js";
import type { SelectStatement } from "../parse/ast.js";
import type { QueryNode } from "../parse/ast-query.js";
import { parseSql } from "../parse/parse.js";
import { type Binding, PLAIN_QUERY } from "./binding.js";
import { Scope } from "./scope.js";
import { storedEnvironment } from "./stored-names.js";
import { shownType } from "./system/object-names.js";

/** Whether a value of the type has to satisfy a domain's conditions. */
export function hasDomain(type: SqlType): boolean {
  if (type.user?.kind === "domain") return true;
  return type.element !== null && hasDomain(type.element);
}

/** The type with each domain replaced by its base type; modifiers stay. */
export function withoutDomains(type: SqlType): SqlType {
  if (type.user !== undefined) return type.user.base === null ? type : withoutDomains(type.user.base);
  return type.element === null ? type : arrayOf(withoutDomains(type.element));
}

/** `expr`, which has the type below `type` already, as a value of `type`. Throws 23502 and 23514 when it runs. */
export function checkedAs(expr: Expr, type: SqlType, binding: Binding): Expr {
  const check = checkOf(type, binding);
  const fn: ScalarFunction = Object.freeze({
    name: displayName(type),
    args: [expr.type],
    returns: type,
    // Conditions may be anything; a constant that is refused must be refused when the statement runs.
    volatility: "stable",
    strict: false,
    needsContext: true,
    apply: (context: EvalContext, value: Value) => {
      check(value, context);
      return value;
    },
  });
  checkers.add(fn);
  return Object.freeze({ kind: "call", type, fn, args: [expr] });
}

const checkers = new WeakSet<ScalarFunction>();

/**
 * What a check is put around, of whole expressions; others are themselves. A value set part by part is checked at last.
 */
export function uncheckedOf(expr: Expr): Expr {
  return expr.kind === "call" && checkers.has(expr.fn) ? expr.args[0]! : expr;
}

export type Check = (value: Value, context: EvalContext) => void;

/** Throws 23502 and 23514; in the fields of records, too. */
export function checkOf(type: SqlType, binding: Binding): Check {
  if (type.user?.kind === "domain") return domainCheck(type, binding);
  if (type.fields !== undefined) {
    const fields = type.fields.map((field) => checkOf(field.type, binding));
    return (value, context) => {
      if (value !== null) fields.forEach((check, i) => void check((value as readonly Value[])[i] ?? null, context));
    };
  }
  if (type.element === null) return () => undefined;
  const element = checkOf(type.element, binding);
  return (value, context) => {
    if (value !== null) for (const each of (value as SqlArray).elements) element(each, context);
  };
}

function domainCheck(type: SqlType, binding: Binding): Check {
  const domain = binding.env.catalog.typeById(type.user!.id) as DomainDef;
  const { catalog, searchPath } = binding.env;
  const shown = shownType({ catalog, searchPath }, type);
  const below = hasDomain(domain.base) ? checkOf(domain.base, binding) : null;
  const conditions = domain.checks.map((check) => ({ name: check.name, holds: conditionOf(check, domain, binding) }));
  return (value, context) => {
    below?.(value, context);
    if (value === null && domain.notNull) {
      throw sqlError("23502", `domain ${shown} does not allow null values`);
    }
    for (const { name, holds } of conditions) {
      if (!holds(value, context)) {
        const message = `value for domain ${shown} violates check constraint "${name}"`;
        throw sqlError("23514", message, { constraint: name });
      }
    }
  };
}

/** Definitions are immutable, so the trees of their conditions are kept with them. */
const parsed = new WeakMap<CheckDef, QueryNode>();

function parsedOf(check: CheckDef): QueryNode {
  let query = parsed.get(check);
  if (query === undefined) {
    const [statement] = parseSql(`SELECT (${check.sql}) IS NOT FALSE`);
    query = (statement!.node as SelectStatement).query;
    parsed.set(check, query);
  }
  return query;
}

/**
 * A condition over VALUE as a function of the value. It is bound as a query's only column, inside of a scope with
 * VALUE.
 */
function conditionOf(
  check: CheckDef,
  { base, schema }: DomainDef,
  binding: Binding,
): (value: Value, context: EvalContext) => boolean {
  const { scope, id } = valueScope(base, binding);
  const env = storedEnvironment(schema, binding);
  const { plan } = binding.within(env, () => binding.query(parsedOf(check), scope, PLAIN_QUERY));
  if (plan.kind !== "project") throw new Error("a query without FROM is a projection");
  const evaluate = compileExpr(plan.exprs[0]!, (column) => (column === id ? 0 : -1));
  return (value, context) => evaluate({ columns: [[value]], length: 1 }, 0, context) !== false;
}

/** Where conditions of a domain are bound: VALUE is a column of the type below. */
export function valueScope(base: SqlType, binding: Binding): { readonly scope: Scope; readonly id: ColumnId } {
  const column = binding.newColumn("value", withoutDomains(base), true);
  const scope = new Scope(null);
  scope.expressionsOnly = true;
  const columns = [{ name: "value", expr: columnExpr(column) }];
  scope.items = [{ name: null, schema: null, columns, table: null, unqualified: true, qualifiable: false }];
  return { scope, id: column.id };
}
