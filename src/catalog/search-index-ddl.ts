/**
 * Definitions of indexes for search (SearchIndexDef): creating, changing and dropping them. Called by the files of
 * ddl. Nothing here touches rows: the index in memory is built from the rows once the definition exists, and forgotten
 * when it is gone.
 */
import { sqlError } from "../protocol/errors.js";
import { INDEXED_BITS_MAX, VECTOR_DIMENSIONS_MAX } from "../protocol/limits.js";
import type { SqlType } from "../values/values.js";
import { type CatalogEditor, relationExists } from "./catalog-editor.js";
import type { CreateSearchIndexCommand, NewSearchIndex } from "./ddl-command.js";
import { type DdlOutcome, existingColumn, existingTable, NOTHING } from "./ddl-outcome.js";
import { expressionPart, madeUpName } from "./relation-names.js";
import type { ColumnDef, SearchIndexDef, TableDef } from "./table.js";

/** Throws 42P07 for a name that is taken. */
export function createSearchIndex(editor: CatalogEditor, command: CreateSearchIndexCommand): DdlOutcome {
  const table = existingTable(editor, command.table);
  const tag = "CREATE INDEX";
  const taken = (name: string) => editor.view.hasRelation(table.schema, name);
  if (command.name !== null && taken(command.name)) {
    if (!command.ifNotExists) throw relationExists(command.name);
    return { ...NOTHING, tag, notices: [`relation "${command.name}" already exists, skipping`] };
  }
  const keys = command.declared?.keys.map(({ column, sql }) => column ?? expressionPart(sql!));
  const name = command.name ?? madeUpName(table.name, keys ?? command.columns, "idx", taken);
  const index = searchIndexDef(editor.nextId(), name, command, (column) => existingColumn(table, column).id);
  editor.replaceTable(Object.freeze({ ...table, searchIndexes: [...(table.searchIndexes ?? []), index] }));
  return { ...NOTHING, tag, notices: command.notices ?? [] };
}

export function searchIndexDef(
  id: number,
  name: string,
  { method, columns, vector, where, text, declared }: NewSearchIndex,
  idOf: (column: string) => number,
): SearchIndexDef {
  const columnIds = columns.map(idOf);
  const keys = declared?.keys.map(({ column, ...key }) => {
    return column === undefined ? key : { ...key, columnId: idOf(column) };
  });
  const partial = where && { where: { sql: where.sql, columnIds: where.columns.map(idOf) } };
  return Object.freeze({
    id,
    name,
    method,
    columnIds,
    ...(vector && { vector: { ...vector, ...partial } }),
    ...(text && { text }),
    ...(keys && { declared: { ...declared, keys } }),
  });
}

export function withoutSearchIndex(table: TableDef, index: SearchIndexDef): TableDef {
  return withSearchIndexes(
    table,
    (table.searchIndexes ?? []).filter(({ id }) => id !== index.id),
  );
}

/** The table without the indexes that have one of the columns. */
export function withoutSearchedColumns(table: TableDef, isGone: (columnId: number) => boolean): TableDef {
  const { searchIndexes } = table;
  if (searchIndexes === undefined) return table;
  return withSearchIndexes(
    table,
    searchIndexes.filter(({ columnIds, vector }) => ![...columnIds, ...(vector?.where?.columnIds ?? [])].some(isGone)),
  );
}

/** Indexes of a column that gets another type are other indexes. Throws 42804 for a type that they cannot have. */
export function withRetypedIndexes(editor: CatalogEditor, table: TableDef, column: ColumnDef, type: SqlType): TableDef {
  const { searchIndexes } = table;
  if (searchIndexes === undefined) return table;
  const next = searchIndexes.map((index) => {
    if (index.vector?.where?.columnIds.includes(column.id)) {
      throw sqlError("0A000", `index "${index.name}" has a condition on column "${column.name}"`, {
        hint: "Drop the index first.",
      });
    }
    if (!index.columnIds.includes(column.id) || index.declared !== undefined) return index;
    const isFit = index.vector?.form === undefined ? canSearch(index.method, type) : isOfNumbers(type);
    if (!isFit) {
      throw sqlError("42804", `index "${index.name}" cannot have column "${column.name}" of another type`, {
        hint: "Drop the index first.",
      });
    }
    return Object.freeze({ ...index, id: editor.nextId() });
  });
  return withSearchIndexes(table, next);
}

/** Whether a column of the type can be searched so. */
export function canSearch(method: SearchIndexDef["method"], type: SqlType): boolean {
  if (type.element !== null) return false;
  if (method !== "hnsw" && method !== "text") return true;
  if (method === "hnsw") {
    const isKnown = type.name === "bit" || isOfNumbers(type);
    return isKnown && type.modifier !== null && type.modifier <= indexedDimensionsMax(type);
  }
  return ["text", "varchar", "bpchar", "name"].includes(type.name);
}

/** Of a vector index on such a type. */
export function indexedDimensionsMax({ name }: SqlType): number {
  return name === "bit" ? INDEXED_BITS_MAX : VECTOR_DIMENSIONS_MAX;
}

/** A vector, of any number of dimensions. */
const isOfNumbers = ({ name, element }: SqlType): boolean =>
  element === null && ["vector", "halfvec", "sparsevec"].includes(name);

/** Whether an index is one that finds all of the column's vectors as they are. */
export function isVectorIndexOf(columnId: number): (index: SearchIndexDef) => boolean {
  return ({ vector, columnIds }) =>
    vector !== undefined && vector.form === undefined && vector.where === undefined && columnIds[0] === columnId;
}

function withSearchIndexes(table: TableDef, searchIndexes: readonly SearchIndexDef[]): TableDef {
  const { searchIndexes: _, ...rest } = table;
  return Object.freeze(searchIndexes.length === 0 ? rest : { ...rest, searchIndexes });
}
