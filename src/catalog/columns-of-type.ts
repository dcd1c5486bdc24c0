/**
 * Columns that are dropped because their type is: DROP TYPE … CASCADE, and DROP TABLE of a table whose row type
 * columns have.
 */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { withoutSearchedColumns } from "./search-index-ddl.js";
import type { IndexDef, TableDef } from "./table.js";
import { usesType } from "./type.js";

type Cleared = { readonly table: TableDef; readonly index: IndexDef };

/** Drops all columns made of the type; gives the indexes whose entries must go. Throws 0A000 for a primary key. */
export function dropColumnsOf(editor: CatalogEditor, typeId: number): Cleared[] {
  const { view } = editor;
  const tables = view.tables().filter((table) => table.columns.some((column) => usesType(column.type, typeId)));
  return tables.flatMap((table) => {
    const { next, indexes } = withoutColumns(table, typeId);
    for (const sequence of view.sequencesOf(table)) {
      if (!next.columns.some((column) => column.id === sequence.ownedBy?.columnId)) editor.dropSequence(sequence);
    }
    editor.replaceTable(next);
    return indexes.map((index) => ({ table, index }));
  });
}

/**
 * The columns that hold rows of a table which is dropped, with the table. Throws 2BP01 unless `cascade`; the tables of
 * `dropped` go as a whole.
 */
export function dropRowColumns(
  editor: CatalogEditor,
  table: TableDef,
  dropped: ReadonlySet<number>,
  cascade: boolean,
): { readonly notices: readonly string[]; readonly indexes: readonly Cleared[] } {
  const row = editor.rowType(table.id);
  if (row === null) return { notices: [], indexes: [] };
  const columns = editor.view
    .tables()
    .filter(({ id }) => !dropped.has(id))
    .flatMap((other) =>
      other.columns
        .filter((column) => usesType(column.type, row.id))
        .map((column) => `column ${column.name} of table ${other.name}`),
    );
  const types = editor.view
    .types()
    .filter(
      (type) =>
        type.id !== row.id &&
        (type.kind === "domain"
          ? [type.base]
          : type.kind === "composite"
            ? type.fields.map((field) => field.type)
            : []
        ).some((part) => usesType(part, row.id)),
    )
    .map((type) => `type ${type.name}`);
  const dependents = [...columns, ...types];
  if (dependents.length > 0 && (!cascade || types.length > 0)) {
    throw sqlError("2BP01", `cannot drop table ${table.name} because other objects depend on it`, {
      detail: dependents.map((object) => `${object} depends on type ${table.name}`).join("\n"),
      hint:
        types.length > 0 && cascade
          ? "Drop the types first."
          : "Use DROP ... CASCADE to drop the dependent objects too.",
    });
  }
  return { notices: columns.map((column) => `drop cascades to ${column}`), indexes: dropColumnsOf(editor, row.id) };
}

/** Throws 0A000 when the primary key, which rows are keyed by, has such a column. */
function withoutColumns(table: TableDef, typeId: number) {
  const gone = new Set(table.columns.filter((column) => usesType(column.type, typeId)).map((column) => column.id));
  if (table.primaryKey?.some((id) => gone.has(id))) {
    throw sqlError("0A000", `dropping a type of the primary key of table "${table.name}" is not supported`, {
      hint: "Drop the table first.",
    });
  }
  const indexes = table.indexes.filter((index) => index.columns.some((column) => gone.has(column.columnId)));
  const next: TableDef = Object.freeze({
    ...withoutSearchedColumns(table, (id) => gone.has(id)),
    columns: table.columns.filter((column) => !gone.has(column.id)),
    indexes: table.indexes.filter((index) => !indexes.includes(index)),
  });
  return { next, indexes };
}
