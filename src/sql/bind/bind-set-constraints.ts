/** SET CONSTRAINTS: names to the constraints of all tables of the search path that have them. */
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { SetConstraintsStatement } from "../parse/ast.js";
import type { Binding } from "./binding.js";
import type { BoundSetConstraints } from "./bound-statement.js";
import { relationOf } from "./scope.js";

/** Throws 42704 for an unknown name, 42809 for a constraint that is not deferrable. */
export function bindSetConstraints(node: SetConstraintsStatement, binding: Binding): BoundSetConstraints {
  const { deferred } = node;
  if (node.names.length === 0) return { kind: "set constraints", keys: null, deferred };
  const { catalog, searchPath } = binding.env;
  const keys = node.names.flatMap((nameNode) => {
    const { schema, name } = relationOf(nameNode);
    const schemas = schema === null ? searchPath : [schema];
    const found = catalog
      .tables()
      .filter((table) => schemas.includes(table.schema))
      .flatMap((table) => constraintsOf(table).filter((key) => key.name === name));
    const at = nameNode.position > 0 ? { position: nameNode.position } : undefined;
    if (found.length === 0) throw sqlError("42704", `constraint "${name}" does not exist`, at);
    if (found.some((key) => !key.deferrable)) {
      throw sqlError("42809", `constraint "${name}" is not deferrable`, at);
    }
    return found.map((key) => key.id);
  });
  return { kind: "set constraints", keys, deferred };
}

function constraintsOf(table: TableDef): readonly { id: number; name: string; deferrable: boolean }[] {
  const keys = table.indexes
    .filter((index) => index.constraint !== null)
    .map(({ id, name, deferrable }) => ({ id, name, deferrable: deferrable !== undefined }));
  const primary = table.primaryKeyName === null ? [] : [{ id: 0, name: table.primaryKeyName, deferrable: false }];
  const checks = table.checks.map(({ name }) => ({ id: 0, name, deferrable: false }));
  const triggers = (table.triggers ?? []).flatMap(({ id, name, constraint }) =>
    constraint === undefined ? [] : [{ id, name, deferrable: constraint.deferrable }],
  );
  return [...(table.foreignKeys ?? []), ...keys, ...primary, ...checks, ...triggers];
}
