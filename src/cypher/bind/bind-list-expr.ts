/** Comprehensions over lists, quantifiers and reduce: each has a variable of its own. */

import type { ColumnExpr, Expr, ListExpr } from "../../query/expr/expr.js";
import { BOOL, VARIANT } from "../../values/values.js";
import type {
  Expr as ExprNode,
  ListComprehension,
  QuantifierExpr,
  ReduceExpr,
  Variable as VariableNode,
} from "../parse/ast.js";
import type { Binding, ExprContext } from "./binding.js";
import type { Variables } from "./variables.js";

type Bind = (node: ExprNode, context: ExprContext) => Expr;

/** A variable that is no column of the rows: `context.outer` has its value. */
export function localColumn({ name }: VariableNode, binding: Binding): ColumnExpr {
  return Object.freeze({ kind: "column", type: VARIANT, id: binding.newId(), name });
}

export function withLocal(scope: Variables, { name }: VariableNode, expr: Expr): Variables {
  return new Map(scope).set(name, { kind: "value", expr });
}

export function bindListExpr(
  node: ListComprehension | QuantifierExpr | ReduceExpr,
  context: ExprContext,
  bind: Bind,
  bindPredicate: Bind,
): ListExpr {
  const list = bind(node.list, context);
  const item = localColumn(node.variable, context.binding);
  const scope = withLocal(context.scope, node.variable, item);
  const inner = { ...context, scope };
  const plain = { kind: "list", list, variable: item.id, where: null, result: null, accumulator: null, initial: null };
  switch (node.kind) {
    case "list-comprehension": {
      const where = node.where === null ? null : bindPredicate(node.where, inner);
      const result = node.result === null ? null : bind(node.result, inner);
      return Object.freeze({ ...plain, kind: "list", form: "map", type: VARIANT, where, result });
    }
    case "quantifier": {
      const where = bindPredicate(node.where ?? node.variable, inner);
      return Object.freeze({ ...plain, kind: "list", form: node.quantifier, type: BOOL, where });
    }
    case "reduce": {
      const initial = bind(node.initial, context);
      const sum = localColumn(node.accumulator, context.binding);
      const result = bind(node.result, { ...context, scope: withLocal(scope, node.accumulator, sum) });
      return Object.freeze({
        ...plain,
        kind: "list",
        form: "reduce",
        type: VARIANT,
        accumulator: sum.id,
        initial,
        result,
      });
    }
  }
}
