/** SET of UPDATE and of ON CONFLICT DO UPDATE. */
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { outerColumnsOf } from "../../query/plan/walk.js";
import type { AssignmentNode, AssignmentTarget } from "../parse/ast.js";
import type { ExprNode, SubqueryNode } from "../parse/ast-query.js";
import type { ExprContext } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import { columnExpr } from "./binding.js";
import { coerceAssignment } from "./coerce.js";
import { project } from "./source.js";
import { defaultOf, targetColumn } from "./stored-row.js";

export interface Assignment {
  readonly columnId: number;
  readonly expr: Expr;
}

/** Throws 42601 for a column that is set twice, 42804 for a value of the wrong type. */
export function bindAssignments(nodes: readonly AssignmentNode[], table: TableDef, context: ExprContext): Assignment[] {
  const seen = new Set<string>();
  return nodes.flatMap((node) =>
    valuesOf(node).map((value, i) => {
      const target = node.targets[i]!;
      if (seen.has(target.name)) {
        const message = `multiple assignments to same column "${target.name}"`;
        throw sqlError("42601", message, { position: target.position });
      }
      seen.add(target.name);
      const column = targetColumn(table, target);
      return { columnId: column.id, expr: assigned(value, column, target, context) };
    }),
  );
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
function valuesOf(node: AssignmentNode): Assigned[] {
  const { targets, value } = node;
  if (!node.multiple) return [value];
  if (value.kind === "row") {
    if (value.items.length !== targets.length) {
      throw sqlError("42601", "number of columns does not match number of values", { position: value.position });
    }
    return [...value.items];
  }
  if (value.kind === "subquery" && value.form === "scalar") {
    return targets.map((_, index) => ({ kind: "column of subquery", node: value, index, count: targets.length }));
  }
  const message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression";
  throw sqlError("0A000", message, { position: value.position });
}

function assigned(value: Assigned, column: ColumnDef, target: AssignmentTarget, context: ExprContext): Expr {
  const { binding } = context;
  if (value.kind === "default") return defaultOf(column, binding);
  if (column.identity === "always") {
    throw sqlError("428C9", `column "${column.name}" can only be updated to DEFAULT`, { position: target.position });
  }
  if (value.kind !== "column of subquery") {
    return coerceAssignment(bindExpr(value, context), column, binding, value.position || target.position);
  }
  const { node, index, count } = value;
  const source = binding.query(node.query, context.scope, { unknowns: "text", expected: null });
  if (source.columns.length !== count) {
    throw sqlError("42601", "number of columns does not match number of values", { position: node.position });
  }
  const chosen = source.columns[index]!;
  const { plan } = project(source.plan, [columnExpr(chosen)], [chosen.name], binding);
  const expr: Expr = Object.freeze({
    kind: "subquery",
    type: chosen.type,
    form: "scalar",
    plan,
    outer: [...outerColumnsOf(plan)],
    input: null,
    compare: null,
  });
  return coerceAssignment(expr, column, binding, node.position);
}
