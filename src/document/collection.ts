/**
 * A document collection as its routes see it: the content of the table's definition, with the texts of the statements
 * that all requests of a kind share. Made from the definition, once for each; nothing here has state.
 */

import type { CollectionIndexDef, FieldType } from "../catalog/document-collection.js";
import type { SearchIndexDef, TableDef } from "../catalog/table.js";
import type { ResponseOf } from "../protocol/endpoints.js";
import { identifier } from "./sql-text.js";

export interface Field {
  readonly path: readonly string[];
  /** The path with dots. */
  readonly name: string;
  readonly type: FieldType;
  readonly required: boolean;
  /** By itself, not only together with other fields. */
  readonly unique: boolean;
  /** The column that has it, in quotes. Null: it is inside an object. */
  readonly column: string | null;
  /** Of a vector. */
  readonly dimensions: number | null;
  readonly items: FieldType | null;
  /** The column of its text's vector, in quotes. */
  readonly embedding: string | null;
  /** The model that makes it; null: the configured one. */
  readonly model: string | null;
}

export interface CollectionIndex extends CollectionIndexDef {
  readonly unique: boolean;
  /** Of text and vector indexes. */
  readonly search: SearchIndexDef | null;
}

export interface Collection {
  readonly table: TableDef;
  readonly name: string;
  /** With its schema, in quotes. */
  readonly sqlName: string;
  readonly fields: readonly Field[];
  /** Fields that have columns, by name, in the order of the columns below. */
  readonly columns: ReadonlyMap<string, Field>;
  /** Fields inside objects. */
  readonly inner: readonly Field[];
  readonly embedded: readonly Field[];
  readonly indexes: readonly CollectionIndex[];
  /** Paths inside JSON that indexes have. */
  readonly indexedPaths: ReadonlySet<string>;
  /** `id, …, doc`: what DocumentReader reads. */
  readonly selectList: string;
}

/** What a text index on all texts of a document has for its field. */
export const ALL_TEXTS = "*";
/** The generated column that has them. */
export const TEXTS_COLUMN = "search_text";

const known = new WeakMap<TableDef, Collection | null>();

/** Null: the table is no document collection, or none any more because a statement took its id or doc away. */
export function collectionOf(table: TableDef): Collection | null {
  let collection = known.get(table);
  if (collection === undefined) {
    collection = describe(table);
    known.set(table, collection);
  }
  return collection;
}

function describe(table: TableDef): Collection | null {
  const { collection: def } = table;
  if (def?.kind !== "document") return null;
  const columnOf = (id: number | undefined) => table.columns.find((column) => column.id === id) ?? null;
  if (!["id", "doc"].every((name) => table.columns.some((column) => column.name === name))) return null;
  const uniqueColumns = new Set(
    table.indexes
      .filter((index) => index.unique && index.columns.length === 1)
      .map(({ columns }) => columns[0]!.columnId),
  );
  const fields = def.fields.flatMap((field): Field[] => {
    const { path, type, items = null, columnId } = field;
    const column = columnId === null ? null : columnOf(columnId);
    if (columnId !== null && column === null) return [];
    const embedding = columnOf(field.embeddingColumnId);
    return [
      {
        path,
        name: path.join("."),
        type,
        items,
        required: column?.notNull ?? field.required ?? false,
        unique: columnId === null ? false : uniqueColumns.has(columnId),
        column: column && identifier(column.name),
        dimensions: type === "vector" ? column!.type.modifier : null,
        embedding: embedding && identifier(embedding.name),
        model: field.embeddingModel ?? null,
      },
    ];
  });
  const columns = new Map(fields.filter(({ column }) => column !== null).map((field) => [field.name, field]));
  const indexes = def.indexes.flatMap((index) => indexOf(table, index));
  const ordered = indexes.filter(({ search, unique }) => search === null && !unique);
  return {
    table,
    name: table.name,
    sqlName: `${identifier(table.schema)}.${identifier(table.name)}`,
    fields,
    columns,
    inner: fields.filter(({ column }) => column === null),
    embedded: fields.filter(({ embedding }) => embedding !== null),
    indexes,
    indexedPaths: new Set(ordered.flatMap((index) => index.fields)),
    selectList: ["id", ...[...columns.values()].map(({ column }) => column!), "doc"].join(", "),
  };
}

/** Empty when a statement has dropped it. */
function indexOf(table: TableDef, def: CollectionIndexDef): CollectionIndex[] {
  const search = table.searchIndexes?.find(({ id }) => id === def.indexId);
  if (search !== undefined) return [{ ...def, unique: false, search }];
  const index = table.indexes.find(({ id }) => id === def.indexId);
  return index === undefined ? [] : [{ ...def, unique: index.unique, search: null }];
}

export interface CollectionTextIndex {
  /** In quotes. */
  readonly columns: readonly string[];
  /** Names of its fields; null: all texts of the document. */
  readonly fields: readonly string[] | null;
  readonly language: string;
  readonly search: SearchIndexDef;
}

/** The index that searches by words use: the first. */
export function textIndexOf({ table, indexes }: Collection): CollectionTextIndex | null {
  const index = indexes.find(({ search }) => search?.method === "text" && search.text?.trigrams !== true);
  if (index === undefined) return null;
  const { columnIds, text } = index.search!;
  const columns = columnIds.map((id) => identifier(table.columns.find((column) => column.id === id)!.name));
  const fields = index.fields[0] === ALL_TEXTS ? null : index.fields;
  return { columns, fields, language: text!.language, search: index.search! };
}

/** The collection as clients read it. */
type CollectionFacts = ResponseOf<"collections.list">["items"][number];

export function describeCollection(collection: Collection): CollectionFacts {
  const { table, name, fields, indexes } = collection;
  return {
    name,
    schema: {
      fields: fields.map((field) => ({
        name: field.name,
        type: field.type,
        required: field.required,
        ...(field.unique && { unique: true }),
        ...(field.dimensions !== null && { dimensions: field.dimensions }),
        ...(field.items !== null && { items: field.items }),
        ...(field.embedding !== null && { embed: field.model ?? true }),
      })),
      indexes: indexes.map((index) => ({
        name: index.name,
        type: index.type,
        fields: index.fields,
        ...(index.unique && { unique: true }),
        ...(index.search?.vector && {
          metric: index.search.vector.metric,
          m: index.search.vector.m,
          ef_construction: index.search.vector.efConstruction,
          ...(index.search.vector.efSearch !== undefined && { ef: index.search.vector.efSearch }),
        }),
        ...(index.search?.text && { language: index.search.text.language }),
      })),
    },
    created_at: new Date(table.createdAt / 1000).toISOString(),
  };
}
