/**
 * The SQL standard's JSON constructors and query functions (chapter 9.16.1 and 9.16.3): JSON_OBJECT, JSON_ARRAY, IS
 * JSON, JSON_VALUE and the others. The parser makes calls of these; their first argument is a constant text of
 * options.
 */
import { DbError, sqlError } from "../../../protocol/errors.js";
import type { JsonPath } from "../../../values/json-path.js";
import { jsonbToText, parseJson } from "../../../values/json-text.js";
import {
  BOOL,
  JSON_TYPE,
  JSONB,
  JSONPATH,
  Json,
  type SqlArray,
  type SqlType,
  TEXT,
  type Value,
} from "../../../values/values.js";
import { conversionOf } from "../cast.js";
import type { EvalContext } from "../expr.js";
import { contextFn, type FunctionFamily, family, fn } from "./define.js";
import { isJsonObject } from "./json-member.js";
import { queryPath } from "./json-path-exec.js";
import { pathRun } from "./json-path-functions.js";
import { membersIn } from "./json-slices.js";
import { jsonTextOf, toJson } from "./to-json.js";

const ofText = (source: string) => new Json(parseJson(source), source);

function duplicateKey(key: string): Error {
  return sqlError("22030", `duplicate JSON object key value: ${JSON.stringify(key)}`);
}

/** Of an element that becomes JSON, or a character that is looked at. */
const CONVERSION_NANOS = 100;

/** JSON_OBJECT: options, then keys and values by turns. */
const OBJECT = family("json object", "(any, …) → json", (types) => {
  if (types.length % 2 === 0) return null;
  const args = types.map((type) => (type.name === "unknown" ? TEXT : type));
  return contextFn(
    "json object",
    args,
    JSON_TYPE,
    (context: EvalContext, options: string, ...values: Value[]) => {
      const parts: string[] = [];
      const seen = new Set<string>();
      for (let i = 0; i < values.length; i += 2) {
        const [key, value] = [values[i] as Value, values[i + 1] as Value];
        if (key === null) throw sqlError("22004", "null value not allowed for object key");
        const plain = toJson(args[i + 1] as SqlType, key, context.timeZone);
        if (typeof plain === "object" && plain !== null && (Array.isArray(plain) || isJsonObject(plain))) {
          throw sqlError("22023", "key value must be scalar, not array, composite, or json");
        }
        const name = String(plain);
        if (value === null && options.includes("absent")) continue;
        if (seen.has(name) && options.includes("unique")) throw duplicateKey(name);
        seen.add(name);
        const member = value === null ? "null" : jsonTextOf(args[i + 2] as SqlType, value, context.timeZone);
        parts.push(`${JSON.stringify(name)} : ${member}`);
      }
      return ofText(`{${parts.join(", ")}}`);
    },
    { strict: false, nanosPerUnit: CONVERSION_NANOS },
  );
});

function arrayText(options: string, types: (i: number) => SqlType, values: readonly Value[], zone: string): Json {
  const parts = values.flatMap((value, i) => {
    if (value === null) return options.includes("absent") ? [] : ["null"];
    return [jsonTextOf(types(i), value, zone)];
  });
  return ofText(`[${parts.join(", ")}]`);
}

/** JSON_ARRAY of values; its default is ABSENT ON NULL, which the parser spells out. */
const ARRAY = family("json array", "(any, …) → json", (types) => {
  if (types.length === 0) return null;
  const args = types.map((type) => (type.name === "unknown" ? TEXT : type));
  return contextFn(
    "json array",
    args,
    JSON_TYPE,
    (context: EvalContext, options: string, ...values: Value[]) =>
      arrayText(options, (i) => args[i + 1] as SqlType, values, context.timeZone),
    { strict: false, nanosPerUnit: CONVERSION_NANOS },
  );
});

/** JSON_ARRAY of a query, whose rows come as an array. */
const ARRAY_OF = family("json array of", "(any) → json", (types) => {
  const array = types[1];
  if (types.length !== 2 || array === undefined || array.element === null) return null;
  const { element } = array;
  return contextFn(
    "json array of",
    [TEXT, array],
    JSON_TYPE,
    (context: EvalContext, options: string, rows: SqlArray) =>
      arrayText(options, () => element, rows.elements, context.timeZone),
    { nanosPerUnit: CONVERSION_NANOS },
  );
});

/** Whether an object inside of a JSON text has a key twice; gives the key. */
function repeatedKey(source: string): string | null {
  const seen = new Set<string>();
  for (const { key, start, end } of membersIn(source)) {
    if (key !== null && seen.has(key)) return key;
    if (key !== null) seen.add(key);
    const inner = repeatedKey(source.slice(start, end));
    if (inner !== null) return inner;
  }
  return null;
}

/** JSON(text WITH UNIQUE KEYS). */
function parsed(options: string, json: Json): Json {
  const key = options.includes("unique") && json.text !== undefined ? repeatedKey(json.text) : null;
  if (key !== null) throw duplicateKey(key);
  return json;
}

const IS_JSON = family("is json", "(any) → boolean", (types) => {
  const [, given] = types;
  if (types.length !== 2 || given === undefined) return null;
  const type = given.name === "unknown" ? TEXT : given;
  if (!["text", "varchar", "bpchar", "name", "json", "jsonb", "bytea"].includes(type.name)) {
    return fn("is json", [TEXT, type], BOOL, () => {
      throw sqlError("42804", `cannot use type ${type.name} in IS JSON predicate`);
    });
  }
  const test = (options: string, value: string | Json | Uint8Array): boolean => isJsonText(sourceOf(value), options);
  return fn("is json", [TEXT, type], BOOL, test, { nanosPerUnit: CONVERSION_NANOS });
});

function sourceOf(value: string | Json | Uint8Array): string {
  if (typeof value === "string") return value;
  return value instanceof Json ? (value.text ?? jsonbToText(value.value)) : Buffer.from(value).toString();
}

function isJsonText(source: string, options: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return false;
  }
  const [kind] = options.split(" ");
  const container = typeof value === "object" && value !== null;
  if (kind === "array" && !Array.isArray(value)) return false;
  if (kind === "object" && (!container || Array.isArray(value))) return false;
  if (kind === "scalar" && container) return false;
  return !options.includes("unique") || repeatedKey(source) === null;
}

interface Query {
  readonly context: EvalContext;
  readonly options: string;
  readonly type: SqlType;
  readonly onEmpty: Value;
  readonly onError: Value;
}

/** The result of ON EMPTY or ON ERROR. Throws `error` if that is asked for. */
function instead(word: string, value: Value, query: Query, error: DbError): Value {
  switch (word) {
    case "error":
      throw error;
    case "true":
    case "false":
      return converted(word === "true", query);
    case "empty":
    case "empty_array":
      return converted([], query);
    case "empty_object":
      return converted({}, query);
    case "default":
      return value;
    default:
      return null;
  }
}

/** A JSON item as a value of the result's type; strings without quotes. */
function converted(item: unknown, { type, context }: Query): Value {
  if (item === null && type.name !== "json" && type.name !== "jsonb") return null;
  if (type.name === "jsonb") return new Json(item);
  const source = typeof item === "string" && type.name !== "json" ? item : jsonbToText(item);
  if (type.name === "json") return ofText(source);
  const convert = conversionOf(TEXT, type);
  if (convert === null) throw sqlError("42846", `cannot cast type jsonb to ${type.name}`);
  return convert(source, context);
}

type Pick = (items: readonly unknown[], query: Query) => Value;

/** Runs the path, and what ON EMPTY and ON ERROR say where it finds nothing or fails. */
function querying(name: string, pick: Pick, emptyMatters: boolean): FunctionFamily {
  return family(name, "(jsonb, jsonpath, …) → any", (types) => {
    const type = types[4];
    if (types.length !== 6 || type === undefined) return null;
    return contextFn(
      name,
      [TEXT, JSONB, JSONPATH, JSONB, type, type],
      type,
      (
        context: EvalContext,
        options: string,
        target: Json | null,
        path: JsonPath | null,
        vars: Json,
        onEmpty: Value,
        onError: Value,
      ) => {
        if (target === null || path === null) return null;
        const query: Query = { context, options, type, onEmpty, onError };
        const [empty = "null", error = "null"] = options.split(" ");
        try {
          const items = queryPath(pathRun(context, target, path, vars, false, true));
          if (items.length > 0 || !emptyMatters) return pick(items, query);
          return instead(empty, onEmpty, query, sqlError("22035", "no SQL/JSON item found for specified path"));
        } catch (thrown) {
          if (!(thrown instanceof DbError) || error === "error") throw thrown;
          return instead(error, onError, query, thrown);
        }
      },
      { strict: false },
    );
  });
}

function oneScalar(items: readonly unknown[], query: Query): Value {
  const [item] = items;
  if (items.length > 1) {
    throw sqlError("22034", "JSON path expression in JSON_VALUE must return single scalar item");
  }
  if (Array.isArray(item) || isJsonObject(item)) {
    throw sqlError("2203F", "JSON path expression in JSON_VALUE must return single scalar item");
  }
  return item === null ? null : converted(item, query);
}

function oneItem(items: readonly unknown[], query: Query): Value {
  const { options, type } = query;
  const words = options.split(" ");
  const wrap = words.includes("wrap") || (words.includes("wrap-several") && items.length > 1);
  if (!wrap && items.length > 1) {
    throw sqlError("22034", "JSON path expression in JSON_QUERY must return single item when no wrapper is requested", {
      hint: "Use the WITH WRAPPER clause to wrap SQL/JSON items into an array.",
    });
  }
  const item = wrap ? [...items] : items[0];
  const isBare = typeof item === "string" && options.includes("unquoted");
  if (isBare) return type.name === "jsonb" || type.name === "json" ? readAs(item, type) : converted(item, query);
  if (type.name === "jsonb" || type.name === "json" || item === null) return converted(item, query);
  const convert = conversionOf(TEXT, type);
  return convert === null ? null : convert(jsonbToText(item), query.context);
}

const readAs = (source: string, type: SqlType) =>
  type.name === "jsonb" ? new Json(parseJson(source)) : ofText(source);

export const JSON_CONSTRUCTORS: readonly FunctionFamily[] = [
  OBJECT,
  ARRAY,
  ARRAY_OF,
  IS_JSON,
  family("json parse", "(text, boolean) → json", (types) =>
    types.length === 2 ? fn("json parse", [TEXT, JSON_TYPE], JSON_TYPE, parsed) : null,
  ),
  querying("json exists", (items) => items.length > 0, false),
  querying("json value", oneScalar, true),
  querying("json query", oneItem, true),
];
