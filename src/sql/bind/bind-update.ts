/** UPDATE, with FROM and RETURNING. */
import { sqlError } from "../../protocol/errors.js";
import type { Plan, UpdatePlan } from "../../query/plan/plan.js";
import { joinColumns } from "../../query/plan/walk.js";
import type { UpdateStatement } from "../parse/ast.js";
import type { FromNode } from "../parse/ast-query.js";
import { bindAssignments } from "./bind-assignments.js";
import { contextOf } from "./bind-context.js";
import { bindFrom, lookUpTable } from "./bind-from.js";
import { heirsOf } from "./bind-heirs.js";
import { rowsOf } from "./bind-scan.js";
import { bindWhere } from "./bind-select.js";
import { bindWith } from "./bind-with.js";
import { type Binding, columnExpr } from "./binding.js";
import { itemOf } from "./row-item.js";
import { checkAliases, Scope } from "./scope.js";
import { filtered, project } from "./source.js";
import { bindChecks, bindReturning, checkChangeable, rowColumnsOf } from "./stored-row.js";

export function bindUpdate(node: UpdateStatement, binding: Binding, parent: Scope | null = null): UpdatePlan {
  const scope = new Scope(parent);
  bindWith(node.with, scope, binding);
  const target = bindChangedRows(node, node.from, scope, binding);
  const { table, rows } = target;
  const assignments = bindAssignments(node.assignments, table, contextOf(binding, scope, "UPDATE"));
  const where = bindWhere(node.where, scope, binding);
  const rowColumns = rowColumnsOf(table, binding);
  const stored = new Scope(scope);
  const name = node.table.alias?.name ?? table.name;
  const { tableOid } = rows.items[0]!;
  stored.items = [{ ...itemOf(table, name, rowColumns), tableOid: tableOid! }, ...scope.items.slice(1)];
  const { returning, columns } = bindReturning(node.returning, rowColumns, stored, binding);
  const heirs = heirsOf(table, rows, binding);
  return Object.freeze({
    kind: "update",
    table,
    input: target.input(where, binding),
    oldColumns: rows.columns,
    rowKey: rows.rowKey!,
    assignments,
    rowColumns,
    checks: bindChecks(table, rowColumns, binding),
    returning,
    ...(heirs !== undefined && { heirs }),
    columns,
  });
}

/**
 * The rows that UPDATE or DELETE changes: a scan with row keys, joined with FROM or USING. `scope.items` become the
 * table and what FROM brings. `input` puts the row key last.
 */
export function bindChangedRows(
  node: Pick<UpdateStatement, "table">,
  from: readonly FromNode[],
  scope: Scope,
  binding: Binding,
) {
  const table = checkChangeable(lookUpTable(node.table.name, binding));
  if (table.immutable) {
    throw sqlError("42809", `rows of immutable table "${table.name}" cannot be changed or deleted`, {
      position: node.table.name.position,
    });
  }
  const rows = rowsOf(table, { ...node.table, rowKey: true }, binding);
  const { plan: scan, columns: oldColumns } = rows;
  const others = bindFrom(from, scope, binding);
  scope.items = [...rows.items, ...scope.items];
  checkAliases(scope.items);
  return {
    table,
    rows,
    input(where: ReturnType<typeof bindWhere>, within: Binding): Plan {
      if (others === null) return filtered(scan, where);
      const columns = joinColumns("inner", scan, others);
      const join: Plan = Object.freeze({
        kind: "join",
        type: "inner",
        left: scan,
        right: others,
        condition: null,
        lateral: false,
        columns,
      });
      const rows = filtered(join, where);
      const keyLast = [...oldColumns, ...others.columns, ...scan.columns.slice(oldColumns.length)];
      return project(
        rows,
        keyLast.map(columnExpr),
        keyLast.map((column) => column.name),
        within,
      ).plan;
    },
  };
}
