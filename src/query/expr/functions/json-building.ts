/** Functions that make json and jsonb of values of any types (chapter 9.16). */

import { sqlError } from "../../../protocol/errors.js";
import { setMember } from "../../../values/json-text.js";
import { JSON_TYPE, JSONB, Json, type SqlType, TEXT, type Value } from "../../../values/values.js";
import type { EvalContext } from "../expr.js";
import { composedJson } from "./composed-value.js";
import { contextFn, type FunctionFamily, family, formOf } from "./define.js";
import { isContainer } from "./json.js";
import type { JsonObject } from "./json-member.js";
import { jsonOf, jsonTextOf, toJson } from "./to-json.js";

/** Of an element that becomes JSON. */
const CONVERSION_NANOS = 100;

/** A function over values of any types that sees NULLs and knows the types. */
function building(
  name: string,
  returns: SqlType,
  fewest: number,
  apply: (values: readonly unknown[], types: readonly SqlType[]) => unknown,
): FunctionFamily {
  return family(name, `(${fewest > 0 ? "any, " : ""}…) → ${returns.name}`, (types) => {
    if (types.length < fewest) return null;
    const args = types.map((type) => (type.name === "unknown" ? TEXT : type));
    return contextFn(
      name,
      args,
      returns,
      (context: EvalContext, ...values: Value[]) => {
        const plain = values.map((value, i) => toJson(args[i] as SqlType, value, context.timeZone));
        const result = apply(plain, args);
        if (returns !== JSON_TYPE) return composedJson(result);
        const texts = values.map((value, i) => jsonTextOf(args[i] as SqlType, value, context.timeZone));
        return new Json(result, Array.isArray(result) ? `[${texts.join(", ")}]` : objectText(plain, texts));
      },
      { strict: false, nanosPerUnit: CONVERSION_NANOS },
    );
  });
}

/** Keys and values by turns, with PostgreSQL's spaces; a key that comes twice is written twice. */
function objectText(plain: readonly unknown[], texts: readonly string[]): string {
  const members: string[] = [];
  for (let i = 0; i < texts.length; i += 2) members.push(`${JSON.stringify(String(plain[i]))} : ${texts[i + 1]}`);
  return `{${members.join(", ")}}`;
}

function buildObject(values: readonly unknown[]): unknown {
  if (values.length % 2 !== 0) {
    throw sqlError("22023", "argument list must have even number of elements", {
      hint: "The arguments of json_build_object() must consist of alternating keys and values.",
    });
  }
  const object: JsonObject = {};
  for (let i = 0; i < values.length; i += 2) {
    const key = values[i];
    if (key === null) {
      throw sqlError("22023", `argument ${i + 1} cannot be null`, { hint: "Object keys should be text." });
    }
    if (isContainer(key)) {
      throw sqlError("22023", "key value must be scalar, not array, composite, or json");
    }
    setMember(object, String(key), values[i + 1]);
  }
  return object;
}

/** to_json of one value; NULL stays NULL. */
function converting(name: string, returns: SqlType): FunctionFamily {
  return family(name, formOf(["any"], returns), (types) => {
    const [given] = types;
    if (given === undefined || types.length > 1) return null;
    const type = given.name === "unknown" ? TEXT : given;
    return contextFn(
      name,
      [type],
      returns,
      (context: EvalContext, value: Value) =>
        returns === JSONB ? composedJson(toJson(type, value, context.timeZone)) : jsonOf(type, value, context.timeZone),
      { nanosPerUnit: CONVERSION_NANOS },
    );
  });
}

/** `json_object('a', 1, 'b', x)`, beside PostgreSQL's functions over arrays of text. */
function objectOfPairs(name: string, returns: SqlType): FunctionFamily {
  const { form, instantiate } = building(name, returns, 2, buildObject);
  const isArrays = (types: readonly SqlType[]) =>
    types.length <= 2 && types.every((type) => type.name === "unknown" || type.element !== null);
  return family(name, form, (types) => (isArrays(types) ? null : instantiate(types)));
}

export const JSON_FAMILIES: readonly FunctionFamily[] = [
  objectOfPairs("json_object", JSON_TYPE),
  objectOfPairs("jsonb_object", JSONB),
  building("json_build_object", JSON_TYPE, 0, buildObject),
  building("jsonb_build_object", JSONB, 0, buildObject),
  building("json_build_array", JSON_TYPE, 0, (values) => values),
  building("jsonb_build_array", JSONB, 0, (values) => values),
  converting("to_json", JSON_TYPE),
  converting("to_jsonb", JSONB),
];
