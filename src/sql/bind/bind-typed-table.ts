/** Typed tables: CREATE TABLE … OF a composite type, and ALTER TABLE … OF. */
import type { CompositeDef } from "../../catalog/type.js";
import { sqlError } from "../../protocol/errors.js";
import type { TypedTableNode } from "../parse/ast-definitions.js";
import type { TypeNode } from "../parse/ast-query.js";
import { type ColumnDraft, draftOfType } from "./bind-column-def.js";
import type { Binding } from "./binding.js";
import { findType } from "./names.js";

/** Throws 42704, 42809 for a type that has no fields. */
export function compositeNamed(node: TypeNode, { env }: Binding): CompositeDef {
  const { position } = node;
  const path = node.schema === null ? [node.name] : [node.schema, node.name];
  const type = findType(path, env);
  if (type?.kind === "composite") return type;
  if (type !== null) throw sqlError("42809", `type ${node.name} is not a composite type`, { position });
  throw sqlError("42704", `type "${path.join(".")}" does not exist`, { position });
}

/** The type's fields as columns, with the options that the statement gives some of them. Throws 42703, 42701. */
export function draftTyped(node: TypedTableNode, binding: Binding) {
  const type = compositeNamed(node.type, binding);
  node.columns.forEach(({ name, position }, i) => {
    if (!type.fields.some((field) => field.name === name)) {
      throw sqlError("42703", `column "${name}" does not exist`, { position });
    }
    if (node.columns.findIndex((other) => other.name === name) < i) {
      throw sqlError("42701", `column "${name}" specified more than once`, { position });
    }
  });
  const columns = type.fields.map((field): ColumnDraft => {
    const { name } = field;
    const options = node.columns.find((column) => column.name === name) ?? {
      name,
      constraints: [],
      position: node.type.position,
    };
    return draftOfType(options, field.type, false);
  });
  return { ofType: type.id, columns };
}
