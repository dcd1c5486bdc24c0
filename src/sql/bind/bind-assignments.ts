/** SET of UPDATE and of ON CONFLICT DO UPDATE. */
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { outerColumnsOf } from "../../query/plan/walk.js";
import type { AssignmentNode, AssignmentTarget } from "../parse/ast.js";
import type { ExprNode, SubqueryNode } from "../parse/ast-query.js";
import { startOf } from "../parse/expr-start.js";
import type { ExprContext } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import { type Part, partsOf, withPart } from "./bind-part-assignment.js";
import { expandStars } from "./bind-row.js";
import type { Binding } from "./binding.js";
import { coerceAssignment } from "./coerce.js";
import { project } from "./source.js";
import { defaultOf, onUpdateOf, targetColumn } from "./stored-row.js";

export interface Assignment {
  readonly columnId: number;
  readonly expr: Expr;
}

/**
 * Throws 42601 for a column that is set twice, 42804 for a value of the wrong type. Parts of one column (`a[1] = …,
 * a[2] = …`) are set one after the other.
 */
export function bindAssignments(nodes: readonly AssignmentNode[], table: TableDef, context: ExprContext): Assignment[] {
  const made = new Map<number, { readonly expr: Expr; readonly inParts: boolean }>();
  for (const node of nodes) {
    valuesOf(node, context).forEach((value, i) => {
      const target = node.targets[i]!;
      const column = targetColumn(table, target);
      const before = made.get(column.id);
      const parts = partsOf(target);
      if (before !== undefined && !(before.inParts && parts.length > 0)) {
        const message = `multiple assignments to same column "${target.name}"`;
        throw sqlError("42601", message, { position: target.position });
      }
      const current = parts.length === 0 ? null : (before?.expr ?? currentValue(column, table, context));
      const expr = assigned(value, column, table, target, current, parts, context);
      made.set(column.id, { expr, inParts: parts.length > 0 });
    });
  }
  return Array.from(made, ([columnId, { expr }]) => ({ columnId, expr }));
}

/**
 * With those of columns that have ON UPDATE and are given no value. @param table whose rows are stored, where the
 * statement names a view.
 */
export function withOnUpdate(assignments: readonly Assignment[], table: TableDef, binding: Binding): Assignment[] {
  const set = new Set(assignments.map(({ columnId }) => columnId));
  const more = table.columns.filter((column) => column.onUpdateSql && !set.has(column.id));
  return [...assignments, ...more.map((column) => ({ columnId: column.id, expr: onUpdateOf(column, table, binding) }))];
}

/** What the column holds before: the statement's table is the first of its relations. */
function currentValue(column: ColumnDef, table: TableDef, context: ExprContext): Expr {
  const item = context.scope.items.find((other) => other.table === table)!;
  return item.columns[table.columns.indexOf(column)]!.expr;
}

type Assigned =
  | ExprNode
  | {
      readonly kind: "column of subquery";
      readonly node: SubqueryNode;
      readonly index: number;
      readonly count: number;
    };

/** One value per target. */
function valuesOf(node: AssignmentNode, context: ExprContext): Assigned[] {
  const { targets, value } = node;
  if (!node.multiple) return [value];
  if (value.kind === "row") {
    const items = expandStars(value.items, context, bindExpr);
    if (items.length !== targets.length) {
      throw sqlError("42601", "number of columns does not match number of values", { position: value.position });
    }
    return [...items];
  }
  if (value.kind === "subquery" && value.form === "scalar") {
    return targets.map((_, index) => ({ kind: "column of subquery", node: value, index, count: targets.length }));
  }
  const message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression";
  throw sqlError("0A000", message, { position: value.position });
}

/** `current` and `parts`: for a part of the column, what it is a part of. */
function assigned(
  value: Assigned,
  column: ColumnDef,
  table: TableDef,
  target: AssignmentTarget,
  current: Expr | null,
  parts: readonly Part[],
  context: ExprContext,
): Expr {
  const { binding } = context;
  if (value.kind === "default") {
    if (current === null) return defaultOf(column, table, binding);
    const what = parts[0]!.kind === "field" ? "a subfield" : "an array element";
    throw sqlError("0A000", `cannot set ${what} to DEFAULT`, { position: target.position });
  }
  if (column.identity === "always" || column.generatedSql) {
    throw sqlError("428C9", `column "${column.name}" can only be updated to DEFAULT`, {
      position: target.position,
      detail: `Column "${column.name}" is ${column.generatedSql ? "a generated column" : "an identity column defined as GENERATED ALWAYS"}.`,
    });
  }
  const position = value.kind === "column of subquery" ? value.node.position : startOf(value) || target.position;
  const expr = value.kind === "column of subquery" ? columnOf(value, context) : bindExpr(value, context);
  if (current === null) return coerceAssignment(expr, column, binding, position);
  return withPart(current, { target, parts, value: expr, position }, context, bindExpr);
}

/** One column of `(a, b) = (SELECT …)`. */
function columnOf(
  { node, index, count }: Extract<Assigned, { kind: "column of subquery" }>,
  context: ExprContext,
): Expr {
  const { binding } = context;
  const source = binding.query(node.query, context.scope, { unknowns: "text", expected: null });
  if (source.columns.length !== count) {
    throw sqlError("42601", "number of columns does not match number of values", { position: node.position });
  }
  const chosen = source.columns[index]!;
  const { plan } = project(source.plan, [columnExpr(chosen)], [chosen.name], binding);
  return Object.freeze({
    kind: "subquery",
    type: chosen.type,
    form: "scalar",
    plan,
    outer: [...outerColumnsOf(plan)],
    input: null,
    compare: null,
  });
}
