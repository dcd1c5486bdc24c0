/** Makes the syntax node of a call without DISTINCT, FILTER, OVER and the like, for rewrites in parser and binder. */
import type { CallNode, ExprNode } from "./ast-query.js";

export function plainCall(path: readonly string[], args: readonly ExprNode[], position: number): CallNode {
  return {
    kind: "call",
    path,
    args: args.map((value) => ({ name: null, value })),
    star: false,
    variadic: false,
    distinct: false,
    orderBy: [],
    withinGroup: false,
    filter: null,
    over: null,
    position,
  };
}
