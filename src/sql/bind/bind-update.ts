/** UPDATE, with FROM and RETURNING. */
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import type { UpdatePlan } from "../../query/plan/change-plans.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { joinColumns } from "../../query/plan/walk.js";
import type { UpdateStatement } from "../parse/ast.js";
import type { FromNode } from "../parse/ast-query.js";
import { bindAssignments, withOnUpdate } from "./bind-assignments.js";
import { contextOf } from "./bind-context.js";
import { bindFrom } from "./bind-from.js";
import { heirsOf } from "./bind-heirs.js";
import { partitioningOf } from "./bind-partition-tree.js";
import { rowsOf } from "./bind-scan.js";
import { bindWhere } from "./bind-select.js";
import { bindWith } from "./bind-with.js";
import type { Binding } from "./binding.js";
import { changedRelation, ownItems, shownRows } from "./changed-relation.js";
import {
  foundRows,
  namesColumns,
  requireChanges,
  requireReads,
  requireViewed,
  withPolicies,
} from "./changed-rights.js";
import { bindCurrentOf } from "./current-of.js";
import { checkReturned, rowsOfView } from "./instead-of.js";
import { checkAliases, Scope } from "./scope.js";
import { filtered, project } from "./source.js";
import { addVersions, bindChecks, bindReturning, inOrder, rowColumnsOf, waitingGenerated } from "./stored-row.js";
import { noPlace, oneRowPerPlace, storedColumns } from "./system-columns.js";

export function bindUpdate(node: UpdateStatement, binding: Binding, parent: Scope | null = null): UpdatePlan {
  const scope = new Scope(parent);
  bindWith(node.with, scope, binding);
  const target = bindChangedRows(node, "update", node.from, scope, binding);
  const { rows, reads } = target;
  const relation = withPolicies(target.relation, "update", reads, binding);
  const { table, face } = relation;
  for (const { targets } of node.assignments) for (const each of targets) relation.changedColumn(each, "update");
  const given = bindAssignments(node.assignments, face, contextOf(binding, scope, "UPDATE"));
  const assignments = withOnUpdate(given, table, binding);
  const where = bindChangedWhere(node.where, target, scope, binding);
  const assigned = given.map(({ columnId }) => columnId);
  requireChanges(relation, "update", assigned, binding);
  requireReads(relation, rows.columns, [where, ...given.map(({ expr }) => expr)], binding);
  const rowColumns = rowColumnsOf(table, binding);
  const stored = new Scope(scope);
  const after = relation.over(node.table.alias?.name ?? face.name, rowColumns, () => rows.rowKey!);
  const { tableOid, name } = scope.items[0]!;
  const hidden = storedColumns(relation, name!, rowColumns, () => rows.rowKey, binding);
  stored.items = [{ ...after.item, ...(tableOid && { tableOid }), ...hidden }, ...scope.items.slice(1)];
  const before = storedColumns(relation, name!, rows.columns, () => noPlace("OLD in UPDATE"), binding);
  const { columns: old } = scope.items[0]!;
  addVersions(stored, node.returningNames, { columns: old, ...before }, { ...after.item, ...hidden });
  const { returning, columns } = bindReturning(node.returning, rowColumns, stored, binding);
  for (const columns of [rowColumns, rows.columns]) requireReads(relation, columns, returning?.exprs ?? [], binding);
  const heirs = heirsOf(relation, rows, binding);
  return Object.freeze({
    kind: "update",
    table,
    ...(relation.instead !== undefined && { instead: true as const }),
    input: target.input(where, binding),
    oldColumns: rows.columns,
    rowKey: rows.rowKey!,
    assignments,
    rowColumns,
    checks: inOrder(after.checks, bindChecks(table, rowColumns, binding)),
    returning,
    ...(heirs !== undefined && { heirs }),
    ...waitingGenerated(table, rowColumns, binding),
    ...partitioningOf(
      table,
      rowColumns,
      binding,
      assignments.map(({ columnId }) => columnId),
    ),
    ...(table.partitionKey !== undefined && tableOid?.kind === "column" && { tableOid: tableOid.id }),
    columns,
  });
}

/** The condition on the rows. */
export function bindChangedWhere(
  where: UpdateStatement["where"],
  { relation, rows }: Pick<ReturnType<typeof bindChangedRows>, "relation" | "rows">,
  scope: Scope,
  binding: Binding,
): Expr | null {
  if (where?.kind === "current of") return bindCurrentOf(where, relation, rows, binding);
  return bindWhere(where, scope, binding);
}

/**
 * The rows that UPDATE or DELETE changes: a scan with row keys, joined with FROM or USING. `scope.items` become the
 * table and what FROM brings. `input` puts the row key last.
 */
export function bindChangedRows(
  node: Pick<UpdateStatement, "table" | "returning" | "where"> & {
    readonly assignments?: UpdateStatement["assignments"];
  },
  command: "update" | "delete",
  from: readonly FromNode[],
  scope: Scope,
  binding: Binding,
) {
  const relation = changedRelation(node.table.name, command, binding);
  const { table, face, reference } = relation;
  if (relation.instead !== undefined) checkReturned(table, command, node.returning);
  if (table.immutable) {
    throw sqlError("42809", `rows of immutable table "${table.name}" cannot be changed or deleted`, {
      position: node.table.name.position,
    });
  }
  const isTable = face === table;
  const { alias } = node.table;
  const rows =
    relation.instead === undefined || relation.instead === "rules"
      ? rowsOf(table, { name: reference, alias, rowKey: true }, binding)
      : rowsOfView(relation.instead, table, alias, binding);
  const { columns: oldColumns } = rows;
  const before = relation.over(node.table.alias?.name ?? face.name, oldColumns, () => rows.rowKey!);
  const reads = [node.where, node.returning, node.assignments].some(namesColumns);
  if (reads) requireViewed(relation, oldColumns, binding);
  const found = foundRows(relation, rows, command, reads, binding);
  const scan = shownRows(before, found);
  const others = bindFrom(from, scope, binding);
  scope.items = [...ownItems(relation, isTable ? rows.items : [before.item]), ...scope.items];
  checkAliases(scope.items);
  return {
    relation,
    rows,
    reads,
    input(where: ReturnType<typeof bindWhere>, within: Binding): Plan {
      const certain = node.where?.kind === "current of" ? null : oneRowPerPlace(table, where, rows.rowKey!);
      if (others === null) return filtered(filtered(scan, where), certain);
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
      const joined = filtered(filtered(join, where), certain);
      const keyLast = [...oldColumns, ...others.columns, ...scan.columns.slice(oldColumns.length)];
      return project(
        joined,
        keyLast.map(columnExpr),
        keyLast.map((column) => column.name),
        within,
      ).plan;
    },
  };
}
