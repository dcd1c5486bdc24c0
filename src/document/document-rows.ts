/**
 * Converts documents to rows and back. A field with a column has its value there; everything else of the document is
 * in `doc`. `doc` also keeps what a column cannot express: that a field was present and null, and how a date was
 * written.
 */

import { setMember } from "../values/json-text.js";
import type { Collection, Field } from "./collection.js";
import { newDocumentId } from "./document-id.js";
import { checkDocument, dateMsOf, idOf } from "./document-value.js";
import type { JsonObject } from "./merge-patch.js";
import { Parameters } from "./sql-text.js";

/** A document that was checked, ready to be written. */
export interface DocumentRow {
  readonly id: string;
  /** By the field's name; null where the document has none. */
  readonly columns: ReadonlyMap<string, unknown>;
  readonly doc: JsonObject;
}

/**
 * `id`: of a document that is there already, which the new one may repeat but not change.
 * Throws invalid_request with the path of what does not fit the schema.
 */
export function rowOfDocument(collection: Collection, document: JsonObject, id?: string, where = ""): DocumentRow {
  const given = document.id ?? document._id;
  const own = idOf(given, where === "" ? "id" : `${where}.id`) ?? id ?? newDocumentId();
  checkDocument(collection, document, where);
  const columns = new Map<string, unknown>();
  const rest: JsonObject = {};
  for (const name of Object.keys(document)) {
    if (name === "id" || name === "_id") continue;
    const value = document[name];
    const field = collection.columns.get(name);
    if (field === undefined || value === null) setMember(rest, name, value);
    else if (field.type !== "date") columns.set(name, value);
    else {
      const text = new Date(dateMsOf(value)!).toISOString();
      columns.set(name, text);
      if (text !== value) setMember(rest, name, value);
    }
  }
  return { id: own, columns, doc: rest };
}

const PARAMETER_TYPES = {
  string: "text",
  number: "float8",
  integer: "int8",
  boolean: "bool",
  date: "timestamptz",
  object: "jsonb",
  array: "jsonb",
  vector: "vector",
} as const;

export interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** One text per collection: every column is written, but those that the database makes itself. */
export function insertStatement(collection: Collection, row: DocumentRow): Statement {
  const params = new Parameters();
  const names = ["id"];
  const values = [params.add(row.id, "text")];
  for (const { column, value } of written(collection, row, params)) {
    names.push(column);
    values.push(value);
  }
  const sql = `INSERT INTO ${collection.sqlName} (${names.join(", ")}) VALUES (${values.join(", ")})`;
  return { sql, params: params.values };
}

/** So many documents go in as a load. */
const ROWS_AT_ONCE = 4096;
/** Their values are read in one turn of the thread. */
const CHARACTERS_AT_ONCE = 1024 * 1024;

/** Documents that one statement inserts, as a list per column: one text per collection, too. */
export class DocumentColumns {
  readonly rows: DocumentRow[] = [];
  private characters = 0;
  private readonly columns: { readonly name: string; readonly type: string; readonly values: unknown[] }[] = [];

  constructor(private readonly collection: Collection) {
    this.columns.push({ name: "id", type: "text", values: [] });
    for (const { column, type } of collection.columns.values()) {
      this.columns.push({ name: column!, type: PARAMETER_TYPES[type], values: [] });
    }
    this.columns.push({ name: "doc", type: "jsonb", values: [] });
  }

  /** Further documents go into another statement. */
  get isFull(): boolean {
    return this.rows.length >= ROWS_AT_ONCE || this.characters >= CHARACTERS_AT_ONCE;
  }

  add(row: DocumentRow): void {
    this.rows.push(row);
    let place = 0;
    this.put(place++, row.id);
    for (const name of this.collection.columns.keys()) this.put(place++, row.columns.get(name) ?? null);
    this.put(place, row.doc);
  }

  private put(place: number, value: unknown): void {
    const { type, values } = this.columns[place]!;
    const element = elementOf(value, type);
    if (typeof element === "string") this.characters += element.length;
    else if (element instanceof Float32Array) this.characters += element.byteLength;
    values.push(element);
  }

  statement(): Statement {
    const { columns } = this;
    const params = new Parameters();
    const lists = columns.map(({ type, values }) => params.add(values, `${type}[]`)).join(", ");
    const names = columns.map(({ name }) => name).join(", ");
    const sql = `INSERT INTO ${this.collection.sqlName} (${names}) SELECT * FROM unnest(${lists}) AS given`;
    return { sql, params: params.values };
  }
}

/** All of the rows, which are few. */
export function insertAllStatement(collection: Collection, rows: readonly DocumentRow[]): Statement {
  const columns = new DocumentColumns(collection);
  for (const row of rows) columns.add(row);
  return columns.statement();
}

/** As an element of a list: JSON as text, since its own lists would be taken for dimensions. */
function elementOf(value: unknown, type: string): unknown {
  if (value === null) return null;
  if (type === "jsonb") return JSON.stringify(value);
  return type === "vector" ? Float32Array.from(value as readonly number[]) : value;
}

export function updateStatement(collection: Collection, row: DocumentRow): Statement {
  const params = new Parameters();
  const id = params.add(row.id, "text");
  const changes = written(collection, row, params).map(({ column, value }) => `${column} = ${value}`);
  return { sql: `UPDATE ${collection.sqlName} SET ${changes.join(", ")} WHERE id = ${id}`, params: params.values };
}

function written(collection: Collection, row: DocumentRow, params: Parameters) {
  const list: { column: string; value: string }[] = [];
  for (const [name, { column, type }] of collection.columns) {
    const value = row.columns.get(name) ?? null;
    list.push({ column: column!, value: params.add(value, PARAMETER_TYPES[type]) });
  }
  list.push({ column: "doc", value: params.add(row.doc, "jsonb") });
  return list;
}

/** `values` are a row of the collection's `selectList`, as plain JSON values. */
export function documentOfRow(collection: Collection, values: readonly unknown[]): JsonObject {
  const doc = values[collection.columns.size + 1] as JsonObject;
  const document: Record<string, unknown> = { id: values[0] };
  let place = 1;
  for (const [name, field] of collection.columns) {
    const value = values[place++];
    const kept = Object.hasOwn(doc, name) ? doc[name] : undefined;
    if (value !== null) setMember(document, name, shown(field, value, kept));
    else if (kept === null) setMember(document, name, null);
  }
  // Keys as they come: a list of all entries takes as long again for an object of many keys.
  for (const name in doc) {
    if (name !== "id" && !collection.columns.has(name)) setMember(document, name, doc[name]);
  }
  return document as JsonObject;
}

/** A date as its document wrote it, unless a statement has changed it since. */
function shown({ type }: Field, value: unknown, kept: unknown): unknown {
  if (type === "integer") return typeof value === "bigint" ? Number(value) : value;
  if (type !== "date") return value;
  const ms = Date.parse(value as string);
  if (kept !== undefined && kept !== null && dateMsOf(kept) === ms) return kept;
  return Number.isNaN(ms) ? value : new Date(ms).toISOString();
}
