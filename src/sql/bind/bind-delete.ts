/** DELETE, with USING and RETURNING. */
import type { DeletePlan } from "../../query/plan/change-plans.js";
import type { DeleteStatement } from "../parse/ast.js";
import { heirsOf } from "./bind-heirs.js";
import { bindChangedRows, bindChangedWhere } from "./bind-update.js";
import { bindWith } from "./bind-with.js";
import type { Binding } from "./binding.js";
import { requireChanges, requireReads } from "./changed-rights.js";
import { Scope } from "./scope.js";
import { addVersions, bindReturning, noRow } from "./stored-row.js";

export function bindDelete(node: DeleteStatement, binding: Binding, parent: Scope | null = null): DeletePlan {
  const scope = new Scope(parent);
  bindWith(node.with, scope, binding);
  const target = bindChangedRows(node, "delete", node.using, scope, binding);
  const { relation, rows } = target;
  const where = bindChangedWhere(node.where, target, scope, binding);
  const input = target.input(where, binding);
  requireChanges(relation, "delete", null, binding);
  const before = scope.items[0]!;
  if (node.returning !== null) addVersions(scope, node.returningNames, before, noRow(before));
  const { returning, columns } = bindReturning(node.returning, rows.columns, scope, binding);
  requireReads(relation, rows.columns, [where, ...(returning?.exprs ?? [])], binding);
  const heirs = heirsOf(relation, rows, binding);
  return Object.freeze({
    kind: "delete",
    table: relation.table,
    ...(relation.instead !== undefined && { instead: true as const }),
    input,
    rowKey: rows.rowKey!,
    oldColumns: rows.columns,
    ...(heirs !== undefined && { heirs }),
    returning,
    columns,
  });
}
