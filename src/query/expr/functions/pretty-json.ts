/** array_to_json and row_to_json, which may begin a line with each element or field. */
import { BOOL, JSON_TYPE, Json, type SqlType, type Value } from "../../../values/values.js";
import type { EvalContext } from "../expr.js";
import { contextFn, type FunctionFamily, family } from "./define.js";
import { asJson } from "./json.js";
import { isJsonObject } from "./json-member.js";
import { toJson } from "./to-json.js";

const NANOS = 2000;
const LINE = ",\n ";

const textOf = (value: unknown): string => asJson(JSON_TYPE, value)!.text!;

function pretty(value: unknown): Json {
  if (Array.isArray(value)) return new Json(value, `[${value.map(textOf).join(LINE)}]`);
  if (!isJsonObject(value)) return asJson(JSON_TYPE, value)!;
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${textOf(member)}`);
  return new Json(value, `{${members.join(LINE)}}`);
}

function converting(name: string, form: string, isTaken: (type: SqlType) => boolean): FunctionFamily {
  return family(name, form, ([given, flag, ...rest]) => {
    if (given === undefined || !isTaken(given) || rest.length > 0) return null;
    if (flag === undefined) {
      const whole = (context: EvalContext, value: Value) => asJson(JSON_TYPE, toJson(given, value, context.timeZone));
      return contextFn(name, [given], JSON_TYPE, whole, { nanosPerUnit: NANOS });
    }
    if (flag.name !== "bool" && flag.name !== "unknown") return null;
    const inLines = (context: EvalContext, value: Value, isPretty: boolean) => {
      const json = toJson(given, value, context.timeZone);
      return isPretty ? pretty(json) : asJson(JSON_TYPE, json);
    };
    return contextFn(name, [given, BOOL], JSON_TYPE, inLines, { nanosPerUnit: NANOS });
  });
}

export const PRETTY_JSON: readonly FunctionFamily[] = [
  converting("array_to_json", "(anyarray [, boolean]) → json", ({ element }) => element !== null),
  converting("row_to_json", "(record [, boolean]) → json", ({ name }) => name === "record"),
];
