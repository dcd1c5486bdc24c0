/** The rows NEW and OLD in the text of rules. */
import { permissionDenied } from "../../catalog/rights.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import type { ColumnNode } from "../parse/ast-query.js";
import type { BindEnvironment } from "./bound-statement.js";
import { checkedRights } from "./relation-rights.js";

type Row = "old" | "new";

export function isOfRow(node: object): node is ColumnNode {
  return (
    "kind" in node &&
    node.kind === "column" &&
    "path" in node &&
    /^(?:old|new)$/.test((node as ColumnNode).path[0] ?? "")
  );
}

/** The names of columns, and of rows, that begin with NEW or OLD. */
export function* namesOfRows(node: unknown): Iterable<ColumnNode> {
  if (typeof node !== "object" || node === null) return;
  if (isOfRow(node)) yield node;
  for (const child of Object.values(node)) yield* namesOfRows(child);
}

/** Whether names of columns, or of rows, begin with NEW or OLD. */
export function namesRow(node: unknown, row?: Row): boolean {
  for (const { path } of namesOfRows(node)) if (row === undefined || path[0] === row) return true;
  return false;
}

/**
 * Throws 42501 unless the owner of a rule's relation, whose rights the actions run with, may read the columns of NEW
 * and OLD that they name. As in PostgreSQL, the privilege is needed although the rows are at hand.
 */
export function requireReadableRow(
  relation: Pick<TableDef, "id" | "name">,
  columns: readonly Pick<ColumnDef, "id" | "name">[],
  actions: unknown,
  env: BindEnvironment,
): void {
  const may = checkedRights(env)?.columns(relation.id, "r") ?? "all";
  if (may === "all") return;
  for (const { path } of namesOfRows(actions)) {
    // The row as a whole needs them all.
    const named = path.length === 1 ? columns : columns.filter(({ name }) => name === path[1]);
    if (!named.every(({ id }) => may.has(id))) throw permissionDenied("table", relation.name);
  }
}
