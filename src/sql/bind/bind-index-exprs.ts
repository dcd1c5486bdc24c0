/** Keys and predicates of indexes that are expressions, bound over the columns of a row. */
import type { IndexDef, TableDef } from "../../catalog/table.js";
import type { Expr } from "../../query/expr/expr.js";
import { foldExpr } from "../../query/expr/fold.js";
import { graphIndexExprs } from "../../query/plan/graph-index-exprs.js";
import type { BoundIndex, IndexExprs } from "../../query/plan/index-exprs.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import type { Binding } from "./binding.js";
import { resolveUnknown } from "./coerce.js";
import { itemOf } from "./row-item.js";
import { Scope } from "./scope.js";
import { parseStored } from "./stored-names.js";

/** The place of an expression that the table's definition holds; `columns` are parallel to the table's. */
export function storedContext(table: TableDef, columns: readonly OutputColumn[], binding: Binding): ExprContext {
  const scope = new Scope(null);
  scope.items = [itemOf(table, table.name, columns)];
  return { ...contextOf(binding, scope, "stored expressions"), subqueries: false };
}

const isComputed = (index: IndexDef) =>
  Boolean(index.where) || index.columns.some((column) => column.expression !== undefined);

/** By index id; null when the table has no such index. */
export function bindIndexExprs(table: TableDef, columns: readonly OutputColumn[], binding: Binding): IndexExprs | null {
  const indexes = table.indexes.filter(isComputed);
  const partial = (table.searchIndexes ?? []).filter(({ vector }) => vector?.where !== undefined);
  if (indexes.length + partial.length === 0) return null;
  if (table.collection?.kind === "graph") {
    return graphIndexExprs(table, (id) => columns[table.columns.findIndex((column) => column.id === id)] ?? null);
  }
  const context = storedContext(table, columns, binding);
  const bind = (sql: string) => foldExpr(resolveUnknown(bindExpr(parseStored(sql, table.schema), context), binding));
  const condition = (sql: string) => foldExpr(bindBoolean(parseStored(sql, table.schema), "WHERE", context));
  const ordered = indexes.map((index): [number, BoundIndex] => {
    const keys = index.columns.map(({ expression }): Expr | null =>
      expression === undefined ? null : bind(expression.sql),
    );
    return [index.id, { predicate: index.where ? condition(index.where) : null, keys }];
  });
  const searched = partial.map(({ id, vector }): [number, BoundIndex] => {
    return [id, { predicate: condition(vector!.where!.sql), keys: [] }];
  });
  return new Map([...ordered, ...searched]);
}
