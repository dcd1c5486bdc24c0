/** ALTER TABLE … OF and NOT OF. Called by alter-family.ts. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { sameType } from "./inheritance.js";
import type { TableDef } from "./table.js";
import type { CompositeDef } from "./type.js";

/**
 * The table becomes one of the type, whose fields its columns must be, in order; null: it is typed no longer. Throws
 * 42804 where they differ, 42809 for a table that inherits, or for NOT OF of an untyped one.
 */
export function setTypeOf(editor: CatalogEditor, table: TableDef, typeId: number | null): void {
  const { ofType, ...untyped } = table;
  if (typeId === null) {
    if (ofType === undefined) throw sqlError("42809", `"${table.name}" is not a typed table`);
    editor.replaceTable(Object.freeze(untyped));
    return;
  }
  if ((table.parents?.length ?? 0) > 0) throw sqlError("42809", "typed tables cannot inherit");
  const { fields } = editor.view.typeById(typeId) as CompositeDef;
  fields.forEach((field, i) => {
    const column = table.columns[i];
    if (column === undefined) throw sqlError("42804", `table is missing column "${field.name}"`);
    if (column.name !== field.name) {
      throw sqlError("42804", `table has column "${column.name}" where type requires "${field.name}"`);
    }
    if (!sameType(column.type, field.type)) {
      throw sqlError("42804", `table "${table.name}" has different type for column "${column.name}"`);
    }
  });
  const extra = table.columns[fields.length];
  if (extra !== undefined) throw sqlError("42804", `table has extra column "${extra.name}"`);
  editor.replaceTable(Object.freeze({ ...untyped, ofType: typeId }));
}
