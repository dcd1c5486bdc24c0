/** Plan nodes over rows, as the binders of clauses put them together. */

import type { Expr } from "../../query/expr/expr.js";
import { columnsOf, mapExpr } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn, Plan, SortKey } from "../../query/plan/plan.js";
import { joinColumns } from "../../query/plan/walk.js";
import { VARIANT } from "../../values/values.js";
import type { Binding } from "./binding.js";

/** One row without columns: where every query begins. */
export const ONE_ROW: Plan = Object.freeze({ kind: "values", rows: [[]], columns: [] });
export const NO_ROWS: Plan = Object.freeze({ kind: "values", rows: [], columns: [] });

export function filtered(input: Plan, predicate: Expr | null): Plan {
  return predicate === null ? input : Object.freeze({ kind: "filter", input, predicate, columns: input.columns });
}

export function sorted(input: Plan, keys: readonly SortKey[]): Plan {
  return keys.length === 0 ? input : Object.freeze({ kind: "sort", input, keys, columns: input.columns });
}

/** SKIP and LIMIT, as int8; null: none. */
export interface Limits {
  readonly limit: Expr | null;
  readonly offset: Expr | null;
}

export function limited(input: Plan, { limit, offset }: Limits): Plan {
  if (limit === null && offset === null) return input;
  return Object.freeze({ kind: "limit", input, limit, offset, columns: input.columns });
}

/** A column that is to be made of an expression. */
export interface Made {
  readonly name: string;
  readonly expr: Expr;
}

/**
 * Computes columns over the input; further columns of it are passed on after them. Those that are only passed on keep
 * their numbers, unless they have been given one already here.
 */
export function project(input: Plan, made: readonly Made[], passed: readonly OutputColumn[], binding: Binding): Plan {
  const given = new Map(input.columns.map((column) => [column.id, column]));
  const taken = new Set<number>();
  const columns = made.map(({ name, expr }) => {
    const column = expr.kind === "column" ? given.get(expr.id) : undefined;
    if (column === undefined || taken.has(column.id)) return binding.newColumn(name, expr.type);
    taken.add(column.id);
    return column.name === name ? column : Object.freeze({ ...column, name });
  });
  const others = passed.filter(({ id }) => given.has(id) && !taken.has(id));
  const exprs = [...made.map(({ expr }) => expr), ...others.map(columnExpr)];
  return Object.freeze({ kind: "project", input, exprs, columns: [...columns, ...others] });
}

/** Only these of the input's columns. */
export function only(input: Plan, columns: readonly OutputColumn[]): Plan {
  if (columns.length === input.columns.length && columns.every((column, i) => column === input.columns[i]))
    return input;
  const exprs = columns.map(columnExpr);
  return Object.freeze({ kind: "project", input, exprs, columns });
}

/** The right rows for each left one, whose columns they read; `optional`: a left row without any stays, with nulls. */
export function joined(left: Plan, right: Plan, optional: boolean): Plan {
  if (left === ONE_ROW && !optional) return right;
  const type = optional ? "left" : "inner";
  return Object.freeze({
    kind: "join",
    type,
    left,
    right,
    condition: null,
    lateral: true,
    columns: joinColumns(type, left, right),
  });
}

/** One projection instead of two, where none computes anything twice. */
function mergedProjection(input: Plan, made: readonly Made[], binding: Binding): Plan | null {
  if (input.kind !== "project") return null;
  const meaning = new Map(input.columns.map(({ id }, i) => [id, input.exprs[i]!]));
  const read = made.flatMap(({ expr }) => [...columnsOf(expr)]);
  const computed = read.filter((id) => meaning.get(id)?.kind !== "column");
  if (new Set(computed).size < computed.length) return null;
  const replace = (node: Expr) => (node.kind === "column" ? (meaning.get(node.id) ?? node) : node);
  const exprs = made.map(({ name, expr }) => ({ name, expr: mapExpr(expr, replace) }));
  return project(input.input, exprs, [], binding);
}

/** The columns of a result: variants, whatever the types of their sources. */
export function resultOf(input: Plan, made: readonly Made[], binding: Binding): Plan {
  const plan = mergedProjection(input, made, binding) ?? project(input, made, [], binding);
  const columns = plan.columns.map((column) =>
    column.type === VARIANT ? column : binding.newColumn(column.name, VARIANT, column.nullable),
  );
  return Object.freeze({ ...plan, columns });
}
