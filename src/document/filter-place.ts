/** Resolves a filter's path in a collection's rows: to a column, or to a value inside one of type jsonb. */
import type { FieldType } from "../catalog/document-collection.js";
import type { Field } from "./collection.js";
import { indexKey, literal, pathLiteral } from "./sql-text.js";

/** Types whose columns are compared as SQL compares. */
export type ScalarType = Extract<FieldType, "string" | "number" | "integer" | "boolean" | "date">;

export interface ColumnPlace {
  readonly kind: "column";
  /** In quotes. */
  readonly column: string;
  readonly type: ScalarType;
}

export interface VectorPlace {
  readonly kind: "vector";
  readonly column: string;
}

export interface JsonPlace {
  readonly kind: "json";
  /** SQL of type jsonb from which the path leads on. */
  readonly base: string;
  /** SQL/JSON path from the base, as a literal's content: lax, so that it leads through arrays. */
  readonly jsonPath: string;
  /** The value as SQL, and as text; arrays on the way are not passed. */
  readonly value: string;
  readonly text: string;
  /** The key of an index on it; null: there is none. */
  readonly key: string | null;
  /** What the schema says that it is. */
  readonly type: FieldType | null;
}

export type Place = ColumnPlace | VectorPlace | JsonPlace;

/** What filters are about: documents of a collection, or JSON in a single column. */
export interface FilterTarget {
  readonly columns: ReadonlyMap<string, Field>;
  readonly inner: readonly Field[];
  /** The column of all other members, in quotes. */
  readonly rest: string;
  readonly hasId: boolean;
  /** Dotted paths inside JSON that indexes have. */
  readonly indexed: ReadonlySet<string>;
  /** In quotes, with its schema; needed where paths are indexed. */
  readonly table: string;
}

export function placeOf(path: readonly string[], { columns, inner, rest, hasId, indexed }: FilterTarget): Place {
  const [top, ...below] = path;
  if (hasId && path.length === 1 && (top === "id" || top === "_id"))
    return { kind: "column", column: "id", type: "string" };
  const field = columns.get(top!);
  const isIndexed = indexed.has(path.join("."));
  if (field === undefined || field.column === null) return jsonPlace(rest, path, isIndexed, typeOf(inner, path));
  if (field.type === "object" || field.type === "array") {
    return jsonPlace(field.column, below, isIndexed, below.length === 0 ? field.type : typeOf(inner, path));
  }
  if (below.length > 0) return jsonPlace("NULL::jsonb", below, false, null);
  if (field.type === "vector") return { kind: "vector", column: field.column };
  return { kind: "column", column: field.column, type: field.type };
}

function typeOf(inner: readonly Field[], path: readonly string[]): FieldType | null {
  const dotted = path.join(".");
  return inner.find(({ name }) => name === dotted)?.type ?? null;
}

/**
 * A number in a path is a position in an array, or a name in an object. `#>` decides by the value it meets, so the path
 * is followed with it up to the last number.
 */
function jsonPlace(column: string, path: readonly string[], isIndexed: boolean, type: FieldType | null): JsonPlace {
  const last = path.findLastIndex((name) => /^\d+$/.test(name));
  // Its key follows names only.
  const key = isIndexed && last < 0 ? indexKey(column, path) : null;
  const base = last < 0 ? column : `(${column} #> ${pathLiteral(path.slice(0, last + 1))})`;
  const names = path.slice(last + 1).map((name) => `.${JSON.stringify(name)}`);
  return {
    kind: "json",
    base,
    jsonPath: `$${names.join("")}`,
    value: path.length === 0 ? column : `(${column} #> ${pathLiteral(path)})`,
    text: `(${column} #>> ${pathLiteral(path)})`,
    key,
    type,
  };
}

/** Whether the path leads to something for which its ending, a filter of SQL/JSON paths, holds. */
export function pathExists({ base, jsonPath }: JsonPlace, ending: string, vars: string | null): string {
  const text = literal(`${jsonPath}${ending}`);
  return vars === null ? `jsonb_path_exists(${base}, ${text})` : `jsonb_path_exists(${base}, ${text}, ${vars})`;
}

/** Whether the condition holds for the value `v`, or for an element of it if it is an array. */
export function anyElement({ base, jsonPath }: JsonPlace, condition: string): string {
  return `EXISTS (SELECT 1 FROM jsonb_path_query(${base}, ${literal(`${jsonPath}[*]`)}) AS element(v) WHERE ${condition})`;
}
