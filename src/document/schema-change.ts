/**
 * What a change of a collection's schema takes: statements before and after its documents are moved between columns and
 * `doc`, and which documents these are. Nothing is lost by it: values of a field that is dropped stay in the documents,
 * and values that documents have for a field that is added get into its column, if they are of its type. Called by the
 * handlers of /v1/collections, which run all of it in one transaction.
 */
import type { Collection, CollectionIndex, Field } from "./collection.js";
import { TEXTS_COLUMN } from "./collection.js";
import { invalid, pathOf } from "./field-path.js";
import {
  checkOf,
  columnsOf,
  embeddingColumn,
  indexStatement,
  isOfAllTexts,
  type PlannedIndex,
  planIndexes,
  shapeName,
  textsColumn,
} from "./schema-ddl.js";
import type { NewCollectionIndex, NewField, SchemaRequest } from "./schema-request.js";
import { identifier, literal } from "./sql-text.js";

export interface SchemaChangeRequest {
  readonly schema: SchemaRequest;
  readonly dropFields: readonly string[];
  readonly dropIndexes: readonly string[];
  /** Fields that the schema does not name are dropped, and indexes if it names any. */
  readonly replaces: boolean;
}

export interface SchemaChange {
  readonly before: readonly string[];
  /** Condition of the documents to be checked and moved; null: none are. */
  readonly moved: string | null;
  readonly after: readonly string[];
  /** Columns that may have no NULL from now on, by the names of their fields. */
  readonly required: ReadonlyMap<string, string>;
  /** As they are afterwards, and those whose texts get vectors for the first time. */
  readonly fields: readonly NewField[];
  readonly indexes: readonly PlannedIndex[];
}

/** Throws invalid_request for what cannot be changed so. */
export function planChange(
  collection: Collection,
  request: SchemaChangeRequest,
  embeddingDimensions: number | null,
): SchemaChange {
  const old = new Map(collection.fields.map((field) => [field.name, newFieldOf(field)]));
  const fields = fieldsAfter(old, request);
  const now = new Map(fields.map((field) => [field.path.join("."), field]));
  const added = fields.filter((field) => !old.has(field.path.join(".")));
  const dropped = collection.fields.filter(({ name }) => !now.has(name));
  const changed = fields.filter((field) => old.has(field.path.join(".")));
  const tops = new Set([...added, ...dropped].filter(({ path }) => path.length === 1).map(({ path }) => path[0]!));
  const embedded = changed.filter((field) => field.embed !== old.get(field.path.join("."))!.embed);
  const { kept, rebuilt, gone } = sortIndexes(collection, request, fields, tops, embedded);
  const made = newIndexes(collection, request, [...kept, ...rebuilt], fields);
  const alter = `ALTER TABLE ${collection.sqlName}`;
  const before: string[] = [];
  const after: string[] = [];
  for (const { relation } of [...gone, ...rebuilt]) before.push(`DROP INDEX IF EXISTS public.${identifier(relation)}`);
  const hadTexts = collection.table.columns.some(({ name }) => name === TEXTS_COLUMN);
  const keepsTexts = kept.some(isOfAllTexts);
  if (hadTexts && !keepsTexts) before.push(`${alter} DROP COLUMN ${TEXTS_COLUMN}`);
  // Checks are made anew where the values they are about move.
  const checked = (path: readonly string[]) => tops.has(path[0]!) || path.length > 1;
  for (const { path } of [...dropped, ...changed].filter((field) => checked(field.path))) {
    before.push(`${alter} DROP CONSTRAINT IF EXISTS ${identifier(shapeName(collection.name, path))}`);
  }
  for (const field of added) {
    for (const column of columnsOf({ ...field, required: false }, embeddingDimensions)) {
      before.push(`${alter} ADD COLUMN ${column}`);
    }
  }
  for (const field of embedded) {
    const column = identifier(embeddingColumn(field));
    if (field.embed) before.push(`${alter} ADD COLUMN ${column} vector(${embeddingDimensions})`);
    else after.push(`${alter} DROP COLUMN ${column}`);
  }
  for (const { column, embedding } of dropped) {
    if (column !== null) after.push(`${alter} DROP COLUMN ${column}`);
    if (embedding !== null) after.push(`${alter} DROP COLUMN ${embedding}`);
  }
  const required = new Map<string, string>();
  for (const { path, required: isRequired } of fields.filter((field) => field.path.length === 1)) {
    const name = path[0]!;
    const column = collection.columns.get(name)?.column ?? identifier(name);
    const wasRequired = collection.columns.get(name)?.required ?? false;
    if (isRequired && !wasRequired) required.set(name, column);
    if (!isRequired && wasRequired) before.push(`${alter} ALTER COLUMN ${column} DROP NOT NULL`);
  }
  for (const column of required.values()) after.push(`${alter} ALTER COLUMN ${column} SET NOT NULL`);
  for (const field of [...changed, ...added].filter((one) => checked(one.path))) {
    for (const check of checkOf(collection.name, field, fields)) after.push(`${alter} ADD ${check}`);
  }
  const indexes = [...kept, ...rebuilt, ...made];
  if (!keepsTexts && indexes.some(isOfAllTexts)) after.push(`${alter} ADD COLUMN ${textsColumn(fields)}`);
  for (const index of [...rebuilt, ...made]) after.push(indexStatement(collection.name, index, fields));
  return {
    before,
    moved: movedDocuments(collection, added, dropped, changed, embedded),
    after,
    required,
    fields,
    indexes,
  };
}

function newFieldOf({ path, type, required, unique, embedding, dimensions, items }: Field): NewField {
  return { path, type, required, unique, embed: embedding !== null, dimensions, items };
}

function fieldsAfter(old: ReadonlyMap<string, NewField>, request: SchemaChangeRequest): NewField[] {
  const { schema, dropFields, replaces } = request;
  const after = new Map(replaces ? [] : old);
  for (const name of dropFields) {
    if (!old.has(name)) throw invalid("drop_fields", `there is no field "${name}"`);
    for (const other of [...after.keys()]) if (other === name || other.startsWith(`${name}.`)) after.delete(other);
  }
  for (const field of schema.fields) {
    const name = field.path.join(".");
    const before = old.get(name);
    if (before !== undefined && (before.type !== field.type || before.dimensions !== field.dimensions)) {
      throw invalid(
        `schema.fields (${name})`,
        "the type of a field does not change: drop the field, then add it again",
      );
    }
    after.set(name, field);
  }
  return [...after.values()];
}

/** Indexes that stay as they are, are made anew under their names, or go. */
function sortIndexes(
  collection: Collection,
  { dropIndexes, replaces, schema }: SchemaChangeRequest,
  fields: readonly NewField[],
  tops: ReadonlySet<string>,
  embedded: readonly NewField[],
): Record<"kept" | "rebuilt" | "gone", PlannedIndex[]> {
  for (const name of dropIndexes) {
    if (!collection.indexes.some((index) => index.name === name)) {
      throw invalid("drop_indexes", `there is no index "${name}"`);
    }
  }
  const named = new Set(schema.indexes.map(({ name }) => name));
  const sorted: Record<"kept" | "rebuilt" | "gone", PlannedIndex[]> = { kept: [], rebuilt: [], gone: [] };
  for (const index of collection.indexes) {
    const planned = plannedOf(collection, index);
    const field = fields.find(({ path }) => path.join(".") === index.fields[0]);
    const isOfUnique = index.unique && index.fields.length === 1 && field !== undefined;
    const isOfEmbedded = index.type === "vector" && field?.type === "string";
    const isUnwanted =
      dropIndexes.includes(index.name) ||
      named.has(index.name) ||
      (isOfUnique && !field.unique && schema.fields.includes(field)) ||
      (isOfEmbedded && embedded.includes(field)) ||
      (replaces && schema.indexes.length > 0 && !isOfUnique && !isOfEmbedded && index.type !== "text");
    const isTouched = index.fields.some((name) => tops.has(name.split(".")[0]!));
    const isImpossible = isTouched && (index.type === "vector" || index.type === "text") && field === undefined;
    if (isUnwanted || (isImpossible && !isOfAllTexts(planned))) sorted.gone.push(planned);
    else if (isTouched || (isOfAllTexts(planned) && tops.size > 0)) sorted.rebuilt.push(planned);
    else sorted.kept.push(planned);
  }
  return sorted;
}

/** As it was asked for. */
function plannedOf({ table }: Collection, index: CollectionIndex): PlannedIndex {
  const { name, type, unique, search, indexId } = index;
  const { vector, text } = search ?? {};
  return {
    name,
    relation: search?.name ?? table.indexes.find(({ id }) => id === indexId)!.name,
    type,
    unique,
    paths: index.fields.map((field) => pathOf(field, "schema.indexes")),
    options: [
      ...(vector ? Object.entries({ metric: vector.metric, m: vector.m, ef_construction: vector.efConstruction }) : []),
      ...(text ? [["language", text.language] as const] : []),
    ],
  };
}

function newIndexes(
  collection: Collection,
  { schema }: SchemaChangeRequest,
  there: readonly PlannedIndex[],
  fields: readonly NewField[],
): PlannedIndex[] {
  const has = (type: NewCollectionIndex["type"], path: readonly string[], unique: boolean) =>
    there.some((index) => {
      const isOfPath = index.paths.length === 1 && index.paths[0]!.join(".") === path.join(".");
      return index.type === type && isOfPath && index.unique === unique;
    });
  const wanting = fields.filter(({ path, unique, embed }) => {
    return (unique && !has("btree", path, true)) || (embed && !has("vector", path, false));
  });
  const one = wanting.map((field) => ({
    ...field,
    unique: field.unique && !has("btree", field.path, true),
    embed: field.embed && !has("vector", field.path, false),
  }));
  const names = there.map(({ name }) => name);
  return planIndexes(collection.name, one, schema.indexes, names);
}

function movedDocuments(
  { columns }: Collection,
  added: readonly NewField[],
  dropped: readonly Field[],
  changed: readonly NewField[],
  embedded: readonly NewField[],
): string | null {
  // What is inside of objects and arrays is checked, but does not move.
  const isInside = ({ path, items }: NewField) => path.length > 1 || items !== null;
  if ([...added, ...changed].some(isInside)) return "true";
  const parts = [
    ...added.map(({ path }) => `doc ? ${literal(path[0]!)}`),
    ...dropped.flatMap(({ column }) => (column === null ? [] : [`${column} IS NOT NULL`])),
    ...embedded.filter(({ embed }) => embed).map(({ path }) => `${columns.get(path[0]!)!.column} IS NOT NULL`),
  ];
  return parts.length === 0 ? null : parts.join(" OR ");
}
