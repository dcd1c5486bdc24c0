/** Functions that document collections define columns and indexes with (src/document); of use for any jsonb. */
import { Numeric } from "../../../values/numeric.js";
import { arrayOf, JSONB, Json, type SqlArray, TEXT, type Value } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { fn } from "./define.js";

/** In their order, a line each; names of members are none. */
function textsOf(value: unknown, texts: string[]): string[] {
  if (typeof value === "string") texts.push(value);
  else if (Array.isArray(value)) for (const item of value) textsOf(item, texts);
  else if (typeof value === "object" && value !== null && !(value instanceof Numeric)) {
    for (const member of Object.values(value)) textsOf(member, texts);
  }
  return texts;
}

const EMPTY_ARRAY = new Json([]);

/**
 * The value at a path, for an index on it: NULL where there is none, or null. Where an array is met, there or on the way,
 * the key is an empty array whatever is in it, so that those who look for elements find all that may have them.
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
  fn("jsonb_texts", [JSONB], TEXT, (json: Json) => textsOf(json.value, []).join("\n")),
  fn("jsonb_index_key", [JSONB, arrayOf(TEXT)], JSONB, indexKey),
];
