/**
 * The item methods of SQL/JSON paths: .size(), .double(), .datetime('…') and the others. Called by json-path-exec.ts.
 */

import { DbError } from "../../../protocol/errors.js";
import type { PathItem } from "../../../values/json-path.js";
import { exactJsonNumber, jsonbToText, setMember, sortedKeys } from "../../../values/json-text.js";
import { Numeric } from "../../../values/numeric.js";
import { fromText } from "../../../values/text-format.js";
import { BOOL, FLOAT8, NUMERIC, numericType, type SqlType, TEXT } from "../../../values/values.js";
import type { JsonObject } from "./json-member.js";
import { type Found, isNumber, isObject, type Outcome, type PathExecution, toNumeric } from "./json-path-item.js";
import { convertMoment, Moment, type MomentKind } from "./json-path-moment.js";
import { parseIsoMoment, parseMomentTemplate, roundMoment } from "./json-path-template.js";

type Method = PathItem & { readonly op: "method" };

export function callMethod(executor: PathExecution, item: Method, json: unknown, found: Found): Outcome {
  switch (item.name) {
    case "type":
      return executor.proceed(item, typeOf(json), found);
    case "size":
      if (Array.isArray(json)) return executor.proceed(item, json.length, found);
      if (executor.lax) return executor.proceed(item, 1, found);
      return executor.fail("22039", "jsonpath item method .size() can only be applied to an array");
    case "abs":
    case "floor":
    case "ceiling":
      if (!isNumber(json)) return onlyFor(executor, item, "22036", "a numeric value");
      return executor.proceed(item, exactJsonNumber(rounded(item.name, toNumeric(json))), found);
    case "double":
      return double(executor, item, json, found);
    case "bigint":
    case "integer":
    case "number":
    case "decimal":
      return exactNumber(executor, item, json, found);
    case "boolean":
      return boolean(executor, item, json, found);
    case "string":
      return text(executor, item, json, found);
    case "keyvalue":
      return keyValue(executor, item, json, found);
    default:
      return moment(executor, item, json, found);
  }
}

function onlyFor(executor: PathExecution, item: Method, code: string, what: string): Outcome {
  return executor.fail(code, `jsonpath item method .${item.name}() can only be applied to ${what}`);
}

function typeOf(json: unknown): string {
  if (json === null) return "null";
  if (Array.isArray(json)) return "array";
  if (isNumber(json)) return "number";
  if (json instanceof Moment) return json.display;
  return typeof json;
}

function rounded(name: "abs" | "floor" | "ceiling", number: Numeric): Numeric {
  if (name === "abs") return number.abs();
  return name === "floor" ? number.floor() : number.ceil();
}

/** A text read as a type; null if it is not a value of that type. */
function read<T>(type: SqlType, source: string): T | null {
  try {
    return fromText(type, source) as T;
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
}

function double(executor: PathExecution, item: Method, json: unknown, found: Found): Outcome {
  if (!isNumber(json) && typeof json !== "string") return onlyFor(executor, item, "22036", "a string or numeric value");
  const source = String(json);
  const number = read<number>(FLOAT8, source);
  if (number === null) return notA(executor, item, source, "double precision");
  if (!Number.isFinite(number)) return noInfinity(executor, item);
  return executor.proceed(item, exactJsonNumber(Numeric.fromFloat(number, 15)), found);
}

function notA(executor: PathExecution, item: Method, source: string, type: string): Outcome {
  return executor.fail(
    "22036",
    `argument "${source}" of jsonpath item method .${item.name}() is invalid for type ${type}`,
  );
}

function noInfinity(executor: PathExecution, item: Method): Outcome {
  return executor.fail("22036", `NaN or Infinity is not allowed for jsonpath item method .${item.name}()`);
}

const INTEGER_LIMITS: Readonly<Record<string, readonly [bigint, bigint]>> = {
  integer: [-2_147_483_648n, 2_147_483_647n],
  bigint: [-(1n << 63n), (1n << 63n) - 1n],
};

/** .bigint() and .integer() round numbers, but want strings to be whole; .number() and .decimal() are numeric. */
function exactNumber(executor: PathExecution, item: Method, json: unknown, found: Found): Outcome {
  if (!isNumber(json) && typeof json !== "string") return onlyFor(executor, item, "22036", "a string or numeric value");
  const display = item.name === "number" || item.name === "decimal" ? "numeric" : item.name;
  let number = typeof json === "string" ? read<Numeric>(NUMERIC, json) : toNumeric(json);
  if (number === null) return notA(executor, item, String(json), display);
  if (!number.isFinite()) {
    return display === "numeric" ? noInfinity(executor, item) : notA(executor, item, String(json), display);
  }
  const limits = INTEGER_LIMITS[item.name];
  if (limits !== undefined) {
    if (typeof json === "string" && !/^\s*[+-]?\d+\s*$/.test(json)) return notA(executor, item, json, display);
    number = number.round();
    const whole = number.toInteger() as bigint;
    if (whole < limits[0] || whole > limits[1]) return notA(executor, item, String(json), display);
  } else if (item.name === "decimal" && item.args.length > 0) {
    const [precision, scale = 0] = item.args.map((arg) => (arg.op === "number" ? arg.value.toNumber() : 0));
    if ((precision as number) < 1 || (precision as number) > 1000) {
      return executor.fail("22023", `NUMERIC precision ${precision} must be between 1 and 1000`);
    }
    if (scale < -1000 || scale > 1000) {
      return executor.fail("22023", `NUMERIC scale ${scale} must be between -1000 and 1000`);
    }
    number = read<Numeric>(numericType(precision as number, scale), number.toString());
    if (number === null) return notA(executor, item, String(json), display);
  }
  return executor.proceed(item, exactJsonNumber(number), found);
}

function boolean(executor: PathExecution, item: Method, json: unknown, found: Found): Outcome {
  if (typeof json === "boolean") return executor.proceed(item, json, found);
  let result: boolean | null;
  if (isNumber(json)) {
    const number = toNumeric(json);
    const whole = number.toInteger();
    const exact = whole !== null && Numeric.fromInteger(whole).equals(number) && BigInt.asIntN(32, whole) === whole;
    result = exact ? whole !== 0n : null;
  } else if (typeof json === "string") result = read<boolean>(BOOL, json);
  else return onlyFor(executor, item, "22036", "a boolean, string, or numeric value");
  return result === null ? notA(executor, item, String(json), "boolean") : executor.proceed(item, result, found);
}

function text(executor: PathExecution, item: Method, json: unknown, found: Found): Outcome {
  if (json === null || Array.isArray(json) || isObject(json)) {
    return onlyFor(executor, item, "22036", "a boolean, string, numeric, or datetime value");
  }
  const printed = json instanceof Moment ? json.toString() : typeof json === "string" ? json : jsonbToText(json);
  return executor.proceed(item, fromText(TEXT, printed), found);
}

/** An object per member, with the identity of the object it came from. */
function keyValue(executor: PathExecution, item: Method, json: unknown, found: Found): Outcome {
  if (!isObject(json)) return onlyFor(executor, item, "2203C", "an object");
  let outcome: Outcome = "none";
  for (const key of sortedKeys(json)) {
    const pair: JsonObject = { id: executor.ids.idOf(json) };
    setMember(pair, "key", key);
    setMember(pair, "value", json[key]);
    executor.ids.generate(pair);
    outcome = executor.proceed(item, pair, found);
    if (outcome === "error" || (outcome === "ok" && found === null)) return outcome;
  }
  return outcome;
}

const KINDS: Readonly<Partial<Record<Method["name"], MomentKind>>> = {
  date: "date",
  time: "time",
  time_tz: "timetz",
  timestamp: "timestamp",
  timestamp_tz: "timestamptz",
};

function moment(executor: PathExecution, item: Method, json: unknown, found: Found): Outcome {
  if (typeof json !== "string") return onlyFor(executor, item, "22031", "a string");
  const [argument] = item.args;
  const { session } = executor;
  let result: Moment | null;
  if (item.name === "datetime" && argument?.op === "string") {
    try {
      result = parseMomentTemplate(json, argument.text, session);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      return failure(executor, error);
    }
    return executor.proceed(item, result, found);
  }
  result = parseIsoMoment(json, session);
  if (result === null) {
    const what = item.name === "datetime" ? "datetime" : item.name;
    return executor.fail(
      "22031",
      `${what} format is not recognized: "${json}"`,
      item.name === "datetime" ? "Use a datetime template argument to specify the input data format." : undefined,
    );
  }
  const kind = KINDS[item.name];
  if (kind !== undefined) {
    result = convertMoment(result, kind, executor.withZone, session.timeZone);
    if (result === null) return executor.fail("22031", `${item.name} format is not recognized: "${json}"`);
    if (argument?.op === "number") result = roundMoment(result, argument.value.toNumber());
  }
  return executor.proceed(item, result, found);
}

function failure(executor: PathExecution, error: DbError): Outcome {
  return executor.fail(error.details?.sqlstate ?? "22007", error.message, error.details?.hint);
}
