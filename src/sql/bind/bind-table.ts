/** Binds the expressions that a table's definition holds: generated columns, keys and predicates of indexes. */

import type { CatalogView } from "../../catalog/catalog-view.js";
import type { IndexDef, TableDef } from "../../catalog/table.js";
import type { Expr } from "../../query/expr/expr.js";
import type { BoundTable } from "../../query/plan/bound-table.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { parseExpression } from "../parse/parse.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import { bindData } from "./bind-data.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { bindQuery } from "./bind-query.js";
import { Binding } from "./binding.js";
import { coerceAssignment, resolveUnknown } from "./coerce.js";
import { Scope } from "./scope.js";
import { itemOf, rowColumnsOf } from "./stored-row.js";

/** `searchPath`: as in BindEnvironment. */
export function bindTable(table: TableDef, catalog: CatalogView, searchPath: readonly string[]): BoundTable {
  const binding = new Binding({ catalog, parameterTypes: [], searchPath }, bindQuery, bindData);
  const columns = rowColumnsOf(table, binding);
  const context = contextFor(table, columns, binding);
  return {
    columns,
    generated: table.columns.flatMap((column) => {
      if (!column.generatedSql) return [];
      const expr = bindExpr(parseExpression(column.generatedSql), context);
      return [{ columnId: column.id, expr: coerceAssignment(expr, column, binding, 0) }];
    }),
    indexes: bindIndexes(table, columns, binding),
  };
}

function contextFor(table: TableDef, columns: readonly OutputColumn[], binding: Binding): ExprContext {
  const scope = new Scope(null);
  scope.items = [itemOf(table, table.name, columns)];
  return { ...contextOf(binding, scope, "stored expressions"), subqueries: false };
}

const isComputed = (index: IndexDef) =>
  Boolean(index.where) || index.columns.some((column) => column.expression !== undefined);

/** Keys and predicates over `columns`, of the indexes that have expressions; parallel to the table's columns. */
export function bindIndexes(
  table: TableDef,
  columns: readonly OutputColumn[],
  binding: Binding,
): BoundTable["indexes"] {
  const context = contextFor(table, columns, binding);
  return new Map(
    table.indexes.filter(isComputed).map((index) => {
      const keys = index.columns.map(({ expression }): Expr | null =>
        expression === undefined ? null : resolveUnknown(bindExpr(parseExpression(expression.sql), context), binding),
      );
      const predicate = index.where ? bindBoolean(parseExpression(index.where), "WHERE", context) : null;
      return [index.id, { predicate, keys }];
    }),
  );
}
