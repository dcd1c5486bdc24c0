/** SQL values as parsed JSON values: to_json, json_agg, json_build_object. Numbers keep their digits. */

import { shortFloat4 } from "../../../values/float-text.js";
import { jsonToCompactText } from "../../../values/json-text.js";
import { Numeric } from "../../../values/numeric.js";
import { toText, untypedToText } from "../../../values/text-format.js";
import { nestArray } from "../../../values/text-format-array.js";
import type { Timestamp } from "../../../values/timestamp.js";
import { timestampToText, timestampTzToText } from "../../../values/timestamp-text.js";
import { JSON_TYPE, JSONB, Json, type SqlArray, type SqlType, type Value } from "../../../values/values.js";
import type { Variant } from "../../../values/variant.js";
import { hstoreJson } from "../hstore-cast.js";
import { variantJson } from "../variant-cast.js";

/** JSON that was made of a value ahead (exec/large-json.ts). */
export interface MadeJson {
  readonly type: SqlType;
  readonly json: unknown;
  readonly text?: string;
}

const made = new WeakMap<object, MadeJson>();

export function keepJson(value: object, json: MadeJson): void {
  made.set(value, json);
}

export function keptJson(type: SqlType, value: Value): MadeJson | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const kept = made.get(value);
  return kept?.type === type ? kept : undefined;
}

/** The JSON value of a SQL value; `timeZone` is that of the session. */
export function toJson(type: SqlType, value: Value, timeZone = "UTC"): unknown {
  if (value === null) return null;
  switch (type.name) {
    case "bool":
      return value;
    case "int2":
    case "int4":
      return value;
    case "int8":
      return typeof value === "bigint" ? Numeric.fromInteger(value) : value;
    case "float4":
    case "float8":
      return Number.isFinite(value) ? Number(toText(type, value)) : String(value);
    case "numeric":
      return (value as Numeric).isFinite() ? exactNumber(value as Numeric) : String(value);
    case "json":
    case "jsonb":
      return (value as Json).value;
    case "variant":
      return variantJson(value as Variant);
    case "timestamp":
      return timestampToText(value as Timestamp, "T");
    case "timestamptz":
      return timestampTzToText(value as Timestamp, timeZone, "T");
    case "hstore":
      return hstoreJson(JSONB, value as string).value;
    case "vector":
    case "halfvec":
      return Array.from(value as Float32Array, shortFloat4);
    case "array":
      return nestArray(value as SqlArray, (element) => toJson(type.element as SqlType, element, timeZone));
    case "record":
      if (type.fields === undefined) return recordJson(value as readonly Value[]);
      return Object.fromEntries(
        type.fields.map((field, i) => [
          field.name,
          toJson(field.type, (value as readonly Value[])[i] ?? null, timeZone),
        ]),
      );
    default:
      return toText(type, value, timeZone);
  }
}

/** A plain number when it prints the same. */
function exactNumber(value: Numeric): number | Numeric {
  const number = value.toNumber();
  return String(number) === value.toString() ? number : value;
}

/** Without names for its fields, a record is an object with keys f1, f2, … */
function recordJson(fields: readonly Value[]): unknown {
  return Object.fromEntries(fields.map((field, i) => [`f${i + 1}`, untypedJson(field)]));
}

function untypedJson(value: Value): unknown {
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string")
    return value;
  if (typeof value === "bigint") return Numeric.fromInteger(value);
  if (value instanceof Numeric) return exactNumber(value);
  if (value instanceof Json) return value.value;
  if (Array.isArray(value)) return recordJson(value);
  return untypedToText(value);
}

/** Whether the session's time zone decides what its JSON is. */
export function isZonedJson(type: SqlType): boolean {
  if (type.element !== null) return isZonedJson(type.element);
  return type.name === "timestamptz" || type.fields?.some((field) => isZonedJson(field.type)) === true;
}

/**
 * A value as JSON text. `json` stays as it is written and `jsonb` has its spaces, also within arrays and records, whose
 * fields keep their order and come twice if two have one name. `separator` stands between elements or fields.
 */
export function jsonTextOf(type: SqlType, value: Value, timeZone: string, separator = ","): string {
  if (value === null) return "null";
  if (value instanceof Json) return value.text ?? toText(JSONB, value);
  if (type.element !== null) {
    const items = nestArray(value as SqlArray, (element) => jsonTextOf(type.element!, element, timeZone));
    return bracketed(items, separator);
  }
  if (type.name === "hstore") return hstoreJson(JSON_TYPE, value as string).text!;
  if (type.name !== "record") return jsonToCompactText(toJson(type, value, timeZone));
  const { fields } = type;
  const members = (value as readonly Value[]).map((field, i) => {
    const named = fields?.[i];
    if (named === undefined) return `"f${i + 1}":${jsonToCompactText(untypedJson(field))}`;
    return `${JSON.stringify(named.name)}:${jsonTextOf(named.type, field, timeZone)}`;
  });
  return `{${members.join(separator)}}`;
}

/** A value as `json`. */
export function jsonOf(type: SqlType, value: Value, timeZone: string, separator = ","): Json {
  if (value instanceof Json && value.text !== undefined) return value;
  return new Json(toJson(type, value, timeZone), jsonTextOf(type, value, timeZone, separator));
}

/** An array, perhaps of several dimensions, out of the texts of its elements. */
export function bracketed(items: readonly unknown[], separator: string): string {
  return `[${items.map((item) => (Array.isArray(item) ? bracketed(item, ",") : item)).join(separator)}]`;
}
