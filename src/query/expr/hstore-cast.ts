/** Converts hstore values to JSON, for casts (cast.ts) and functions. */
import { pairsOf } from "../../values/hstore.js";
import { Numeric } from "../../values/numeric.js";
import { Json, type SqlType } from "../../values/values.js";

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
