/** Relationships that a walk may not use: ids and lists that the input's rows give. For expand.ts and its kin. */
import type { Value } from "../../values/values.js";
import { GraphPath, GraphRelationship } from "../../values/variant.js";
import { compileExpr, type SlotOf } from "../expr/compile.js";
import type { Batch, EvalContext, Evaluate, Expr } from "../expr/expr.js";

export type ExcludedOf = (batch: Batch, row: number, context: EvalContext) => readonly number[];

const NONE: readonly number[] = [];

export function compileExcluded(exprs: readonly Expr[], slotOf: SlotOf): ExcludedOf {
  if (exprs.length === 0) return () => NONE;
  const evaluate: readonly Evaluate[] = exprs.map((expr) => compileExpr(expr, slotOf));
  return (batch, row, context) => {
    const ids: number[] = [];
    for (const one of evaluate) addIds(one(batch, row, context), ids);
    return ids;
  };
}

function addIds(value: Value, ids: number[]): void {
  if (typeof value === "number") ids.push(value);
  else if (value instanceof GraphRelationship) ids.push(value.id);
  else if (value instanceof GraphPath) for (const { id } of value.relationships) ids.push(id);
  else if (Array.isArray(value)) for (const item of value) addIds(item as Value, ids);
}
