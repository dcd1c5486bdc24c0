/** A row of a table as names refer to it, whatever plan gives it. */
import type { TableDef } from "../../catalog/table.js";
import { oidOfId } from "../../query/expr/types.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { OID } from "../../values/values.js";
import { constant } from "./coerce.js";
import type { ScopeItem } from "./scope.js";

export function itemOf(table: TableDef, name: string, columns: readonly OutputColumn[]): ScopeItem {
  return {
    name,
    schema: name === table.name ? table.schema : null,
    columns: columns.map((column) => ({ name: column.name, expr: columnExpr(column) })),
    table,
    tableOid: constant(OID, oidOfId(table.id)),
    unqualified: true,
    qualifiable: true,
  };
}
