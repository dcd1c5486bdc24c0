/** Makes the syntax node of a query without WITH, GROUP BY, ORDER BY and the like, for rewrites in the binder. */
import type { ExprNode, FromNode, QueryNode, TargetNode } from "./ast-query.js";

/** `SELECT targets FROM from WHERE where`. */
export function plainSelect(
  targets: readonly TargetNode[],
  from: readonly FromNode[],
  where: ExprNode | null,
  position = 0,
): QueryNode {
  return plainQuery(
    {
      kind: "select",
      distinct: "all",
      targets,
      from,
      where,
      groupBy: [],
      groupDistinct: false,
      having: null,
      windows: [],
    },
    position,
  );
}

/** What stands around the body of a query. */
export function plainQuery(body: QueryNode["body"], position = 0): QueryNode {
  return {
    kind: "query",
    with: null,
    body,
    orderBy: [],
    limit: null,
    offset: null,
    withTies: false,
    locking: [],
    position,
  };
}
