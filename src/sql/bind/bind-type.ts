/** Type names of statements as types. */
import { sqlError } from "../../protocol/errors.js";
import type { SqlType } from "../../protocol/values.js";
import { typeFromName } from "../../query/expr/types.js";
import type { TypeNode } from "../parse/ast-query.js";
import { withPosition } from "./coerce.js";

/** `interval` with all fields, as the grammar writes it. */
const INTERVAL_FULL_RANGE = 0x7fff;

/** Throws 42704 for an unknown name, 22023 for a bad modifier. */
export function bindType(node: TypeNode): SqlType {
  const { position } = node;
  if (node.setOf) throw sqlError("0A000", "SETOF is not supported here", { position });
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
