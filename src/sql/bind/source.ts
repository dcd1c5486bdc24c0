/** Plan nodes over a source of rows, and sources with their columns converted: for set operations, IN and INSERT. */

import type { Expr } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn, Plan, SortKey } from "../../query/plan/plan.js";
import { BOOL, type SqlType, TEXT } from "../../values/values.js";
import { type Binding, mayBeNull, type Source } from "./binding.js";
import { constant, isUnknown, resolveUnknown } from "./coerce.js";

/** LIMIT and OFFSET, as int8; null: none. */
export interface Limits {
  readonly limit: Expr | null;
  readonly offset: Expr | null;
  readonly withTies: boolean;
}

/** One row without columns: SELECT without FROM. */
export const ONE_ROW: Plan = Object.freeze({ kind: "values", rows: [[]], columns: [] });

/** `keys`: what the input is sorted by. */
export function limited(input: Plan, limits: Limits | null, keys: readonly SortKey[]): Plan {
  if (limits === null) return input;
  const { limit, offset, withTies } = limits;
  const ties = withTies ? { ties: keys.map((key) => key.expr) } : {};
  return Object.freeze({ kind: "limit", input, limit, offset, ...ties, columns: input.columns });
}

export function sorted(input: Plan, keys: readonly SortKey[]): Plan {
  return keys.length === 0 ? input : Object.freeze({ kind: "sort", input, keys, columns: input.columns });
}

export function filtered(input: Plan, predicate: Expr | null): Plan {
  return predicate === null ? input : Object.freeze({ kind: "filter", input, predicate, columns: input.columns });
}

/** Nothing that could tell of a row is computed for rows that the input does not give. */
export function barrier(input: Plan): Plan {
  const { columns } = input;
  return Object.freeze({ kind: "filter", input, predicate: constant(BOOL, true), barrier: true, columns });
}

/** One projection over a plan. `names[i]` is the name of the column that `exprs[i]` makes. */
export function project(input: Plan, exprs: readonly Expr[], names: readonly string[], binding: Binding): Source {
  const given = new Set(input.columns.map((column) => column.id));
  const columns = exprs.map((expr, i) => {
    // A column that is only passed on keeps its id; one of an enclosing query is a new column here.
    if (expr.kind === "column" && given.has(expr.id)) return passedOn(expr.id, names[i]!, expr.type, binding);
    return binding.newColumn(names[i]!, expr.type, mayBeNull(expr, binding));
  });
  const plan: Plan = Object.freeze({ kind: "project", input, exprs, columns: distinctIds(columns, binding) });
  return { plan, columns: plan.columns };
}

function passedOn(id: number, name: string, type: SqlType, binding: Binding): OutputColumn {
  return Object.freeze({ id, name, type, nullable: binding.isNullable(id) });
}

/** The same column twice (`SELECT a, a`) needs two ids. */
function distinctIds(columns: readonly OutputColumn[], binding: Binding): OutputColumn[] {
  const seen = new Set<number>();
  return columns.map((column) => {
    if (!seen.has(column.id)) {
      seen.add(column.id);
      return column;
    }
    return binding.newColumn(column.name, column.type, column.nullable);
  });
}

/**
 * The source with its columns of the given types (null: as it is). Expressions of its last projection, or the values
 * of VALUES, are converted in place, so that literals of unknown type still take a type from here.
 */
export function castColumns(
  source: Source,
  types: readonly (SqlType | null)[],
  binding: Binding,
  convert: (expr: Expr, type: SqlType, column: number) => Expr,
): Source {
  const { plan } = source;
  const changes = types.map((type, i) => type !== null && source.columns[i]!.type !== type);
  if (!changes.includes(true)) return source;
  if (plan.kind === "values") {
    const rows = plan.rows.map((row) => row.map((expr, i) => (changes[i] ? convert(expr, types[i]!, i) : expr)));
    const columns = plan.columns.map((column, i) => (changes[i] ? { ...column, type: types[i]! } : column));
    const next: Plan = Object.freeze({ ...plan, rows, columns });
    return { plan: next, columns };
  }
  const names = source.columns.map((column) => column.name);
  if (plan.kind === "project") {
    const exprs = plan.exprs.map((expr, i) => (changes[i] ? convert(expr, types[i]!, i) : expr));
    const columns = plan.columns.map((column, i) =>
      changes[i] ? binding.newColumn(column.name, exprs[i]!.type, mayBeNull(exprs[i]!, binding)) : column,
    );
    const next: Plan = Object.freeze({ ...plan, exprs, columns });
    return { plan: next, columns };
  }
  const exprs = source.columns.map((column, i) => {
    const expr = columnExpr(column);
    return changes[i] ? convert(expr, types[i]!, i) : expr;
  });
  return project(plan, exprs, names, binding);
}

/** Columns of unknown type become text, or what the value of a parameter suggests. */
export function resolveColumns(source: Source, binding: Binding): Source {
  if (!source.columns.some((column) => column.type.name === "unknown")) return source;
  const types = source.columns.map((column, i) => {
    if (column.type.name !== "unknown") return null;
    const expr = lastExprs(source.plan)?.[i];
    return expr === undefined || !isUnknown(expr) ? TEXT : resolveUnknown(expr, binding).type;
  });
  return castColumns(source, types, binding, (expr) => resolveUnknown(expr, binding));
}

function lastExprs(plan: Plan): readonly Expr[] | null {
  return plan.kind === "project" ? plan.exprs : plan.kind === "values" ? (plan.rows[0] ?? null) : null;
}
