/** array_to_json and row_to_json with line feeds. */
import { jsonToCompactText } from "../../../values/json-text.js";
import { Numeric } from "../../../values/numeric.js";
import { BOOL, JSON_TYPE, Json, type Value } from "../../../values/values.js";
import type { EvalContext } from "../expr.js";
import { contextFn, type FunctionFamily, family } from "./define.js";
import { toJson } from "./to-json.js";

const textOf = (value: unknown) => (value instanceof Numeric ? value.toString() : jsonToCompactText(value));

/** `array_to_json(value, pretty)`: with line feeds between what the value has. */
function convertingPrettily(name: string): FunctionFamily {
  return family(name, "(any, boolean) → json", ([type, flag]) => {
    if (type === undefined || flag !== BOOL) return null;
    return contextFn(name, [type, BOOL], JSON_TYPE, (context: EvalContext, value: Value, isPretty: boolean) => {
      const json = toJson(type, value, context.timeZone);
      if (!isPretty || typeof json !== "object" || json === null) return new Json(json, textOf(json));
      const parts = Array.isArray(json)
        ? json.map(textOf)
        : Object.entries(json).map(([key, part]) => `${JSON.stringify(key)}:${textOf(part)}`);
      const [start, end] = Array.isArray(json) ? ["[", "]"] : ["{", "}"];
      return new Json(json, `${start}${parts.join(",\n ")}${end}`);
    });
  });
}

export const PRETTY_CONVERSIONS: readonly FunctionFamily[] = [
  convertingPrettily("array_to_json"),
  convertingPrettily("row_to_json"),
];
