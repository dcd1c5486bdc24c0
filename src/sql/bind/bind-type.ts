/** Type names of statements as types. */
import { referredId } from "../../catalog/object-reference.js";
import { rowTypeWanted } from "../../catalog/row-type.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { isBuiltInType, typeFromName } from "../../query/expr/type-spellings.js";
import { displayName } from "../../query/expr/types.js";
import { INFORMATION_TYPES } from "../../values/catalog-types.js";
import { arrayOf, BIT, recordOf, type SqlType } from "../../values/values.js";
import type { TypeNode } from "../parse/ast-query.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment, Noted } from "./bound-statement.js";
import { withPosition } from "./coerce.js";
import { firstFound, userTypeNamed } from "./names.js";

/** `interval` with all fields, as the grammar writes it. */
const INTERVAL_FULL_RANGE = 0x7fff;

/** Throws 42704 for an unknown name, 22023 for a bad modifier. */
export function bindType(node: TypeNode, { env, noted }: Binding): SqlType {
  const { position } = node;
  if (node.setOf) throw sqlError("0A000", "SETOF is not supported here", { position });
  const own = userType(node, env, noted);
  if (own !== null) return own;
  if (node.schema === "information_schema" && Object.hasOwn(INFORMATION_TYPES, node.name)) {
    const type = INFORMATION_TYPES[node.name]!;
    return node.arrayDimensions > 0 ? arrayOf(type) : type;
  }
  if (node.schema !== null && node.schema !== "public") {
    throw sqlError("42704", `type "${node.schema}.${node.name}" does not exist`, { position });
  }
  const modifiers = node.modifiers.map((modifier) => {
    if (modifier.kind === "integer") return modifier.value;
    // numeric(3, -2)
    if (modifier.kind === "operator" && modifier.left === null && modifier.right.kind === "integer") {
      return -modifier.right.value;
    }
    if (modifier.kind === "string") return wholeNumber(modifier.value, position);
    throw sqlError("42601", "type modifiers must be simple constants or identifiers", { position });
  });
  // The grammar gives the word bit its length of one; in quotes it is of any.
  if (node.name === "bit" && modifiers.length === 0) return node.arrayDimensions > 0 ? arrayOf(BIT) : BIT;
  if (node.name === "interval" && modifiers.length === 1 && modifiers[0] === INTERVAL_FULL_RANGE) modifiers.pop();
  return withPosition(position, () => typeFromName(node.name, modifiers, node.arrayDimensions));
}

/** varchar('3') */
function wholeNumber(text: string, position: number): number {
  if (/^\s*[-+]?\d{1,10}\s*$/.test(text)) return Number(text);
  throw sqlError("22P02", `invalid input syntax for type integer: "${text}"`, { position });
}

/** A type that statements made; unqualified names of built-in types come first, as pg_catalog does in the path. */
function userType(node: TypeNode, env: BindEnvironment, { named }: Noted): SqlType | null {
  if (node.schema === null && isBuiltInType(node.name)) return null;
  const path = node.schema === null ? [node.name] : [node.schema, node.name];
  const own = userTypeNamed(path, env);
  const table = own === null ? rowTypeNamed(path, env) : null;
  const id = own?.user?.id ?? table?.id;
  if (id !== undefined) named.set(node, id);
  // The type of a table's rows has the table's name.
  const type = own ?? (table === null ? null : recordOf(table.columns, table.name));
  if (type !== null && node.modifiers.length > 0) {
    throw sqlError("42601", `type modifier is not allowed for type "${node.name}"`, { position: node.position });
  }
  return type !== null && node.arrayDimensions > 0 ? arrayOf(type) : type;
}

function rowTypeNamed(path: readonly string[], env: BindEnvironment): TableDef | null {
  const relation = { schema: path.length > 1 ? path[path.length - 2]! : null, name: path[path.length - 1]! };
  const id = env.stored ? referredId(relation.schema) : null;
  if (id !== null) return env.catalog.tableById(id);
  return firstFound(relation, env, (schema, name) => env.catalog.table(schema, name));
}

/** A type as columns, fields and domains are declared with it: rows of a table by a type that follows the table. */
export function bindStoredType(node: TypeNode, binding: Binding): SqlType {
  const { env } = binding;
  const path = node.schema === null ? [node.name] : [node.schema, node.name];
  if ((node.schema === null && isBuiltInType(node.name)) || userTypeNamed(path, env) !== null) {
    return bindType(node, binding);
  }
  const table = rowTypeNamed(path, env);
  if (table === null) return bindType(node, binding);
  return node.arrayDimensions > 0 ? arrayOf(rowTypeWanted(table)) : rowTypeWanted(table);
}

/** Throws 42P16 for types that no column can have, 0A000 for rows of relations that no type follows. */
export function checkStorable(type: SqlType, name: string, position: number): void {
  const element = type.element ?? type;
  const isPseudo = ["unknown", "record", "void"].includes(element.name) && element.user === undefined;
  if (!isPseudo) return;
  const at = position > 0 ? { position } : undefined;
  if (element.typeName !== undefined) {
    throw sqlError("0A000", `a column of the row type of a table ("${element.typeName}") is not supported yet`, at);
  }
  throw sqlError("42P16", `column "${name}" has pseudo-type ${displayName(type)}`, at);
}
