/**
 * Conditions as filters take them: NULL counts as false, so what an entity's id is compared with becomes an int8, and
 * the condition one that a key can serve.
 */

import { INTEGER_OF } from "../../query/expr/cypher/clause-functions.js";
import type { Expr } from "../../query/expr/expr.js";
import { operatorFor } from "../../query/expr/resolve.js";
import { andOf, conjuncts } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { BOOL, INT8 } from "../../values/values.js";
import { isIntegerValue } from "../../values/variant.js";
import type { Expr as ExprNode } from "../parse/ast.js";
import { bindArgument, bindPredicate } from "./bind-expr.js";
import type { ExprContext } from "./binding.js";
import { call } from "./variables.js";

const INT8_EQUALS = operatorFor("=", INT8)!;

/** The condition of a WHERE. */
export function bindCondition(node: ExprNode, context: ExprContext): Expr {
  if (node.kind === "logical" && node.operator === "AND") {
    return andOf(node.operands.flatMap((operand) => conjuncts(bindCondition(operand, context))))!;
  }
  return idCondition(node, context) ?? bindPredicate(node, context);
}

function idCondition(node: ExprNode, context: ExprContext): Expr | null {
  if (node.kind === "comparison" && node.rest.length === 1 && node.rest[0]!.operator === "=") {
    const { operand } = node.rest[0]!;
    const [left, right] = [idColumn(node.first, context), idColumn(operand, context)];
    if (left !== null) return call(INT8_EQUALS, [left, right ?? integerOf(operand, context)]);
    return right === null ? null : call(INT8_EQUALS, [right, integerOf(node.first, context)]);
  }
  if (node.kind !== "in" || node.list.kind !== "list" || node.list.items.length === 0) return null;
  const input = idColumn(node.item, context);
  if (input === null) return null;
  const items = node.list.items.map((item) => integerOf(item, context));
  return Object.freeze({ kind: "in", type: BOOL, input, items, equals: INT8_EQUALS, negated: false });
}

/** `id(n)` of a variable that is an entity. */
function idColumn(node: ExprNode, { scope }: ExprContext): Expr | null {
  if (node.kind !== "call" || node.name.toLowerCase() !== "id" || node.args.length !== 1) return null;
  const [arg] = node.args;
  const variable = arg?.kind === "variable" ? scope.get(arg.name) : undefined;
  return variable === undefined || variable.kind === "value" ? null : columnExpr(variable.columns.id);
}

function integerOf(node: ExprNode, context: ExprContext): Expr {
  const expr = bindArgument(node, context);
  if (expr.type === INT8) return expr;
  if (expr.kind === "const" && (expr.value === null || isIntegerValue(expr.value))) {
    return Object.freeze({ ...expr, type: INT8 });
  }
  return call(INTEGER_OF, [expr]);
}
