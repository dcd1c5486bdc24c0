/**
 * Rows of one table as values in columns of others. Such a column has a composite type of the catalog's own, which has
 * the table's name and follows its columns; a field's slot in stored values is the column's id, so adding and dropping
 * columns touches no row that holds the type. The binder asks for it with a type whose id is the table's, negated;
 * CatalogEditor puts the type itself in its place.
 */
import { type SqlType, userType } from "../values/values.js";
import type { TableDef } from "./table.js";
import type { CompositeDef, TypeDef } from "./type.js";

/** What the binder hands over for the type of a table's rows. */
export function rowTypeWanted(table: TableDef): SqlType {
  const { schema, name } = table;
  const fields = table.columns.map((column) => ({ name: column.name, type: column.type, slot: column.id }));
  return userType({ kind: "composite", id: -table.id, schema, name, labels: [], fields, base: null });
}

/** The id of the table whose rows the type wants to hold; null for any other type. */
export function rowOf(type: SqlType): number | null {
  if (type.user !== undefined && type.user.id < 0) return -type.user.id;
  return type.element === null ? null : rowOf(type.element);
}

/** The definition for the table as it is now. */
export function rowTypeOf(table: TableDef, known: { readonly id: number }): CompositeDef {
  const { schema, name, createdAt } = table;
  const fields = table.columns.map((column) => ({ name: column.name, type: column.type, slot: column.id }));
  return Object.freeze({
    kind: "composite",
    id: known.id,
    schema,
    name,
    createdAt,
    fields,
    nextSlot: table.nextColumnId,
    rowOf: table.id,
  });
}

/** The definition with `stored` of each type that it is made of. */
export function withStoredTypes(definition: TypeDef, stored: (type: SqlType) => SqlType): TypeDef {
  if (definition.kind === "domain" && rowOf(definition.base) !== null) {
    return Object.freeze({ ...definition, base: stored(definition.base) });
  }
  if (definition.kind !== "composite" || !definition.fields.some((field) => rowOf(field.type) !== null)) {
    return definition;
  }
  const fields = definition.fields.map((field) => ({ ...field, type: stored(field.type) }));
  return Object.freeze({ ...definition, fields });
}
