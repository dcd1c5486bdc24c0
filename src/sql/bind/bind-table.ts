/** Binds the expressions that a table's definition holds: generated columns, keys and predicates of indexes. */

import type { CatalogView } from "../../catalog/catalog-view.js";
import type { TableDef } from "../../catalog/table.js";
import type { BoundTable } from "../../query/plan/bound-table.js";
import { parseExpression } from "../parse/parse.js";
import { bindData } from "./bind-data.js";
import { bindExpr } from "./bind-expr.js";
import { bindIndexExprs, storedContext } from "./bind-index-exprs.js";
import { bindQuery } from "./bind-query.js";
import { bindTriggerConditions } from "./bind-trigger.js";
import { Binding } from "./binding.js";
import { coerceAssignment } from "./coerce.js";
import { rowColumnsOf } from "./stored-row.js";

/** `searchPath`: as in BindEnvironment. */
export function bindTable(table: TableDef, catalog: CatalogView, searchPath: readonly string[]): BoundTable {
  const binding = new Binding({ catalog, parameterTypes: [], searchPath }, bindQuery, bindData);
  const columns = rowColumnsOf(table, binding);
  const context = storedContext(table, columns, binding);
  return {
    columns,
    generated: table.columns.flatMap((column) => {
      if (!column.generatedSql) return [];
      const expr = bindExpr(parseExpression(column.generatedSql), context);
      return [{ columnId: column.id, expr: coerceAssignment(expr, column, binding, 0) }];
    }),
    indexes: bindIndexExprs(table, columns, binding) ?? new Map(),
    triggers: bindTriggerConditions(table, binding),
  };
}
