/**
 * Recognises joins on pairs of similar embeddings. Such joins have an operator of their own (exec/similar-join.ts);
 * explain.ts names them.
 */
import { similarityCondition } from "../expr/cypher/similarity.js";
import type { Expr } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts } from "../expr/walk.js";
import type { JoinPlan, Plan } from "./plan.js";
import { isVolatilePlan } from "./walk.js";

export interface SimilarPairs {
  /** Embeddings (variant), each over its own side. */
  readonly left: Expr;
  readonly right: Expr;
  /** Over the left side or nothing. */
  readonly threshold: Expr;
  /** `similarity(left, right) > threshold`, or >=. */
  readonly condition: Expr;
  /** The join's other conditions. */
  readonly rest: Expr | null;
}

/** Null for any other join. The right side is read several times, so it must give the same rows each time. */
export function similarPairs({ type, lateral, left, right, condition }: JoinPlan): SimilarPairs | null {
  if (lateral || type === "right" || type === "full") return null;
  const conditions = conjuncts(condition);
  for (const each of conditions) {
    const similar = similarityCondition(each);
    if (similar === null || readsAny(similar.threshold, right)) continue;
    const [a, b] = similar.sides;
    const turned = readsAny(a, right);
    const [ofLeft, ofRight] = turned ? [b, a] : [a, b];
    if (readsAny(ofLeft, right) || readsAny(ofRight, left) || !readsAny(ofRight, right)) continue;
    if (isVolatilePlan(right)) return null;
    const rest = andOf(conditions.filter((other) => other !== each));
    return { left: ofLeft, right: ofRight, threshold: similar.threshold, condition: each, rest };
  }
  return null;
}

function readsAny(expr: Expr, { columns }: Plan): boolean {
  const read = columnsOf(expr);
  return columns.some(({ id }) => read.has(id));
}
