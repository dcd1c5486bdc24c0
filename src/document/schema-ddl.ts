/**
 * From a collection's schema to the statements that define its table, and to the part of the table's definition that
 * statements cannot say. Called by the handlers, which run the statements and put the definition in, in one
 * transaction.
 */
import type {
  CollectionFieldDef,
  CollectionIndexDef,
  DocumentCollectionDef,
  FieldType,
} from "../catalog/document-collection.js";
import type { TableDef } from "../catalog/table.js";
import { IDENTIFIER_BYTES_MAX } from "../protocol/limits.js";
import { ALL_TEXTS, TEXTS_COLUMN } from "./collection.js";
import { invalid } from "./field-path.js";
import type { NewCollectionIndex, NewField, SchemaRequest } from "./schema-request.js";
import { identifier, indexKey, literal, pathLiteral } from "./sql-text.js";

const COLUMN_TYPES: Readonly<Record<Exclude<FieldType, "vector">, string>> = {
  string: "text",
  number: "double precision",
  integer: "bigint",
  boolean: "boolean",
  date: "timestamp with time zone",
  object: "jsonb",
  array: "jsonb",
};

/** As jsonb_typeof names them. */
const JSON_TYPES: Readonly<Record<FieldType, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  date: "string",
  object: "object",
  array: "array",
  vector: "array",
};

/** An index with the name that it has among all relations. */
export interface PlannedIndex extends NewCollectionIndex {
  readonly name: string;
  readonly relation: string;
}

export interface SchemaPlan {
  readonly statements: readonly string[];
  readonly fields: readonly NewField[];
  readonly indexes: readonly PlannedIndex[];
}

const tableName = (name: string) => `public.${identifier(name)}`;

/**
 * What makes the collection's table. `dimensionsOf`: of the vectors that texts get. A schema without a text index
 * gets one on its strings, or where it has none on all texts, so that every collection can be searched by words.
 * Throws invalid_request for indexes on what the schema does not allow.
 */
export function createStatements(
  name: string,
  { fields, indexes }: SchemaRequest,
  dimensionsOf: EmbeddingDimensions,
): SchemaPlan {
  const hasText = indexes.some(({ type }) => type === "text");
  const planned = planIndexes(name, fields, hasText ? indexes : [...indexes, defaultTextIndex(fields)], []);
  const columns = [
    "id text PRIMARY KEY DEFAULT gen_random_uuid()::text",
    ...fields.flatMap((field) => columnsOf(field, dimensionsOf)),
    "doc jsonb NOT NULL DEFAULT '{}'",
    ...(planned.some(isOfAllTexts) ? [textsColumn(fields)] : []),
    "CHECK (jsonb_typeof(doc) = 'object')",
    ...fields.flatMap((field) => checkOf(name, field, fields)),
  ];
  const create = `CREATE TABLE ${tableName(name)} (${columns.join(", ")})`;
  return {
    statements: [create, ...planned.map((index) => indexStatement(name, index, fields))],
    fields,
    indexes: planned,
  };
}

function defaultTextIndex(fields: readonly NewField[]): NewCollectionIndex {
  const texts = fields.filter(({ type, path }) => type === "string" && path.length === 1).map(({ path }) => path);
  return { name: null, type: "text", paths: texts.length > 0 ? texts : [[ALL_TEXTS]], unique: false, options: [] };
}

export function isOfAllTexts({ type, paths }: Pick<NewCollectionIndex, "type" | "paths">): boolean {
  return type === "text" && paths.some((path) => path[0] === ALL_TEXTS);
}

/** All texts of a document, one after the other: of its columns, then of the rest. */
export function textsColumn(fields: readonly Pick<NewField, "path" | "type">[]): string {
  const texts = fields.flatMap(({ path, type }) => {
    if (path.length > 1) return [];
    const column = identifier(path[0]!);
    if (type === "string") return [`coalesce(${column}, '')`];
    return type === "object" || type === "array" ? [`coalesce(jsonb_texts(${column}), '')`] : [];
  });
  const all = [...texts, "jsonb_texts(doc)"].join(" || E'\\n' || ");
  return `${identifier(TEXTS_COLUMN)} text GENERATED ALWAYS AS (${all}) STORED`;
}

/** The vector of a field's text. */
/** Dimensions of a model's vectors; null: the configured model. Throws the error that there is no such model. */
export type EmbeddingDimensions = (model: string | null) => number;

export function embeddingColumn({ path }: Pick<NewField, "path">): string {
  return `${path[0]}_embedding`;
}

export function columnsOf(field: NewField, dimensionsOf: EmbeddingDimensions): string[] {
  const { path, type, required, dimensions, embed } = field;
  if (path.length > 1) return [];
  const sqlType = type === "vector" ? `vector(${dimensions})` : COLUMN_TYPES[type];
  const column = `${identifier(path[0]!)} ${sqlType}${required ? " NOT NULL" : ""}`;
  return embed ? [column, embeddingColumnOf(field, dimensionsOf)] : [column];
}

/** The database keeps it up to date, whoever writes the text. */
export function embeddingColumnOf(
  { path, model }: Pick<NewField, "path" | "model">,
  dimensionsOf: EmbeddingDimensions,
): string {
  const column = `${identifier(embeddingColumn({ path }))} vector(${dimensionsOf(model)})`;
  const by = model === null ? "" : `, '${model}'`;
  return `${column} GENERATED ALWAYS AS (EMBED(${identifier(path[0]!)}${by})) STORED`;
}

/** What the column's type does not ensure, so that changes by SQL keep documents as the schema has them. */
export function checkOf(collection: string, field: NewField, fields: readonly NewField[]): string[] {
  const { path, type, required } = field;
  const name = `CONSTRAINT ${identifier(shapeName(collection, path))}`;
  if (path.length === 1) {
    const column = identifier(path[0]!);
    // A value of the field lies in its column: in `doc` nobody would find it. There lies that it is null, or how a date
    // was written.
    const isElsewhere = `coalesce(jsonb_typeof(doc -> ${literal(path[0]!)}), 'null') = 'null'`;
    const isInPlace = type === "date" ? `(${column} IS NOT NULL OR ${isElsewhere})` : isElsewhere;
    const isShaped =
      type === "object" || type === "array" ? `jsonb_typeof(${column}) = '${JSON_TYPES[type]}' AND ` : "";
    return [`${name} CHECK (${isShaped}${isInPlace})`];
  }
  const typeOf = `jsonb_typeof(${valueAt(path, fields)})`;
  // Where the object around it is missing, nothing is missing in it.
  const around = `jsonb_typeof(${valueAt(path.slice(0, -1), fields)})`;
  const isRight = `coalesce(${typeOf}, 'null') IN ('${JSON_TYPES[type]}'${required ? "" : ", 'null'"})`;
  return [`${name} CHECK (${around} IS DISTINCT FROM 'object' OR ${isRight})`];
}

/** The value at a path as SQL of type jsonb: below a field's column, or in `doc`. */
export function valueAt(path: readonly string[], fields: readonly Pick<NewField, "path" | "type">[]): string {
  const [top, ...rest] = path;
  const field = fields.find((other) => other.path.length === 1 && other.path[0] === top);
  if (field === undefined) return `(doc #> ${pathLiteral(path)})`;
  return rest.length === 0 ? identifier(top!) : `(${identifier(top!)} #> ${pathLiteral(rest)})`;
}

/** What an index on the path has for keys; filters on the path ask for the same (filter-place.ts). */
function indexKeyAt(path: readonly string[], fields: readonly Pick<NewField, "path" | "type">[]): string {
  const [top, ...rest] = path;
  const field = fields.find((other) => other.path.length === 1 && other.path[0] === top);
  return field === undefined ? indexKey("doc", path) : indexKey(identifier(top!), rest);
}

/** The indexes asked for, those of unique and embedded fields, with names. `taken`: names that are there already. */
export function planIndexes(
  collection: string,
  fields: readonly NewField[],
  indexes: readonly NewCollectionIndex[],
  taken: readonly string[],
): PlannedIndex[] {
  const wanted: NewCollectionIndex[] = [
    ...indexes,
    ...fields
      .filter(({ unique }) => unique)
      .map(({ path }): NewCollectionIndex => ({ name: null, type: "btree", paths: [path], unique: true, options: [] })),
    ...fields
      .filter(({ embed }) => embed)
      .map(({ path }): NewCollectionIndex => {
        return { name: `${path[0]}_embedding`, type: "vector", paths: [path], unique: false, options: [] };
      }),
  ];
  const names = new Set(taken);
  return wanted.map((index) => {
    const made = isOfAllTexts(index) ? "texts" : index.paths.map((path) => path.join("_")).join("_");
    let name = index.name ?? made;
    if (names.has(name) && index.name !== null) throw invalid("schema.indexes", `the index "${name}" already exists`);
    for (let i = 2; names.has(name); i++) name = `${made}_${i}`;
    names.add(name);
    return { ...index, name, relation: relationName(collection, name) };
  });
}

/** Names of indexes are shared with those of all relations, so the collection's stands before. */
function relationName(collection: string, index: string): string {
  return cut(index.startsWith(`${collection}_`) ? index : `${collection}_${index}`);
}

/** Of the constraint that a field has its type. */
export function shapeName(collection: string, path: readonly string[]): string {
  return cut(`${collection}_${path.join(".")}_shape`);
}

function cut(name: string): string {
  return Buffer.from(name).subarray(0, IDENTIFIER_BYTES_MAX).toString().replaceAll("\ufffd", "");
}

export function indexStatement(collection: string, index: PlannedIndex, fields: readonly NewField[]): string {
  const { type, paths, unique, relation, options } = index;
  const where = `schema.indexes (${index.name})`;
  const method = type === "vector" ? "USING hnsw " : type === "text" ? "USING text " : "";
  const keys = paths.map((path) => keyOf(path, type, unique, fields, where));
  if (type === "vector" && keys.length > 1) throw invalid(where, "a vector index is on one field");
  const settings = options.map(([name, value]) => `${name} = ${typeof value === "number" ? value : literal(value)}`);
  const rest = settings.length === 0 ? "" : ` WITH (${settings.join(", ")})`;
  const kind = unique ? "UNIQUE INDEX" : "INDEX";
  return `CREATE ${kind} ${identifier(relation)} ON ${tableName(collection)} ${method}(${keys.join(", ")})${rest}`;
}

function keyOf(
  path: readonly string[],
  type: CollectionIndexDef["type"],
  unique: boolean,
  fields: readonly NewField[],
  where: string,
): string {
  const field = fields.find((other) => other.path.join(".") === path.join("."));
  if (type === "vector") {
    if (field?.type === "vector") return identifier(path[0]!);
    if (field?.embed) return identifier(embeddingColumn(field));
    throw invalid(where, `"${path.join(".")}" is neither a field of type vector nor a field with embed`);
  }
  if (type === "text") {
    if (path[0] === ALL_TEXTS && path.length === 1) return identifier(TEXTS_COLUMN);
    if (field?.type === "string" && path.length === 1) return identifier(path[0]!);
    throw invalid(where, `"${path.join(".")}" is not a field of type string`);
  }
  if (field?.type === "vector") throw invalid(where, "a vector needs an index of the type vector");
  if (path.length === 1 && path[0] === "id") return "id";
  const isScalar = field !== undefined && path.length === 1 && field.type !== "object" && field.type !== "array";
  if (isScalar) return identifier(path[0]!);
  // Unique are the values themselves, of which arrays are as different as they look.
  return unique ? `(${valueAt(path, fields)})` : `(${indexKeyAt(path, fields)})`;
}

/** What the table's definition says beside columns and indexes. `before`: of a schema that is changed. */
export function definitionOf(
  table: TableDef,
  plan: Pick<SchemaPlan, "fields" | "indexes">,
  before: DocumentCollectionDef = { kind: "document", fields: [], indexes: [] },
): DocumentCollectionDef {
  const columnId = (name: string) => table.columns.find((column) => column.name === name)!.id;
  const fields = plan.fields.map((field): CollectionFieldDef => {
    const { path, type, items, required, embed, model } = field;
    return {
      columnId: path.length > 1 ? null : columnId(path[0]!),
      path,
      type,
      ...(items !== null && { items }),
      ...(path.length > 1 && { required }),
      ...(embed && { embeddingColumnId: columnId(embeddingColumn(field)) }),
      ...(model !== null && { embeddingModel: model }),
    };
  });
  const indexes = plan.indexes.map(({ name, type, paths, relation }): CollectionIndexDef => {
    const all = [...table.indexes, ...(table.searchIndexes ?? [])];
    const indexId = all.find((index) => index.name === relation)!.id;
    return { indexId, name, type, fields: paths.map((path) => path.join(".")) };
  });
  return { kind: "document", fields: [...before.fields, ...fields], indexes: [...before.indexes, ...indexes] };
}
