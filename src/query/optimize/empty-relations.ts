/**
 * What is left of a node when one of its inputs has no rows, or no pair of a join's rows can match. Called by
 * fold-constants.ts, bottom-up, so that a condition that is never true takes out all that depends on it.
 *
 *   Left Join (false)              Project (a.x, NULL)
 *     Scan a                 ⇒       Scan a
 *     Scan b
 */

import type { Expr } from "../expr/expr.js";
import { columnExpr } from "../plan/column-expr.js";
import { emptyOf } from "../plan/empty-plan.js";
import type { JoinPlan, OutputColumn, Plan, SetOpPlan } from "../plan/plan.js";

function isEmpty(plan: Plan): boolean {
  return plan.kind === "values" && plan.rows.length === 0;
}

/** The node without inputs that have no rows, where that makes it simpler. */
export function withoutEmpty(plan: Plan): Plan {
  switch (plan.kind) {
    case "filter":
    case "project":
    case "projectset":
    case "sort":
    case "distinct":
    case "window":
      return isEmpty(plan.input) ? emptyOf(plan) : plan;
    case "limit":
      return isEmpty(plan.input) || isZero(plan.limit) ? emptyOf(plan) : plan;
    case "aggregate":
      return isEmpty(plan.input) && plan.groups.length > 0 && plan.grouping === undefined ? emptyOf(plan) : plan;
    case "join":
      return withoutEmptySide(plan);
    case "setop":
      return withoutEmptyPart(plan);
    default:
      return plan;
  }
}

/** A join of which no two rows match: its right side might as well be empty. */
export function withoutPairs(plan: JoinPlan): Plan {
  switch (plan.type) {
    case "inner":
    case "semi":
      return emptyOf(plan);
    case "anti":
      return plan.left;
    case "left":
      return withNulls(plan.left, plan);
    case "right":
      return withNulls(plan.right, plan);
    default:
      return plan;
  }
}

function withoutEmptySide(plan: JoinPlan): Plan {
  const { left, right, type } = plan;
  if (isEmpty(right))
    return type === "right" ? emptyOf(plan) : type === "full" ? withNulls(left, plan) : withoutPairs(plan);
  if (!isEmpty(left)) return plan;
  return type === "right" || type === "full" ? withNulls(right, plan) : emptyOf(plan);
}

/** A join's rows of one side, the other side's columns NULL. */
function withNulls(side: Plan, join: JoinPlan): Plan {
  const own = new Set(side.columns.map(({ id }) => id));
  const exprs = join.columns.map((column): Expr => (own.has(column.id) ? columnExpr(column) : nullOf(column)));
  return Object.freeze({ kind: "project", input: side, exprs, columns: join.columns });
}

function nullOf({ type }: OutputColumn): Expr {
  return { kind: "const", type, value: null };
}

/** UNION ALL is its other part. The other operations still compare rows with each other. */
function withoutEmptyPart(plan: SetOpPlan): Plan {
  const { left, right, op, all, columns } = plan;
  if (op !== "union" && isEmpty(left)) return emptyOf(plan);
  if (op === "intersect" && isEmpty(right)) return emptyOf(plan);
  const rest = isEmpty(right) ? left : isEmpty(left) ? right : null;
  if (!all || rest === null) return plan;
  return Object.freeze({ kind: "project", input: rest, exprs: rest.columns.map(columnExpr), columns });
}

function isZero(limit: Expr | null): boolean {
  return limit?.kind === "const" && limit.value !== null && Number(limit.value) === 0;
}
