/** Names of result columns that have no alias: FigureColname of PostgreSQL. */
import type { ExprNode, QueryNode } from "../parse/ast-query.js";

/** The name; "?column?" for an expression without a name of its own. */
export function outputName(node: ExprNode): string {
  return named(node)?.name ?? "?column?";
}

/** `strong` names win over the name of a cast's type. */
function named(node: ExprNode): { name: string; strong: boolean } | null {
  const strong = (name: string) => ({ name, strong: true });
  const weak = (name: string) => ({ name, strong: false });
  switch (node.kind) {
    case "column":
      return strong(node.path[node.path.length - 1] ?? "?column?");
    case "call":
      // "json value" is JSON_VALUE; IS JSON has no name.
      if (node.path[0] === "is json") return null;
      return strong(node.path[node.path.length - 1]!.replace(/ (?:of|parse)$/, "").replaceAll(" ", "_"));
    case "field":
      return strong(node.name);
    case "subscript":
    case "collate":
      return named(node.input);
    case "cast": {
      const inner = named(node.input);
      return inner?.strong ? inner : weak(node.type.name);
    }
    case "case":
      return (node.otherwise === null ? null : strongOf(node.otherwise)) ?? weak("case");
    case "coalesce":
    case "greatest":
    case "least":
    case "nullif":
    case "array":
    case "row":
    case "grouping":
      return strong(node.kind);
    case "merge action":
      return strong("merge_action");
    case "value function":
      return strong(node.name);
    case "subquery":
      if (node.form === "exists" || node.form === "array") return strong(node.form);
      return node.form === "scalar" ? strong(firstName(node.query)) : null;
    default:
      return null;
  }
}

function strongOf(node: ExprNode) {
  const name = named(node);
  return name?.strong ? name : null;
}

function firstName(query: QueryNode): string {
  let { body } = query;
  while (body.kind === "set operation") body = body.left.body;
  if (body.kind === "values") return "column1";
  const target = body.targets[0];
  return target === undefined ? "?column?" : (target.name ?? outputName(target.expr));
}
