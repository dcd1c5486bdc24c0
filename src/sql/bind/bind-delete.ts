/** DELETE, with USING and RETURNING. */
import type { DeletePlan } from "../../query/plan/plan.js";
import type { DeleteStatement } from "../parse/ast.js";
import { bindWhere } from "./bind-select.js";
import { bindChangedRows } from "./bind-update.js";
import { bindWith } from "./bind-with.js";
import type { Binding } from "./binding.js";
import { Scope } from "./scope.js";
import { bindReturning } from "./stored-row.js";

export function bindDelete(node: DeleteStatement, binding: Binding, parent: Scope | null = null): DeletePlan {
  const scope = new Scope(parent);
  bindWith(node.with, scope, binding);
  const target = bindChangedRows(node, node.using, scope, binding);
  const { oldColumns, scan } = target;
  const input = target.input(bindWhere(node.where, scope, binding), binding);
  const { returning, columns } = bindReturning(node.returning, oldColumns, scope, binding);
  return Object.freeze({
    kind: "delete",
    table: scan.table,
    input,
    rowKey: scan.rowKey!,
    oldColumns,
    returning,
    columns,
  });
}
