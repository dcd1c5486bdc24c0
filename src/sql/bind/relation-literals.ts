/** `'t'::regclass` in expressions that are kept: the relation's OID, so that it is followed under another name. */
import { parseRelationName } from "../../catalog/relation-names.js";
import { oidOfId } from "../../query/expr/types.js";
import type { CastNode, ExprNode } from "../parse/ast-query.js";
import type { BindEnvironment } from "./bound-statement.js";
import { firstFound } from "./names.js";

/** The tree with OIDs for names of relations that statements made. Nodes are plain objects and arrays. */
export function withRelationsById(node: ExprNode, env: BindEnvironment): ExprNode {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== "object" || value === null) return value;
    const copy = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, visit(child)]));
    return copy.kind === "cast" ? byId(copy as unknown as CastNode, env) : copy;
  };
  return visit(node) as ExprNode;
}

function byId(node: CastNode, env: BindEnvironment): CastNode {
  const { input, type } = node;
  if (type.name !== "regclass" || type.arrayDimensions > 0 || input.kind !== "string") return node;
  if (/^\d+$/.test(input.value)) return node;
  const { catalog } = env;
  const found = firstFound(
    parseRelationName(input.value),
    env,
    (schema, name) => catalog.table(schema, name) ?? catalog.view(schema, name) ?? catalog.sequence(schema, name),
  );
  return found === null ? node : { ...node, input: { ...input, value: String(oidOfId(found.id)) } };
}
