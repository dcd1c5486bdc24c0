/**
 * Expressions of Cypher's indexes over the columns of a graph's table: keys are `property(properties, 'name')`, the
 * predicate tests the label or type. They are made from the definition, not from its SQL text, so that they are
 * recognised as equal to the conditions that cypher/bind makes. Called by sql/bind for writers, and by the rule that
 * plans patterns.
 */
import { EDGE_COLUMN, graphDefOf, NODE_COLUMN } from "../../catalog/graph.js";
import type { TableDef } from "../../catalog/table.js";
import { TEXT } from "../../values/values.js";
import { HAS_LABEL, PROPERTY } from "../expr/cypher/entities.js";
import type { Expr, ScalarFunction } from "../expr/expr.js";
import { resolveOperator } from "../expr/resolve.js";
import { columnExpr } from "./column-expr.js";
import type { BoundIndex, IndexExprs } from "./index-exprs.js";
import type { OutputColumn } from "./plan.js";

/** `columnOf`: the column that has the table's column of that id; null: it is not among those. */
export function graphIndexExprs(
  table: TableDef,
  columnOf: (columnId: number) => OutputColumn | null,
): IndexExprs | null {
  const def = graphDefOf(table);
  if (def === null) return null;
  const isNodes = def.of === "nodes";
  const properties = columnOf(isNodes ? NODE_COLUMN.properties : EDGE_COLUMN.properties);
  const kind = columnOf(isNodes ? NODE_COLUMN.labels : EDGE_COLUMN.type);
  if (properties === null || kind === null) return null;
  const test = isNodes ? HAS_LABEL : resolveOperator("=", TEXT, TEXT).fn;
  const exprs = new Map<number, BoundIndex>();
  for (const { indexId, label, properties: names } of [...(def.indexes ?? []), ...(def.constraints ?? [])]) {
    if (indexId === null) continue;
    exprs.set(indexId, {
      predicate: call(test, columnExpr(kind), text(label)),
      keys: names.map((name) => call(PROPERTY, columnExpr(properties), text(name))),
    });
  }
  return exprs.size === 0 ? null : exprs;
}

function call(fn: ScalarFunction, ...args: Expr[]): Expr {
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}

function text(value: string): Expr {
  return Object.freeze({ kind: "const", type: TEXT, value });
}
