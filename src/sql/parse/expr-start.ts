/**
 * Where an expression begins: errors about an expression as a whole point there, and not at its operator (PostgreSQL:
 * exprLocation in src/backend/nodes/nodeFuncs.c).
 */
import type { ExprNode, QueryNode } from "./ast-query.js";

/** From 1; 0: it is not known. */
export function startOf(node: ExprNode): number {
  const { position } = node;
  const first = firstPart(node);
  if (first === null) return position;
  const start = startOf(first);
  // A constant with its type stands where the constant does: CAST('a' AS text), text 'a'.
  if (start > 0 && node.kind === "cast" && first.kind === "string") return start;
  return start > 0 && (start < position || position === 0) ? start : position;
}

/** Where the query says what its column is; where it begins, if stars make that hard to tell. */
export function startOfColumn({ body, position }: QueryNode, column: number): number {
  if (body.kind !== "select") return position;
  const { targets } = body;
  const isTold = targets.every(({ expr }) => expr.kind !== "column" || !expr.star);
  return isTold && column < targets.length ? startOf(targets[column]!.expr) : position;
}

/** The part that may stand before the place that the node is known by. */
function firstPart(node: ExprNode): ExprNode | null {
  switch (node.kind) {
    case "operator":
    case "quantified":
    case "distinct from":
      return node.left;
    case "and":
    case "or":
      return node.args[0] ?? null;
    case "is null":
    case "is boolean":
    case "between":
    case "in":
    case "cast":
    case "collate":
      return node.input;
    default:
      return null;
  }
}
