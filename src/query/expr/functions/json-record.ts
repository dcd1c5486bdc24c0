/**
 * JSON values as SQL values of a given type, field by field: json_to_record, json_populate_record and their kin
 * (chapter 9.16). Members are read through their text, as the types' own input does it.
 */
import { sqlError } from "../../../protocol/errors.js";
import { jsonbToText } from "../../../values/json-text.js";
import { fitText, fromText } from "../../../values/text-format.js";
import { EMPTY_ARRAY } from "../../../values/text-format-array.js";
import { JSON_TYPE, JSONB, Json, type SqlArray, type SqlType, type Value } from "../../../values/values.js";
import { clockOf } from "../cast.js";
import type { EvalContext } from "../expr.js";
import { contextFn, type FunctionFamily, family } from "./define.js";
import { isJsonObject } from "./json-member.js";
import { membersIn } from "./json-slices.js";

/** A member that is not there leaves `base`. */
type Fields = readonly Value[] | null;

/**
 * The fields of the record type out of an object's members, which those of `json` give as they are written. Throws
 * 22023 for what is not an object.
 */
export function recordFields(
  name: string,
  { value: object, text }: Json,
  shape: SqlType,
  base: Fields,
  context: EvalContext,
): readonly Value[] {
  if (!isJsonObject(object)) {
    if (name.endsWith("recordset")) throw sqlError("22023", `argument of ${name} must be an array of objects`);
    throw sqlError("22023", `cannot call populate_composite on ${Array.isArray(object) ? "an array" : "a scalar"}`);
  }
  const written = new Map<string | null, string>();
  if (text !== undefined) {
    for (const { key, start, end } of membersIn(text)) written.set(key, text.slice(start, end));
  }
  return shape.fields!.map((field, i) => {
    if (!Object.hasOwn(object, field.name)) return base?.[i] ?? null;
    const member = new Json(object[field.name], written.get(field.name));
    return fromJson(field.type, member, { name, key: field.name, base: base?.[i] ?? null }, context);
  });
}

/** Where a value stands: the function that reads it, what the member is called, and what the base has there. */
interface Place {
  readonly name: string;
  readonly key: string;
  readonly base: Value;
}

function fromJson(type: SqlType, json: Json, place: Place, context: EvalContext): Value {
  const { value } = json;
  if (value === null || value === undefined) return null;
  if (type.element !== null) {
    if (typeof value === "string") return fromText(type, value, clockOf(context));
    return arrayOfJson(type.element, json, { ...place, base: null }, context);
  }
  if (type.name === "json") return json.text === undefined ? new Json(value, jsonbToText(value)) : json;
  if (type.name === "jsonb") return new Json(value);
  if (type.fields !== undefined && typeof value !== "string") {
    const name = place.name.replace("recordset", "record");
    return recordFields(name, json, type, place.base as Fields, context);
  }
  const text = typeof value === "string" ? value : (json.text ?? jsonbToText(value));
  if (type.name === "varchar" || type.name === "bpchar") return fitText(type, text, false);
  return fromText(type, text, clockOf(context));
}

function arrayOfJson(element: SqlType, json: Json, place: Place, context: EvalContext): SqlArray {
  const hint = `See the value of key "${place.key}".`;
  if (!Array.isArray(json.value)) throw sqlError("22P02", "expected JSON array", { hint });
  const dimensions: number[] = [];
  const isNested = element.name !== "json" && element.name !== "jsonb";
  for (let level: unknown = json.value; Array.isArray(level); level = isNested ? level[0] : null) {
    dimensions.push(level.length);
  }
  const elements: Value[] = [];
  const collect = (list: Json, depth: number) => {
    const items = itemsOf(list);
    if (items.length !== dimensions[depth]) {
      const detail = "Multidimensional arrays must have sub-arrays with matching dimensions.";
      throw sqlError("22P02", "malformed JSON array", { detail });
    }
    for (const item of items) {
      if (depth + 1 === dimensions.length) elements.push(fromJson(element, item, place, context));
      else if (Array.isArray(item.value)) collect(item, depth + 1);
      else throw sqlError("22P02", "expected JSON array", { hint });
    }
  };
  collect(json, 0);
  if (elements.length === 0) return EMPTY_ARRAY;
  return { elements, dimensions, lowerBounds: dimensions.map(() => 1) };
}

function itemsOf({ value, text }: Json): readonly Json[] {
  const items = value as readonly unknown[];
  if (text === undefined) return items.map((item) => new Json(item));
  return Array.from(membersIn(text), ({ start, end }, i) => new Json(items[i], text.slice(start, end)));
}

/**
 * `jsonb_populate_record(base, object)`: the base's type names the fields; its values stay where a member is missing.
 */
function populating(name: string, json: SqlType): FunctionFamily {
  return family(name, `(anyrecord, ${json.name}) → anyrecord`, ([base, given, ...rest]) => {
    if (base === undefined || given === undefined || rest.length > 0) return null;
    if (base.fields === undefined) {
      if (base.name === "unknown" || base.name === "record") return null;
      throw sqlError("42804", `first argument of ${name} must be a row type`);
    }
    const populate = (context: EvalContext, record: Fields, object: Json | null): Value =>
      object === null ? record : recordFields(name, object, base, record, context);
    return contextFn(name, [base, json], base, populate as never, { strict: false });
  });
}

export const JSON_RECORD_FAMILIES: readonly FunctionFamily[] = [
  populating("json_populate_record", JSON_TYPE),
  populating("jsonb_populate_record", JSONB),
];
