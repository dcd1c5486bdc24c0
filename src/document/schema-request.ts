/**
 * Reads the `schema` of a request to make or change a collection, in either of its forms: `{fields, indexes}`, or a
 * flat map from field to type. Called by the handlers of /v1/collections; the result goes to schema-ddl.ts.
 */
import type { CollectionIndexDef, FieldType } from "../catalog/document-collection.js";
import { IDENTIFIER_BYTES_MAX, VECTOR_DIMENSIONS_MAX } from "../protocol/limits.js";
import { invalid, pathOf } from "./field-path.js";
import { isObject, type JsonObject } from "./merge-patch.js";

/** Numbers of a vector whose field does not say how many: what the usual model of embeddings makes. */
export const DIMENSIONS_DEFAULT = 384;
const FIELDS_MAX = 500;
const INDEXES_MAX = 64;
const INDEX_FIELDS_MAX = 16;

export interface NewField {
  readonly path: readonly string[];
  readonly type: FieldType;
  readonly required: boolean;
  readonly unique: boolean;
  readonly embed: boolean;
  /** The model that embeds it; null: the configured one. */
  readonly model: string | null;
  /** Of vectors. */
  readonly dimensions: number | null;
  /** Of arrays. */
  readonly items: FieldType | null;
}

export interface NewCollectionIndex extends Pick<CollectionIndexDef, "type"> {
  /** Null: made up of its fields. */
  readonly name: string | null;
  readonly paths: readonly (readonly string[])[];
  readonly unique: boolean;
  /** As CREATE INDEX … WITH takes them: m, ef_construction, ef_search, metric, storage, language. */
  readonly options: readonly (readonly [string, string | number])[];
}

export interface SchemaRequest {
  readonly fields: readonly NewField[];
  readonly indexes: readonly NewCollectionIndex[];
}

/** Other names of the types that are in use. */
const TYPES: Readonly<Record<string, FieldType>> = {
  string: "string",
  text: "string",
  number: "number",
  float: "number",
  double: "number",
  integer: "integer",
  int: "integer",
  boolean: "boolean",
  bool: "boolean",
  date: "date",
  datetime: "date",
  timestamp: "date",
  object: "object",
  json: "object",
  array: "array",
  list: "array",
  vector: "vector",
};

const FIELD_OPTIONS =
  "name type required nullable unique index indexed embed dimensions dims items fields properties".split(" ");
const INDEX_OPTIONS =
  "name field fields type unique metric distance_metric m ef_construction ef ef_search storage quantization language".split(
    " ",
  );
const INDEX_TYPES: Readonly<Record<string, CollectionIndexDef["type"]>> = {
  btree: "btree",
  hash: "hash",
  text: "text",
  fulltext: "text",
  vector: "vector",
  hnsw: "vector",
};

/** Documents have these whether or not the schema names them; `doc` is the column of all that it does not name. */
const OWN_COLUMNS: ReadonlySet<string> = new Set([
  "id",
  "_id",
  "doc",
  "tableoid",
  "ctid",
  "xmin",
  "xmax",
  "cmin",
  "cmax",
]);

/** Throws invalid_request with the place in the request. */
export function readSchema(schema: unknown, where = "schema"): SchemaRequest {
  if (schema === undefined || schema === null) return { fields: [], indexes: [] };
  if (!isObject(schema)) throw invalid(where, "must be an object");
  const { fields, indexes } = isStructured(schema) ? schema : { fields: schema, indexes: undefined };
  const reader = new SchemaReader();
  if (fields !== undefined) reader.readFields(fields, [], isStructured(schema) ? `${where}.fields` : where);
  if (indexes !== undefined) reader.readIndexes(indexes, `${where}.indexes`);
  return reader.result();
}

/** `{fields, indexes}` rather than a map whose fields happen to have these names. */
function isStructured(schema: JsonObject): boolean {
  const names = Object.keys(schema);
  const isList = (value: unknown) => Array.isArray(value) || (isObject(value) && typeof value.type !== "string");
  return names.length > 0 && names.every((name) => (name === "fields" || name === "indexes") && isList(schema[name]));
}

class SchemaReader {
  private readonly fields = new Map<string, NewField>();
  private readonly indexes: NewCollectionIndex[] = [];

  result(): SchemaRequest {
    return { fields: [...this.fields.values()], indexes: this.indexes };
  }

  /** A list of `{name, type, …}`, or a map from name to a type or to `{type, …}`. */
  readFields(list: unknown, parent: readonly string[], where: string): void {
    if (Array.isArray(list)) {
      for (const [i, field] of list.entries()) {
        const at = `${where}[${i}]`;
        if (!isObject(field)) throw invalid(at, "must be an object");
        if (typeof field.name !== "string") throw invalid(`${at}.name`, "must be a string");
        this.readField(field.name, field, parent, at);
      }
    } else if (isObject(list)) {
      for (const [name, field] of Object.entries(list)) {
        const at = `${where}.${name}`;
        const options = typeof field === "string" ? { type: field } : field;
        if (!isObject(options)) throw invalid(at, "must be the name of a type, or an object");
        this.readField(name, options, parent, at);
      }
    } else throw invalid(where, "must be a list or an object");
  }

  private readField(name: string, options: JsonObject, parent: readonly string[], where: string): void {
    const path = [...parent, ...pathOf(name, where)];
    checkOptions(options, FIELD_OPTIONS, where);
    const { type, size } = typeAndSize(options.type, `${where}.type`);
    const dotted = path.join(".");
    if (path[0] === "id" && path.length === 1) {
      // Ids are texts, whatever a client declares: one that is given as a number is kept as its text.
      if (type !== "string" && type !== "integer" && type !== "number") {
        throw invalid(`${where}.type`, "the id of documents is a string; integer and number are taken for it");
      }
      return;
    }
    if (OWN_COLUMNS.has(path[0]!)) throw invalid(where, `the name "${path[0]}" is reserved`);
    if (this.fields.has(dotted)) throw invalid(where, `the field "${dotted}" is there twice`);
    if (this.fields.size >= FIELDS_MAX) throw invalid(where, `a collection has at most ${FIELDS_MAX} fields`);
    const flag = (option: string) => flagOf(options, option, where);
    const field: NewField = {
      path,
      type,
      required: flag("required") ?? !(flag("nullable") ?? true),
      unique: flag("unique") ?? false,
      ...embedding(options.embed, where),
      dimensions: dimensionsOf(size === null ? options : { ...options, dimensions: size }, type, where),
      items: options.items === undefined ? null : itemsOf(options.items, type, where),
    };
    if (field.embed && type !== "string") throw invalid(`${where}.embed`, "only a field of type string is embedded");
    if (field.embed && path.length > 1) throw invalid(`${where}.embed`, "a field inside an object is not embedded");
    if (type === "vector" && path.length > 1) throw invalid(where, "a vector is a field of the document itself");
    if (type === "vector" && field.unique) throw invalid(`${where}.unique`, "a vector is not unique");
    this.fields.set(dotted, field);
    if (flag("index") ?? flag("indexed")) {
      const indexType = type === "vector" ? "vector" : "btree";
      this.addIndex({ name: null, type: indexType, paths: [path], unique: false, options: [] }, where);
    }
    const parts = options.fields ?? options.properties;
    if (parts === undefined) return;
    if (type !== "object") throw invalid(where, "only an object has fields");
    this.readFields(parts, path, options.fields === undefined ? `${where}.properties` : `${where}.fields`);
  }

  readIndexes(list: unknown, where: string): void {
    if (!Array.isArray(list)) throw invalid(where, "must be a list");
    for (const [i, index] of list.entries()) {
      const at = `${where}[${i}]`;
      if (!isObject(index)) throw invalid(at, "must be an object");
      checkOptions(index, INDEX_OPTIONS, at);
      this.addIndex(readIndex(index, at), at);
    }
  }

  private addIndex(index: NewCollectionIndex, where: string): void {
    if (this.indexes.length >= INDEXES_MAX) throw invalid(where, `a collection has at most ${INDEXES_MAX} indexes`);
    this.indexes.push(index);
  }
}

function readIndex(index: JsonObject, where: string): NewCollectionIndex {
  const names = index.fields ?? (index.field === undefined ? undefined : [index.field]);
  if (!Array.isArray(names) || names.length === 0) throw invalid(`${where}.fields`, "must be a list of field names");
  if (names.length > INDEX_FIELDS_MAX) {
    throw invalid(`${where}.fields`, `an index has at most ${INDEX_FIELDS_MAX} fields`);
  }
  const paths = names.map((name, i) => {
    if (typeof name !== "string") throw invalid(`${where}.fields[${i}]`, "must be a string");
    return pathOf(name, `${where}.fields[${i}]`);
  });
  const given = index.type ?? "btree";
  const type = typeof given === "string" ? own(INDEX_TYPES, given.toLowerCase()) : undefined;
  if (type === undefined) {
    throw invalid(`${where}.type`, `unknown type of index. Known: ${Object.keys(INDEX_TYPES).join(", ")}`);
  }
  const { name = null } = index;
  if (name !== null && (typeof name !== "string" || name === "" || Buffer.byteLength(name) > IDENTIFIER_BYTES_MAX)) {
    throw invalid(`${where}.name`, `must be a string of 1 to ${IDENTIFIER_BYTES_MAX} bytes`);
  }
  if (name !== null && /[\p{Cc}\p{Cs}]/u.test(name)) throw invalid(`${where}.name`, "holds characters that it cannot");
  const unique = flagOf(index, "unique", where) ?? false;
  if (unique && type !== "btree" && type !== "hash") throw invalid(`${where}.unique`, `not of the type ${type}`);
  return { name, type, paths, unique, options: optionsOf(index, type, where) };
}

const OPTIONS_OF: Readonly<Record<CollectionIndexDef["type"], Readonly<Record<string, string>>>> = {
  btree: {},
  hash: {},
  text: { language: "language" },
  vector: {
    metric: "metric",
    distance_metric: "metric",
    m: "m",
    ef_construction: "ef_construction",
    ef: "ef_search",
    ef_search: "ef_search",
    storage: "storage",
    quantization: "storage",
  },
};

function optionsOf(index: JsonObject, type: CollectionIndexDef["type"], where: string): [string, string | number][] {
  const found = new Map<string, string | number>();
  for (const name of INDEX_OPTIONS.slice(INDEX_OPTIONS.indexOf("metric"))) {
    const value = index[name];
    if (value === undefined) continue;
    const option = own(OPTIONS_OF[type], name);
    if (option === undefined) throw invalid(`${where}.${name}`, `an index of the type ${type} has no such option`);
    const isNumber = option === "m" || option.startsWith("ef_");
    if (isNumber ? !Number.isSafeInteger(value) : typeof value !== "string" || !/^\w+$/.test(value)) {
      throw invalid(`${where}.${name}`, isNumber ? "must be a whole number" : "must be a word");
    }
    found.set(option, value as string | number);
  }
  return [...found];
}

function dimensionsOf(options: JsonObject, type: FieldType, where: string): number | null {
  const name = options.dimensions === undefined ? "dims" : "dimensions";
  const dimensions = options[name];
  if (type !== "vector") {
    if (dimensions !== undefined) throw invalid(`${where}.${name}`, "only a vector has dimensions");
    return null;
  }
  if (dimensions === undefined) return DIMENSIONS_DEFAULT;
  if (!Number.isInteger(dimensions) || (dimensions as number) < 1 || (dimensions as number) > VECTOR_DIMENSIONS_MAX) {
    throw invalid(`${where}.${name}`, `must be a whole number from 1 to ${VECTOR_DIMENSIONS_MAX}`);
  }
  return dimensions as number;
}

function itemsOf(items: unknown, type: FieldType, where: string): FieldType {
  if (type !== "array") throw invalid(`${where}.items`, "only an array has items");
  return typeNamed(isObject(items) ? items.type : items, `${where}.items`);
}

/** `vector[384]` and `vector(384)` have their size with them. */
function typeAndSize(name: unknown, where: string): { readonly type: FieldType; readonly size: number | null } {
  const [, of, size] = typeof name === "string" ? (/^\s*(vector)\s*[[(]\s*(\d+)\s*[\])]\s*$/i.exec(name) ?? []) : [];
  return of === undefined ? { type: typeNamed(name, where), size: null } : { type: "vector", size: Number(size) };
}

function typeNamed(name: unknown, where: string): FieldType {
  const type = typeof name === "string" ? own(TYPES, name.toLowerCase()) : undefined;
  if (type !== undefined) return type;
  const shown = typeof name === "string" ? `unknown type "${name.slice(0, 40)}"` : "must be the name of a type";
  throw invalid(where, `${shown}. Known: ${[...new Set(Object.values(TYPES))].join(", ")}`);
}

function flagOf(options: JsonObject, name: string, where: string): boolean | undefined {
  const value = options[name];
  if (value === undefined || typeof value === "boolean") return value;
  throw invalid(`${where}.${name}`, "must be true or false");
}

function checkOptions(options: JsonObject, known: readonly string[], where: string): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw invalid(`${where}.${unknown}`, `unknown field. Known: ${known.join(", ")}`);
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

const MODEL_NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** `embed`: whether, or by which model. */
function embedding(given: unknown, where: string): Pick<NewField, "embed" | "model"> {
  if (given === undefined || given === null || typeof given === "boolean")
    return { embed: given === true, model: null };
  if (typeof given === "string" && MODEL_NAME.test(given)) return { embed: true, model: given };
  throw invalid(`${where}.embed`, "must be true, false or the name of a model");
}
