/** What a rule is. Each rule stands in a file of its own; optimize.ts lists them in the order in which they run. */
import type { Expr } from "../expr/expr.js";
import { andOf } from "../expr/walk.js";
import type { Plan } from "../plan/plan.js";

export interface Rule {
  readonly name: string;
  /** An equivalent plan; the same object when the rule finds nothing to do. */
  apply(plan: Plan): Plan;
}

/** The plan with these conditions on its rows: itself for none. */
export function filtered(input: Plan, conditions: readonly Expr[]): Plan {
  const predicate = andOf(conditions);
  return predicate === null ? input : Object.freeze({ kind: "filter", input, predicate, columns: input.columns });
}
