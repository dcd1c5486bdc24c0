/**
 * Columns that are dropped because their type is: DROP TYPE … CASCADE, and DROP TABLE of a table whose row type
 * columns have.
 */
import { sqlError } from "../protocol/errors.js";
import type { SqlType } from "../values/values.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { isOfType, isRowType, type TypeDef } from "./type.js";

/** Has all columns made of the type dropped; gives their names, for messages. */
export function condemnColumnsOf(editor: CatalogEditor, typeId: number, spared?: ReadonlySet<number>): string[] {
  const tables = editor.view.tables().filter(({ id }) => spared?.has(id) !== true);
  return tables.flatMap((table) =>
    table.columns.flatMap(({ id, name, type }) => {
      if (!isOfType(type, typeId)) return [];
      editor.condemned.push({ kind: "column", tableId: table.id, columnId: id });
      return [`column ${name} of table ${table.name}`];
    }),
  );
}

/** Whether it is a domain over the other type, or has attributes of it. */
export function isMadeOf(type: TypeDef, part: TypeDef): boolean {
  return type.id !== part.id && partsOf(type).some((each) => isOfType(each, part.id));
}

/**
 * Has domains over the type dropped, and attributes of it; gives their names, for messages. Rows of tables follow their
 * columns.
 */
export function condemnTypesOf(editor: CatalogEditor, part: TypeDef, spared?: number): string[] {
  return editor.view.types().flatMap((type) => {
    if (type.id === spared || isRowType(type) || !isMadeOf(type, part)) return [];
    if (type.kind !== "composite") {
      editor.condemned.push({ kind: "type", typeId: type.id });
      return [`type ${type.name}`];
    }
    return type.fields.flatMap((field) => {
      if (!isOfType(field.type, part.id)) return [];
      editor.condemned.push({ kind: "attribute", typeId: type.id, name: field.name });
      return [`column ${field.name} of composite type ${type.name}`];
    });
  });
}

/** The types that a domain or a composite type is made of. */
export function partsOf(type: TypeDef): readonly SqlType[] {
  if (type.kind === "domain") return [type.base];
  return type.kind === "composite" ? type.fields.map((field) => field.type) : [];
}

/**
 * The columns that hold rows of a table which is dropped, and the types made of them, go with the table. Throws 2BP01
 * unless `cascade`; the tables of `dropped` go as a whole. Gives what is dropped.
 */
export function dropRowColumns(
  editor: CatalogEditor,
  table: { readonly id: number; readonly name: string },
  dropped: ReadonlySet<number>,
  cascade: boolean,
): readonly string[] {
  const row = editor.rowType(table.id);
  if (row === null) return [];
  const columns = condemnColumnsOf(editor, row.id, dropped);
  const dependents = [...columns, ...condemnTypesOf(editor, row)];
  if (dependents.length > 0 && !cascade) {
    throw sqlError("2BP01", `cannot drop table ${table.name} because other objects depend on it`, {
      detail: dependents.map((object) => `${object} depends on type ${table.name}`).join("\n"),
      hint: "Use DROP ... CASCADE to drop the dependent objects too.",
    });
  }
  return dependents;
}
