/**
 * Plans a change of a collection's schema: statements before and after its documents are moved between columns and
 * `doc`, and which documents these are. Nothing is lost: values of a dropped field stay in the documents, and values
 * of an added field go into its column if they are of its type. Called by the handlers of /v1/collections, which run
 * all of it in one transaction.
 */
import type { Collection, CollectionIndex, Field } from "./collection.js";
import { TEXTS_COLUMN } from "./collection.js";
import { invalid, pathOf } from "./field-path.js";
import {
  checkOf,
  columnsOf,
  type EmbeddingDimensions,
  embeddingColumn,
  embeddingColumnOf,
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
  /** As they are afterwards. */
  readonly fields: readonly NewField[];
  readonly indexes: readonly PlannedIndex[];
}

/** Throws invalid_request for what cannot be changed so. */
export function planChange(
  collection: Collection,
  request: SchemaChangeRequest,
  dimensionsOf: EmbeddingDimensions,
): SchemaChange {
  const old = new Map(collection.fields.map((field) => [field.name, newFieldOf(field)]));
  const fields = fieldsAfter(old, request);
  const sets = fieldSets(collection, old, fields);
  const { added, dropped, changed, embedded } = sets;
  const { kept, rebuilt, gone } = sortIndexes(collection, request, fields, sets);
  const made = newIndexes(collection, request, [...kept, ...rebuilt], fields);
  const indexes = [...kept, ...rebuilt, ...made];
  const alter = `ALTER TABLE ${collection.sqlName}`;
  const required = newlyRequired(collection, fields);
  const hasTexts = collection.table.columns.some(({ name }) => name === TEXTS_COLUMN);
  const keepsTexts = kept.some(isOfAllTexts);
  const before = [
    ...[...gone, ...rebuilt].map(({ relation }) => `DROP INDEX IF EXISTS public.${identifier(relation)}`),
    ...(hasTexts && !keepsTexts ? [`${alter} DROP COLUMN ${TEXTS_COLUMN}`] : []),
    ...[...dropped, ...changed].filter(sets.isChecked).map(({ path }) => {
      return `${alter} DROP CONSTRAINT IF EXISTS ${identifier(shapeName(collection.name, path))}`;
    }),
    ...newColumns(added, embedded, dimensionsOf).map((column) => `${alter} ADD COLUMN ${column}`),
    ...noLongerRequired(collection, fields).map((column) => `${alter} ALTER COLUMN ${column} DROP NOT NULL`),
  ];
  const after = [
    ...oldColumns(dropped, embedded).map((column) => `${alter} DROP COLUMN ${column}`),
    ...[...required.values()].map((column) => `${alter} ALTER COLUMN ${column} SET NOT NULL`),
    ...[...changed, ...added].filter(sets.isChecked).flatMap((field) => {
      return checkOf(collection.name, field, fields).map((check) => `${alter} ADD ${check}`);
    }),
    ...(!keepsTexts && indexes.some(isOfAllTexts) ? [`${alter} ADD COLUMN ${textsColumn(fields)}`] : []),
    ...[...rebuilt, ...made].map((index) => indexStatement(collection.name, index, fields)),
  ];
  return { before, moved: movedDocuments(sets), after, required, fields, indexes };
}

interface FieldSets {
  readonly added: readonly NewField[];
  readonly dropped: readonly Field[];
  /** There before and afterwards. */
  readonly changed: readonly NewField[];
  /** Of `changed`: those whose texts get vectors, or lose them. */
  readonly embedded: readonly NewField[];
  /** Names of fields with columns that come or go. */
  readonly tops: ReadonlySet<string>;
  /** Whether the check on the field is made again: if its value moves. */
  readonly isChecked: (field: Pick<NewField, "path">) => boolean;
}

function fieldSets(collection: Collection, old: ReadonlyMap<string, NewField>, fields: readonly NewField[]): FieldSets {
  const nameOf = ({ path }: NewField) => path.join(".");
  const names = new Set(fields.map(nameOf));
  const added = fields.filter((field) => !old.has(nameOf(field)));
  const dropped = collection.fields.filter(({ name }) => !names.has(name));
  const changed = fields.filter((field) => old.has(nameOf(field)));
  const tops = new Set([...added, ...dropped].filter(({ path }) => path.length === 1).map(({ path }) => path[0]!));
  return {
    added,
    dropped,
    changed,
    embedded: changed.filter((field) => embedsOtherwise(field, old.get(nameOf(field))!)),
    tops,
    isChecked: ({ path }) => path.length > 1 || tops.has(path[0]!),
  };
}

function newColumns(
  added: readonly NewField[],
  embedded: readonly NewField[],
  dimensionsOf: EmbeddingDimensions,
): string[] {
  const vectors = embedded.filter(({ embed }) => embed);
  return [
    // Documents without a value are reported by their ids.
    ...added.flatMap((field) => columnsOf({ ...field, required: false }, dimensionsOf)),
    ...vectors.map((field) => embeddingColumnOf(field, dimensionsOf)),
  ];
}

function oldColumns(dropped: readonly Field[], embedded: readonly NewField[]): string[] {
  const vectors = embedded.filter(({ embed }) => !embed).map((field) => identifier(embeddingColumn(field)));
  return [...vectors, ...dropped.flatMap(({ column, embedding }) => [embedding ?? [], column ?? []].flat())];
}

function newlyRequired({ columns }: Collection, fields: readonly NewField[]): Map<string, string> {
  const required = new Map<string, string>();
  for (const { path, required: isRequired } of fields) {
    const field = columns.get(path[0]!);
    if (path.length > 1 || !isRequired || field?.required) continue;
    required.set(path[0]!, field?.column ?? identifier(path[0]!));
  }
  return required;
}

function noLongerRequired({ columns }: Collection, fields: readonly NewField[]): string[] {
  const free = new Set(
    fields.filter(({ required, path }) => !required && path.length === 1).map(({ path }) => path[0]!),
  );
  return [...columns.values()].flatMap(({ name, required, column }) => (required && free.has(name) ? [column!] : []));
}

/** Throws invalid_request for another model: vectors of both cannot be compared. */
function embedsOtherwise(field: NewField, before: NewField): boolean {
  if (field.embed && before.embed && field.model !== before.model) {
    throw invalid(
      `${field.path.join(".")}.embed`,
      "the model cannot be changed: switch embed off first, then on with the other one",
    );
  }
  return field.embed !== before.embed;
}

function newFieldOf({ path, type, required, unique, embedding, model, dimensions, items }: Field): NewField {
  return { path, type, required, unique, embed: embedding !== null, model, dimensions, items };
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

/** Indexes that stay as they are, are rebuilt under their names, or are dropped. */
function sortIndexes(
  collection: Collection,
  { dropIndexes, replaces, schema }: SchemaChangeRequest,
  fields: readonly NewField[],
  { tops, embedded }: FieldSets,
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
      ...(vector?.efSearch === undefined ? [] : [["ef_search", vector.efSearch] as const]),
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

function movedDocuments({ added, dropped, changed }: FieldSets): string | null {
  // What is inside of objects and arrays is checked, but does not move.
  const isInside = ({ path, items }: NewField) => path.length > 1 || items !== null;
  if ([...added, ...changed].some(isInside)) return "true";
  const parts = [
    ...added.map(({ path }) => `doc ? ${literal(path[0]!)}`),
    ...dropped.flatMap(({ column }) => (column === null ? [] : [`${column} IS NOT NULL`])),
  ];
  return parts.length === 0 ? null : parts.join(" OR ");
}
