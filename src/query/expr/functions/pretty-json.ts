/** array_to_json and row_to_json, which may begin a line with each element or field. */
import { BOOL, JSON_TYPE, type SqlType, type Value } from "../../../values/values.js";
import type { EvalContext } from "../expr.js";
import { contextFn, type FunctionFamily, family } from "./define.js";
import { jsonOf } from "./to-json.js";

const NANOS = 2000;
const LINE = ",\n ";

function converting(name: string, form: string, isTaken: (type: SqlType) => boolean): FunctionFamily {
  return family(name, form, ([given, flag, ...rest]) => {
    if (given === undefined || !isTaken(given) || rest.length > 0) return null;
    if (flag === undefined) {
      const whole = (context: EvalContext, value: Value) => jsonOf(given, value, context.timeZone);
      return contextFn(name, [given], JSON_TYPE, whole, { nanosPerUnit: NANOS });
    }
    if (flag.name !== "bool" && flag.name !== "unknown") return null;
    const inLines = (context: EvalContext, value: Value, isPretty: boolean) =>
      jsonOf(given, value, context.timeZone, isPretty ? LINE : ",");
    return contextFn(name, [given, BOOL], JSON_TYPE, inLines, { nanosPerUnit: NANOS });
  });
}

export const PRETTY_JSON: readonly FunctionFamily[] = [
  converting("array_to_json", "(anyarray [, boolean]) → json", ({ element }) => element !== null),
  converting("row_to_json", "(record [, boolean]) → json", ({ name }) => name === "record"),
];
