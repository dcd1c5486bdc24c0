/**
 * Conditions that a join's equalities imply for one side if the other is known: `a.x = b.y` and `a.x = 5` imply `b.y =
 * 5`. Likewise `a.x IN (5, 6)`, which may find its rows by a key. PostgreSQL does the same with its equivalence
 * classes.
 */
import type { CallExpr, ColumnId, Expr } from "../expr/expr.js";
import { exprEquals, isConstant } from "../expr/walk.js";

/**
 * New conditions on the columns `side`, from equalities of the join and conditions on its other side. `given` are
 * those that the side has already.
 */
export function derivedConditions(
  equalities: readonly Expr[],
  known: readonly Expr[],
  side: ReadonlySet<ColumnId>,
  given: readonly Expr[],
): Expr[] {
  const derived: Expr[] = [];
  for (const equality of equalities) {
    const pair = columnPair(equality, side);
    if (pair === null) continue;
    for (const condition of known) {
      const moved = movedTo(pair.inside, pair.outside.id, condition);
      if (moved !== null && ![...given, ...derived].some((other) => exprEquals(other, moved))) derived.push(moved);
    }
  }
  return derived;
}

type Column = Extract<Expr, { kind: "column" }>;

function isEquality(expr: Expr): expr is CallExpr {
  return expr.kind === "call" && expr.fn.operator === "=" && expr.args.length === 2;
}

/** `inside = outside`, two columns of the same type, one of the side and one not. */
function columnPair(equality: Expr, side: ReadonlySet<ColumnId>): { inside: Column; outside: Column } | null {
  if (!isEquality(equality)) return null;
  const [a, b] = equality.args as [Expr, Expr];
  if (a.kind !== "column" || b.kind !== "column" || a.type !== b.type || side.has(a.id) === side.has(b.id)) return null;
  return side.has(a.id) ? { inside: a, outside: b } : { inside: b, outside: a };
}

/** `from = constant`, `from IN (constants)` or `from = ANY (constant)` as a condition on another column. */
function movedTo(to: Column, from: ColumnId, condition: Expr): Expr | null {
  if (condition.kind === "in" && !condition.negated && condition.equals.operator === "=") {
    const { input, items } = condition;
    const moves = input.kind === "column" && input.id === from && items.every(isConstant);
    return moves ? Object.freeze({ ...condition, input: to }) : null;
  }
  if (condition.kind === "call" && condition.fn.anyOf?.operator === "=") {
    const [input, array] = condition.args as [Expr, Expr];
    const moves = input.kind === "column" && input.id === from && isConstant(array);
    return moves ? Object.freeze({ ...condition, args: [to, array] }) : null;
  }
  if (!isEquality(condition)) return null;
  const [a, b] = condition.args as [Expr, Expr];
  if (a.kind === "column" && a.id === from && isConstant(b)) return Object.freeze({ ...condition, args: [to, b] });
  if (b.kind === "column" && b.id === from && isConstant(a)) return Object.freeze({ ...condition, args: [a, to] });
  return null;
}
