/**
 * The interface of a rule. Each rule is in a file of its own, and needs no line elsewhere: scripts/discover.mjs finds
 * every exported constant of this type.
 */
import type { Expr } from "../expr/expr.js";
import { andOf } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { OutputColumn, Plan, ProjectPlan } from "../plan/plan.js";
import type { Cardinality } from "./cardinality.js";

export interface Rule {
  readonly name: string;
  /**
   * Where it runs among the rules, lowest first; two places, if it runs twice. No two rules share one.
   *
   * - 100: patterns of graphs become nodes that the other rules know.
   * - 200: subqueries become joins, so that what comes out of them goes through all other rules. Filters go down to the
   *   scans.
   * - 300: what need not be read goes: columns, too, because prices depend on whether an index has all that is read.
   * - 400: joins and accesses, chosen by price, once the filters are at the scans.
   * - 500: sorts, which may go once the access is chosen.
   * - 600: columns go again that nothing reads since an access took a condition over. What is then equal is shared.
   */
  readonly places: readonly number[];
  /** Runs once, when all others have been over the statement's parts, and sees them together. */
  readonly wholeStatement?: true;
  /** An equivalent plan; the same object when the rule finds nothing to do. */
  apply(plan: Plan, cardinality: Cardinality): Plan;
}

/** The plan with these conditions on its rows: itself for none. */
export function filtered(input: Plan, conditions: readonly Expr[]): Plan {
  const predicate = andOf(conditions);
  return predicate === null ? input : Object.freeze({ kind: "filter", input, predicate, columns: input.columns });
}

/** Every column of the projection is one of its input under the same id. */
export function passesColumns({ exprs, columns }: ProjectPlan): boolean {
  return exprs.every((expr, i) => expr.kind === "column" && expr.id === columns[i]!.id);
}

/** The plan with exactly these columns under their names; it has them, perhaps among others or in another order. */
export function withColumns(plan: Plan, columns: readonly OutputColumn[]): Plan {
  const same = plan.columns.length === columns.length && plan.columns.every(({ id }, i) => id === columns[i]!.id);
  if (!same) {
    const exprs = columns.map(columnExpr);
    return Object.freeze({ kind: "project", input: plan, exprs, columns });
  }
  return plan.columns.every(({ name }, i) => name === columns[i]!.name) ? plan : Object.freeze({ ...plan, columns });
}
