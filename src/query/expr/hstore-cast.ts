/** Converts hstore values to JSON, and arrays to hstore values, for casts (cast.ts) and functions. */
import { sqlError } from "../../protocol/errors.js";
import { hstoreText, pairsOf } from "../../values/hstore.js";
import { Numeric } from "../../values/numeric.js";
import { Json, type SqlArray, type SqlType } from "../../values/values.js";

type Written = readonly [value: unknown, text: string];

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

const strict = (value: string | null): Written => [value, JSON.stringify(value)];

/** Numbers and truth values as such. */
function loose(value: string | null): Written {
  if (value === "t") return [true, "true"];
  if (value === "f") return [false, "false"];
  return value !== null && NUMBER.test(value) ? [Numeric.parse(value), value] : strict(value);
}

export function hstoreJson(to: SqlType, text: string, isLoose = false): Json {
  const members = [...pairsOf(text)].map(([key, value]) => [key, isLoose ? loose(value) : strict(value)] as const);
  const object = Object.fromEntries(members.map(([key, [value]]) => [key, value]));
  if (to.name === "jsonb") return new Json(object);
  return new Json(object, `{${members.map(([key, [, written]]) => `${JSON.stringify(key)}: ${written}`).join(", ")}}`);
}

export const textsIn = ({ elements }: SqlArray) => elements as readonly (string | null)[];

/** A key that comes twice has its first value. Throws 22004. */
export function hstoreOfPairs(entries: Iterable<readonly [string | null, string | null]>): string {
  const pairs = new Map<string, string | null>();
  for (const [key, value] of entries) {
    if (key === null) throw sqlError("22004", "null value not allowed for hstore key");
    if (!pairs.has(key)) pairs.set(key, value);
  }
  return hstoreText(pairs);
}

/** `{key, value, …}` or `{{key, value}, …}`. Throws 2202E. */
export function hstoreOfArray(array: SqlArray): string {
  const { dimensions } = array;
  if (dimensions.length > 2) throw sqlError("2202E", "wrong number of array subscripts");
  const texts = textsIn(array);
  if (dimensions.length === 1 && texts.length % 2 !== 0) {
    throw sqlError("2202E", "array must have even number of elements");
  }
  if (dimensions.length === 2 && dimensions[1] !== 2) throw sqlError("2202E", "array must have two columns");
  return hstoreOfPairs(Array.from({ length: texts.length / 2 }, (_, i) => [texts[2 * i]!, texts[2 * i + 1]!]));
}
