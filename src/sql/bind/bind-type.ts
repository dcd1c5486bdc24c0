/** Type names of statements as types. */
import { sqlError } from "../../protocol/errors.js";
import { arrayOf, type SqlType } from "../../protocol/values.js";
import { isBuiltInType, typeFromName } from "../../query/expr/types.js";
import type { TypeNode } from "../parse/ast-query.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { withPosition } from "./coerce.js";
import { userTypeNamed } from "./names.js";

/** `interval` with all fields, as the grammar writes it. */
const INTERVAL_FULL_RANGE = 0x7fff;

/** Throws 42704 for an unknown name, 22023 for a bad modifier. */
export function bindType(node: TypeNode, { env }: Binding): SqlType {
  const { position } = node;
  if (node.setOf) throw sqlError("0A000", "SETOF is not supported here", { position });
  const own = userType(node, env);
  if (own !== null) return own;
  if (node.schema !== null && node.schema !== "public") {
    throw sqlError("42704", `type "${node.schema}.${node.name}" does not exist`, { position });
  }
  const modifiers = node.modifiers.map((modifier) => {
    if (modifier.kind === "integer") return modifier.value;
    // numeric(3, -2)
    if (modifier.kind === "operator" && modifier.left === null && modifier.right.kind === "integer") {
      return -modifier.right.value;
    }
    throw sqlError("42601", "type modifiers must be simple constants or identifiers", { position });
  });
  if (node.name === "interval" && modifiers.length === 1 && modifiers[0] === INTERVAL_FULL_RANGE) modifiers.pop();
  return withPosition(position, () => typeFromName(node.name, modifiers, node.arrayDimensions));
}

/** A type that statements made; unqualified names of built-in types come first, as pg_catalog does in the path. */
function userType(node: TypeNode, env: BindEnvironment): SqlType | null {
  if (node.schema === null && isBuiltInType(node.name)) return null;
  const path = node.schema === null ? [node.name] : [node.schema, node.name];
  const type = userTypeNamed(path, env);
  if (type !== null && node.modifiers.length > 0) {
    throw sqlError("42601", `type modifier is not allowed for type "${node.name}"`, { position: node.position });
  }
  return type !== null && node.arrayDimensions > 0 ? arrayOf(type) : type;
}
