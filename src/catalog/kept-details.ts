/** ALTER TABLE of what is kept for the catalog alone (detail-change.ts). Called by alter-table.ts. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { ActionOutcome } from "./ddl-outcome.js";
import type { ColumnDetail, ColumnDetails, DetailChange } from "./detail-change.js";
import type { TableDef } from "./table.js";

/** Throws 42704. */
export function setDetail(editor: CatalogEditor, table: TableDef, change: DetailChange): ActionOutcome {
  editor.replaceTable(Object.freeze(changed(table, change)));
  return {};
}

function changed(table: TableDef, change: DetailChange): TableDef {
  switch (change.what) {
    case "logged": {
      const { unlogged: _, ...rest } = table;
      return change.unlogged ? { ...rest, unlogged: true } : rest;
    }
    case "column": {
      const { name, detail } = change;
      const columns = table.columns.map((column) =>
        column.name === name ? Object.freeze({ ...column, details: merged(column.details ?? {}, detail) }) : column,
      );
      return { ...table, columns };
    }
    case "cluster": {
      const { clusteredOn: _, ...rest } = table;
      return change.index === null ? rest : { ...rest, clusteredOn: indexNamed(table, change.index) };
    }
  }
}

function merged(details: ColumnDetails, detail: ColumnDetail): ColumnDetails {
  return Object.fromEntries(Object.entries({ ...details, ...detail }).filter(([, value]) => value !== null));
}

/** Of a column that has another type: those of the type before are gone. */
export function detailsUnder(before: ColumnDetails | undefined, collation: string | null): ColumnDetails {
  return merged({}, { collation, statistics: before?.statistics ?? null });
}

/** Its id; "primary key". */
function indexNamed(table: TableDef, name: string): NonNullable<TableDef["clusteredOn"]> {
  if (table.primaryKeyName === name) return "primary key";
  const index = [...table.indexes, ...(table.searchIndexes ?? [])].find((other) => other.name === name);
  if (index === undefined) throw sqlError("42704", `index "${name}" for table "${table.name}" does not exist`);
  return index.id;
}
