/**
 * The WHERE of a rule. A condition over the row alone is a trigger's WHEN; one with a subquery is a query, which the
 * rule's runner asks for each row before the rule's statements.
 */
import type { SelectStatement } from "../parse/ast.js";
import type { ExprNode } from "../parse/ast-query.js";
import { plainSelect } from "../parse/plain-query.js";

export function hasSubquery(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  return (node as { readonly kind?: unknown }).kind === "subquery" || Object.values(node).some(hasSubquery);
}

/** `SELECT condition`. */
export function conditionQuery(condition: ExprNode): SelectStatement {
  const { position } = condition;
  return {
    kind: "select",
    query: plainSelect([{ expr: condition, name: null, position }], [], null, position),
    position,
  };
}
