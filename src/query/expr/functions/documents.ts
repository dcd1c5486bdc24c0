/** Functions that document collections define columns and indexes with (src/document); of use for any jsonb. */
import { Numeric } from "../../../values/numeric.js";
import { arrayOf, JSONB, Json, type SqlArray, TEXT, type Value } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { fn } from "./define.js";

/** In order; names of members are left out. Most members are no texts: a call for each takes ten times as long. */
function addTexts(value: unknown, texts: string[]): void {
  if (typeof value === "string") texts.push(value);
  if (typeof value !== "object" || value === null || value instanceof Numeric) return;
  if (Array.isArray(value)) for (const member of value) addTexts(member, texts);
  // A list of all values takes twice as long for an object of thousands of members.
  else for (const name of Object.keys(value)) addTexts((value as Readonly<Record<string, unknown>>)[name], texts);
}

/** A line each. */
function textsOf({ value }: Json): string {
  const texts: string[] = [];
  addTexts(value, texts);
  return texts.join("\n");
}

const EMPTY_ARRAY = new Json([]);

/**
 * The value at a path, for an index on it: NULL if it is missing or null. If the path meets an array, the key is an
 * empty array whatever the array holds, so that a search for elements finds all rows that may have them.
 */
function indexKey(json: Json, path: SqlArray): Value {
  let value: unknown = json.value;
  for (const name of path.elements) {
    if (Array.isArray(value)) return EMPTY_ARRAY;
    if (typeof value !== "object" || value === null || value instanceof Numeric) return null;
    if (!Object.hasOwn(value, name as string)) return null;
    value = (value as Record<string, unknown>)[name as string];
  }
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? EMPTY_ARRAY : new Json(value);
}

export const DOCUMENT_FUNCTIONS: readonly ScalarFunction[] = [
  fn("jsonb_texts", [JSONB], TEXT, textsOf),
  fn("jsonb_index_key", [JSONB, arrayOf(TEXT)], JSONB, indexKey),
];
