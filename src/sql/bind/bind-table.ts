/** Binds the expressions that a table's definition holds: generated columns, keys and predicates of indexes. */

import type { CatalogView } from "../../catalog/catalog-view.js";
import type { TableDef } from "../../catalog/table.js";
import type { BoundTable, RowRules } from "../../query/plan/bound-table.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { bindData } from "./bind-data.js";
import { bindExpr } from "./bind-expr.js";
import { bindIndexExprs, storedContext } from "./bind-index-exprs.js";
import { bindMembership } from "./bind-membership.js";
import { bindQuery } from "./bind-query.js";
import { bindTriggerConditions } from "./bind-trigger.js";
import { Binding } from "./binding.js";
import { coerceAssignment } from "./coerce.js";
import { checkedAs } from "./domain-checks.js";
import { parseStored } from "./stored-names.js";
import { bindChecks, rowColumnsOf } from "./stored-row.js";

/** `searchPath`: as in BindEnvironment. */
export function bindTable(table: TableDef, catalog: CatalogView, searchPath: readonly string[]): BoundTable {
  const binding = new Binding({ catalog, parameterTypes: [], searchPath }, bindQuery, bindData);
  const columns = rowColumnsOf(table, binding);
  const context = storedContext(table, columns, binding);
  return {
    columns,
    generated: table.columns.flatMap((column) => {
      if (!column.generatedSql) return [];
      const expr = bindExpr(parseStored(column.generatedSql, table.schema), context);
      return [{ columnId: column.id, expr: coerceAssignment(expr, column, binding, 0) }];
    }),
    indexes: bindIndexExprs(table, columns, binding) ?? new Map(),
    triggers: bindTriggerConditions(table, binding),
    rules: () => bindRules(table, columns, binding),
  };
}

function bindRules(table: TableDef, columns: readonly OutputColumn[], binding: Binding): RowRules {
  // Domains may also be those of an array's elements or of a record's fields.
  const mayHaveDomain = columns.filter(
    ({ type }) => (type.element ?? type).user !== undefined || type.user !== undefined,
  );
  return {
    checks: bindChecks(table, columns, binding),
    domains: mayHaveDomain.map((column) => checkedAs(columnExpr(column), column.type, binding)),
    membership: bindMembership(table, columns, binding),
  };
}
