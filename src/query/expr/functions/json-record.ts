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
import { asJson } from "./json.js";
import { isJsonObject } from "./json-member.js";

/** A member that is not there leaves `base`. */
type Fields = readonly Value[] | null;

/** The fields of the record type out of an object's members. Throws 22023 for what is not an object. */
export function recordFields(
  name: string,
  object: unknown,
  shape: SqlType,
  base: Fields,
  context: EvalContext,
): readonly Value[] {
  if (!isJsonObject(object)) {
    if (name.endsWith("recordset")) throw sqlError("22023", `argument of ${name} must be an array of objects`);
    throw sqlError("22023", `cannot call populate_composite on ${Array.isArray(object) ? "an array" : "a scalar"}`);
  }
  return shape.fields!.map((field, i) =>
    Object.hasOwn(object, field.name)
      ? fromJson(field.type, object[field.name], { name, key: field.name, base: base?.[i] ?? null }, context)
      : (base?.[i] ?? null),
  );
}

/** Where a value stands: the function that reads it, what the member is called, and what the base has there. */
interface Place {
  readonly name: string;
  readonly key: string;
  readonly base: Value;
}

function fromJson(type: SqlType, value: unknown, place: Place, context: EvalContext): Value {
  if (value === null || value === undefined) return null;
  if (type.element !== null) {
    if (typeof value === "string") return fromText(type, value, clockOf(context));
    return arrayOfJson(type.element, value, { ...place, base: null }, context);
  }
  if (type.name === "json") {
    return place.name.startsWith("jsonb") ? new Json(value, jsonbToText(value)) : asJson(JSON_TYPE, value);
  }
  if (type.name === "jsonb") return new Json(value);
  if (type.fields !== undefined && typeof value !== "string") {
    const name = place.name.replace("recordset", "record");
    return recordFields(name, value, type, place.base as Fields, context);
  }
  const text = typeof value === "string" ? value : jsonbToText(value);
  if (type.name === "varchar" || type.name === "bpchar") return fitText(type, text, false);
  return fromText(type, text, clockOf(context));
}

function arrayOfJson(element: SqlType, value: unknown, place: Place, context: EvalContext): SqlArray {
  const hint = `See the value of key "${place.key}".`;
  if (!Array.isArray(value)) throw sqlError("22P02", "expected JSON array", { hint });
  const dimensions: number[] = [];
  const isNested = element.name !== "json" && element.name !== "jsonb";
  for (let level: unknown = value; Array.isArray(level); level = isNested ? level[0] : null) {
    dimensions.push(level.length);
  }
  const elements: Value[] = [];
  const collect = (items: readonly unknown[], depth: number) => {
    if (items.length !== dimensions[depth]) {
      const detail = "Multidimensional arrays must have sub-arrays with matching dimensions.";
      throw sqlError("22P02", "malformed JSON array", { detail });
    }
    for (const item of items) {
      if (depth + 1 === dimensions.length) elements.push(fromJson(element, item, place, context));
      else if (Array.isArray(item)) collect(item, depth + 1);
      else throw sqlError("22P02", "expected JSON array", { hint });
    }
  };
  collect(value, 0);
  if (elements.length === 0) return EMPTY_ARRAY;
  return { elements, dimensions, lowerBounds: dimensions.map(() => 1) };
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
      object === null ? record : recordFields(name, object.value, base, record, context);
    return contextFn(name, [base, json], base, populate as never, { strict: false });
  });
}

export const JSON_RECORD_FAMILIES: readonly FunctionFamily[] = [
  populating("json_populate_record", JSON_TYPE),
  populating("jsonb_populate_record", JSONB),
];
