/**
 * WHERE CURRENT OF: the row that a cursor stands on. A cursor's plan gives, after its own columns, what tells the rows
 * of its tables: the primary key, or the key in storage. To read those keys of all rows takes longer, so they are read
 * where rows are locked, and where tables inherit. UPDATE and DELETE look for a row that has the same. So the row is
 * found again after it was changed, unless its primary key was.
 */
import { sqlError } from "../../protocol/errors.js";
import { Capability, need } from "../../query/expr/capability.js";
import type { EvalContext, Expr, ScalarFunction } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { BYTEA, INT4, type SqlType, TEXT, type Value } from "../../values/values.js";
import type { CurrentOfNode } from "../parse/ast-query.js";
import { applyOperator } from "./bind-comparison.js";
import type { TableRows } from "./bind-scan.js";
import type { Binding } from "./binding.js";
import type { ChangedRelation } from "./changed-relation.js";
import { constant } from "./coerce.js";
import { ROW_KEY } from "./cursor-tables.js";
import { logic } from "./logic.js";
import { keyTelling } from "./note-cursor-table.js";

export interface CurrentRows {
  /** A part of what tells the row of a table that the cursor stands on. Throws 34000, 24000. */
  partOf(cursor: string, table: string, tableId: number, part: number): Value;
}

/** Registered by the session. */
export const CURRENT_ROWS = new Capability<CurrentRows>("Cursors need a session; there is none here.");

/** The condition of UPDATE and DELETE. Throws 0A000 for a view. */
export function bindCurrentOf(
  { cursor, position }: CurrentOfNode,
  { table, face, instead }: ChangedRelation,
  rows: TableRows,
  binding: Binding,
): Expr {
  if (face !== table || instead !== undefined) {
    throw sqlError("0A000", "WHERE CURRENT OF on a view is not implemented", { position });
  }
  // A variable of PL/pgSQL holds the name.
  const name = binding.env.variables?.find([cursor], position)?.expr ?? constant(TEXT, cursor);
  const key = keyTelling(table, rows);
  const parts: readonly (readonly [part: number, column: Expr])[] =
    key.length === 0
      ? [[ROW_KEY, { kind: "column", id: rows.rowKey!, type: BYTEA, name: "row key" }]]
      : key.map((id) => [id, columnExpr(rows.columns[table.columns.findIndex((column) => column.id === id)]!)]);
  const conditions = parts.map(([part, column]) => {
    const args = [name, constant(TEXT, table.name), constant(INT4, table.id), constant(INT4, part)];
    const current: Expr = { kind: "call", type: column.type, fn: currentPart(column.type), args };
    return applyOperator("=", column, current, binding, position);
  });
  return conditions.length === 1 ? conditions[0]! : logic("and", conditions);
}

function currentPart(type: SqlType): ScalarFunction {
  return Object.freeze({
    name: "current_of",
    args: [TEXT, TEXT, INT4, INT4],
    returns: type,
    volatility: "stable",
    strict: false,
    needsContext: true,
    apply: (context: EvalContext, ...[cursor, table, tableId, part]: Value[]) => {
      if (cursor === null) throw sqlError("22004", "the cursor variable of WHERE CURRENT OF is null");
      return need(context, CURRENT_ROWS).partOf(cursor as string, table as string, tableId as number, part as number);
    },
  });
}
