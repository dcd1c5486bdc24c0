/**
 * Copies a limit to what is below it. No part of a UNION ALL, and no side of a left join all of whose rows stay, needs
 * to give more rows than the whole. An order is copied as well if that side has it. The limit above stays.
 *
 *   Limit 10                          Limit 10
 *     Sort (o.id)                       Sort (o.id)
 *       Left Join (c.id = o.cid)   ⇒      Left Join (c.id = o.cid)
 *         Scan o                            Limit 10
 *         Scan c                              Sort (o.id)
 *                                               Scan o
 *                                           Scan c
 */
import { INT8 } from "../../values/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { columnsOf, isVolatile, mapExpr, someExpr } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { LimitPlan, OutputColumn, Plan, ProjectPlan, SetOpPlan, SortKey } from "../plan/plan.js";
import { mapPlan, withChildren } from "../plan/walk.js";
import type { Rule } from "./rule.js";

export const pushDownLimits: Rule = {
  name: "push-down-limits",
  places: [360],
  apply: (plan) => mapPlan(plan, (node) => (node.kind === "limit" ? pushDown(node) : node)),
};

function pushDown(plan: LimitPlan): Plan {
  const rows = plan.ties === undefined ? rowsWanted(plan) : null;
  const input = rows === null ? null : within(plan.input, rows, null);
  return input === null ? plan : withChildren(plan, [input]);
}

/** Limit and offset together; null when that is not known before the statement runs. */
function rowsWanted({ limit, offset }: LimitPlan): Expr | null {
  if (limit === null || offset === null) return limit;
  if (limit.kind !== "const" || offset.kind !== "const" || limit.value === null || offset.value === null) return null;
  const rows = Number(limit.value) + Number(offset.value);
  return Number.isSafeInteger(rows) && rows >= 0 ? { kind: "const", type: INT8, value: rows } : null;
}

/** The plan, of which only the first rows by `keys` are wanted (null: any); null when nothing below can be limited. */
function within(plan: Plan, rows: Expr, keys: readonly SortKey[] | null): Plan | null {
  switch (plan.kind) {
    case "sort": {
      const input = keys === null ? within(plan.input, rows, plan.keys) : null;
      return input && withChildren(plan, [input]);
    }
    case "project": {
      const below = keys === null ? null : throughProject(plan, keys);
      if (keys !== null && below === null) return null;
      const input = within(plan.input, rows, below);
      return input && withChildren(plan, [input]);
    }
    case "join": {
      if (plan.type !== "left" || isLimited(plan.left)) return null;
      const own = new Set(plan.left.columns.map(({ id }) => id));
      if (keys !== null && !keys.every(({ expr }) => isOver(expr, own))) return null;
      return withChildren(plan, [limited(plan.left, rows, keys), plan.right]);
    }
    case "setop":
      return withinUnion(plan, rows, keys);
    default:
      return null;
  }
}

function withinUnion(plan: SetOpPlan, rows: Expr, keys: readonly SortKey[] | null): Plan | null {
  if (plan.op !== "union" || !plan.all) return null;
  const sides = [plan.left, plan.right].map((side) => {
    const own = keys && renamed(keys, plan.columns, side.columns);
    const input = within(side, rows, own) ?? side;
    return isLimited(input) ? input : limited(input, rows, own);
  });
  return withChildren(plan, sides);
}

/** Single rows and what has a limit already gain nothing. */
function isLimited(plan: Plan): boolean {
  if (plan.kind === "project") return isLimited(plan.input);
  if (plan.kind === "aggregate") return plan.groups.length === 0;
  return plan.kind === "limit" || plan.kind === "values";
}

function limited(input: Plan, rows: Expr, keys: readonly SortKey[] | null): Plan {
  const { columns } = input;
  const sorted: Plan = keys === null ? input : Object.freeze({ kind: "sort", input, keys, columns });
  return Object.freeze({ kind: "limit", input: sorted, limit: rows, offset: null, columns });
}

/** The keys in terms of what the projection reads; null when one is computed in a way that cannot be repeated. */
function throughProject(plan: ProjectPlan, keys: readonly SortKey[]): readonly SortKey[] | null {
  const meaning = new Map(plan.columns.map(({ id }, i) => [id, plan.exprs[i]!]));
  const read = keys.flatMap(({ expr }) => [...columnsOf(expr)]);
  const isUnmovable = (expr: Expr | undefined) =>
    expr === undefined || isVolatile(expr) || someExpr(expr, (node) => node.kind === "subquery");
  if (read.some((id) => isUnmovable(meaning.get(id)))) return null;
  const replace = (node: Expr) => (node.kind === "column" ? (meaning.get(node.id) ?? node) : node);
  return keys.map((key) => ({ ...key, expr: mapExpr(key.expr, replace) }));
}

/** Only over these columns. */
function isOver(expr: Expr, own: ReadonlySet<ColumnId>): boolean {
  const read = [...columnsOf(expr)];
  return read.every((id) => own.has(id)) && !isVolatile(expr) && !someExpr(expr, (node) => node.kind === "subquery");
}

/** The keys over the columns of one part of a set operation. */
function renamed(keys: readonly SortKey[], from: readonly OutputColumn[], to: readonly OutputColumn[]) {
  const position = new Map(from.map(({ id }, i) => [id, i]));
  const replace = (node: Expr): Expr => {
    const at = node.kind === "column" ? position.get(node.id) : undefined;
    return at === undefined ? node : columnExpr(to[at]!);
  };
  return keys.map((key) => ({ ...key, expr: mapExpr(key.expr, replace) }));
}
