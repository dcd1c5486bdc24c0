/**
 * Optimizes a plan: runs the rules over it, then over the plans of the subqueries that are left in its expressions.
 * The session calls it once per statement text; the result is cached.
 */

import type { StatisticsSource } from "../../catalog/statistics.js";
import { sqlError } from "../../protocol/errors.js";
import { JOINS_MAX, PLAN_COLUMNS_MAX, PLAN_DEPTH_MAX } from "../../protocol/limits.js";
import { tooManyJoins } from "../../protocol/size-errors.js";
import type { Plan } from "../plan/plan.js";
import { childrenOf, mapPlan, mapSubqueries } from "../plan/walk.js";
import { Cardinality } from "./cardinality.js";
import { deferConstants } from "./deferred-constants.js";
import { type AnswersAtOnce, waitsFor } from "./deferred-parts.js";
import { liftDeferred } from "./lift-deferred.js";
import type { Rule } from "./rule.js";
import { FOUND_RULES } from "./rules.found.js";

/** In the order of their places (rule.ts). A rule with two places runs twice. */
export const RULES: readonly Rule[] = FOUND_RULES.flatMap((rule) => rule.places.map((place) => ({ rule, place })))
  .sort((a, b) => a.place - b.place)
  .map(({ rule }) => rule);

export interface OptimizeOptions {
  readonly rules?: readonly Rule[];
  /** What the estimates of rows are made from; absent: guesses. */
  readonly statistics?: StatisticsSource;
  /** Of functions that may have to be waited for; absent: all that may be applied answer at once. */
  readonly answersAtOnce?: AnswersAtOnce;
  /** Called after each rule that changed the plan. */
  readonly trace?: (rule: string, plan: Plan) => void;
}

/**
 * Throws 54001 for what would take the rules longer than others may wait: each looks at every node of the plan, at the
 * columns of most, and goes down by recursion.
 */
function checkSize(plan: Plan): void {
  let joins = 0;
  let columns = 0;
  const visit = (node: Plan, depth: number): void => {
    columns += node.columns.length;
    if (node.kind === "join") joins++;
    else if (node.kind === "match") joins += node.nodes.length + node.edges.length;
    if (joins > JOINS_MAX) throw tooManyJoins();
    if (depth > PLAN_DEPTH_MAX || columns > PLAN_COLUMNS_MAX) {
      throw sqlError("54001", "statement too complex", {
        hint: "Use several statements, or fewer clauses and columns.",
      });
    }
    for (const child of childrenOf(node)) visit(child, depth + 1);
  };
  visit(plan, 1);
}

export function optimize(plan: Plan, options: OptimizeOptions = {}): Plan {
  checkSize(plan);
  const rules = options.rules ?? RULES;
  const waits = waitsFor(options.answersAtOnce ?? (() => true));
  const cardinality = new Cardinality(options.statistics ?? null);
  const parts = rules.filter((rule) => rule.wholeStatement === undefined);
  const whole = rules.filter((rule) => rule.wholeStatement === true);
  const optimized = optimizeParts(liftDeferred(plan, waits), parts, options, cardinality);
  return applied(whole, deferConstants(optimized, waits), options, cardinality);
}

function optimizeParts(plan: Plan, rules: readonly Rule[], options: OptimizeOptions, cardinality: Cardinality): Plan {
  const current = applied(rules, plan, options, cardinality);
  return mapPlan(current, (node) =>
    mapSubqueries(node, (subquery) => optimizeParts(subquery, rules, options, cardinality)),
  );
}

function applied(rules: readonly Rule[], plan: Plan, { trace }: OptimizeOptions, cardinality: Cardinality): Plan {
  cardinality.learn(plan);
  let current = plan;
  for (const rule of rules) {
    const next = rule.apply(current, cardinality);
    if (next !== current) trace?.(rule.name, next);
    current = next;
  }
  return current;
}
