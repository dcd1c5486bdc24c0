/** Functions and operators of json and jsonb (chapter 9.16) that need no set-returning support. */

import { sqlError } from "../../../protocol/errors.js";
import { spend } from "../../../protocol/stretch.js";
import { jsonbToText, setMember } from "../../../values/json-text.js";
import { Numeric } from "../../../values/numeric.js";
import {
  arrayOf,
  BOOL,
  INT4,
  JSON_TYPE,
  JSONB,
  Json,
  type SqlArray,
  type SqlType,
  TEXT,
} from "../../../values/values.js";
import { compareJson, jsonKeys } from "../compare.js";
import type { ScalarFunction } from "../expr.js";
import { jsonParts } from "../work.js";
import { composedJson } from "./composed-value.js";
import { fn, op, taking } from "./define.js";
import { atMemberPath, isMemberPath } from "./json-extract.js";
import { atPath, isJsonObject, type JsonObject, member, scalarOrElement } from "./json-member.js";
import { textAt, withoutNulls } from "./json-slices.js";

/** The member as JSON; a `json` result keeps a text of its own. */
export function asJson(type: SqlType, value: unknown): Json | null {
  if (value === undefined) return null;
  return type === JSON_TYPE ? new Json(value, jsonText(value)) : new Json(value);
}

const jsonText = (value: unknown) => (value instanceof Numeric ? value.toString() : compact(value));

/** Compact text, as json's own members have it once their spaces are gone. */
function compact(value: unknown): string {
  if (value instanceof Numeric) return value.toString();
  if (Array.isArray(value)) return `[${value.map(compact).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${compact(inner)}`)
    .join()}}`;
}

/** Texts have no U+0000, but strings of json may. Throws 22P05. */
export function withoutNul(text: string): string {
  if (!text.includes("\0")) return text;
  throw sqlError("22P05", "unsupported Unicode escape sequence", { detail: "\\u0000 cannot be converted to text." });
}

/** Strings without quotes, JSON null as NULL. Throws 22P05. */
export function asText(type: SqlType, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return type === JSON_TYPE ? withoutNul(value) : value;
  if (isContainer(value)) spend(jsonParts(value) * NANOS_PER_WRITTEN_PART);
  return type === JSON_TYPE ? compact(value) : jsonbToText(value);
}

const NANOS_PER_WRITTEN_PART = 100;

/** A part of a json value with its own text as it was written. */
function writtenPart(json: Json, found: unknown, path: Path): Json {
  return new Json(found, (json.text === undefined ? undefined : textAt(json.text, path)) ?? jsonText(found));
}

const PATH = arrayOf(TEXT);

/** Whether a "key" is a path (`$.a.b`); a member with exactly that name takes precedence. */
const isPath = ({ value }: Json, key: string) =>
  key.charCodeAt(0) === 36 && isMemberPath(key) && member(value, key) === undefined;

type Path = readonly (string | number | null)[];

function partOf(type: SqlType, json: Json, found: unknown, path: Path): Json | null {
  return type === JSON_TYPE && found !== undefined ? writtenPart(json, found, path) : asJson(type, found);
}

function textOf(type: SqlType, json: Json, found: unknown, path: Path): string | null {
  const isWritten = type === JSON_TYPE && found !== undefined && found !== null && typeof found !== "string";
  return isWritten ? writtenPart(json, found, path).text! : asText(type, found);
}

function access(type: SqlType): ScalarFunction[] {
  const element = type === JSONB ? scalarOrElement : member;
  const part = (json: Json, found: unknown, path: Path) => partOf(type, json, found, path);
  const text = (json: Json, found: unknown, path: Path) => textOf(type, json, found, path);
  const partAt = (json: Json, key: string) =>
    isPath(json, key) ? asJson(type, atMemberPath(json.value, key)) : part(json, member(json.value, key), [key]);
  const textAtKey = (json: Json, key: string) =>
    isPath(json, key) ? asText(type, atMemberPath(json.value, key)) : text(json, member(json.value, key), [key]);
  // Of jsonb, only what is found counts, where its text is asked for; of json the whole text is looked through.
  const options = type === JSONB ? { nanosPerUnit: 0 } : {};
  return [
    op("->", [type, TEXT], type, partAt, options),
    op("->", [type, INT4], type, (json: Json, at: number) => part(json, element(json.value, at), [at]), options),
    op("->>", [type, TEXT], TEXT, textAtKey, options),
    op("->>", [type, INT4], TEXT, (json: Json, at: number) => text(json, element(json.value, at), [at]), options),
    op(
      "#>",
      [type, PATH],
      type,
      (json: Json, path: SqlArray) => part(json, atPath(json.value, pathOf(path)), pathOf(path)),
      options,
    ),
    op(
      "#>>",
      [type, PATH],
      TEXT,
      (json: Json, path: SqlArray) => text(json, atPath(json.value, pathOf(path)), pathOf(path)),
      options,
    ),
  ];
}

const NANOS_PER_CANDIDATE = 20;

/** jsonb containment (chapter 8.14.3): an array also contains a bare scalar of its own, at top level only. */
function jsonContains(a: unknown, b: unknown, top = true): boolean {
  spend(NANOS_PER_CANDIDATE);
  if (Array.isArray(b)) {
    return Array.isArray(a) && b.every((item) => a.some((candidate) => jsonContains(candidate, item, false)));
  }
  if (isJsonObject(b)) {
    return (
      isJsonObject(a) && Object.keys(b).every((key) => Object.hasOwn(a, key) && jsonContains(a[key], b[key], false))
    );
  }
  if (Array.isArray(a)) return top && a.some((item) => !isContainer(item) && compareJson(item, b) === 0);
  return !isJsonObject(a) && compareJson(a, b) === 0;
}

export const isContainer = (value: unknown) => Array.isArray(value) || isJsonObject(value);

/** `?`: a key of an object, or a string that is a member of an array or the value itself. */
function hasKey(value: unknown, key: string): boolean {
  if (Array.isArray(value)) {
    spend(value.length * NANOS_PER_CANDIDATE);
    return value.includes(key);
  }
  return isJsonObject(value) ? Object.hasOwn(value, key) : value === key;
}

/** Objects merge, everything else joins as arrays. */
function concat(a: unknown, b: unknown): unknown {
  if (isJsonObject(a) && isJsonObject(b)) return { ...a, ...b };
  const list = (value: unknown) => (Array.isArray(value) ? value : [value]);
  return [...list(a), ...list(b)];
}

function withoutKeys(value: unknown, keys: readonly (string | null)[]): unknown {
  const removed = new Set(keys);
  if (Array.isArray(value)) return value.filter((item) => typeof item !== "string" || !removed.has(item));
  if (!isJsonObject(value)) throw sqlError("22023", "cannot delete from scalar");
  return Object.fromEntries(Object.entries(value).filter(([key]) => !removed.has(key)));
}

function withoutIndex(value: unknown, index: number): unknown {
  if (isJsonObject(value)) throw sqlError("22023", "cannot delete from object using integer index");
  if (!Array.isArray(value)) throw sqlError("22023", "cannot delete from scalar");
  const at = index < 0 ? index + value.length : index;
  return value.filter((_, i) => i !== at);
}

type Change = (container: unknown, key: string, depth: number) => unknown;

/** Rebuilds the containers along a path; `change` edits the last one. */
function alongPath(value: unknown, path: readonly (string | null)[], change: Change, depth = 0): unknown {
  const key = path[depth];
  if (key === null) throw sqlError("22004", `path element at position ${depth + 1} is null`);
  if (key === undefined) return value;
  if (depth === path.length - 1) return change(value, key, depth);
  if (Array.isArray(value)) {
    const index = indexOf(value, key, depth);
    if (index < 0 || index >= value.length) return value;
    return value.with(index, alongPath(value[index], path, change, depth + 1));
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, key)) return value;
  return { ...value, [key]: alongPath(value[key], path, change, depth + 1) };
}

function indexOf(array: readonly unknown[], key: string, depth: number): number {
  if (!/^\s*[+-]?\d+\s*$/.test(key)) {
    throw sqlError("22P02", `path element at position ${depth + 1} is not an integer: "${key}"`);
  }
  const index = Number(key);
  return index < 0 ? index + array.length : index;
}

const pathOf = (path: SqlArray) => path.elements as readonly (string | null)[];

function setPath(json: Json, path: SqlArray, value: Json, create = true): Json {
  if (!isContainer(json.value)) throw sqlError("22023", "cannot set path in scalar");
  const change: Change = (container, key, depth) => {
    if (Array.isArray(container)) {
      const index = indexOf(container, key, depth);
      if (index >= 0 && index < container.length) return container.with(index, value.value);
      if (!create) return container;
      return index < 0 ? [value.value, ...container] : [...container, value.value];
    }
    if (!isJsonObject(container) || (!create && !Object.hasOwn(container, key))) return container;
    return { ...container, [key]: value.value };
  };
  return composedJson(alongPath(json.value, pathOf(path), change));
}

function insertAtPath(json: Json, path: SqlArray, value: Json, after = false): Json {
  if (!isContainer(json.value)) throw sqlError("22023", "cannot set path in scalar");
  const change: Change = (container, key, depth) => {
    if (Array.isArray(container)) {
      const index = indexOf(container, key, depth) + (after ? 1 : 0);
      return container.toSpliced(Math.max(index, 0), 0, value.value);
    }
    if (!isJsonObject(container)) return container;
    if (Object.hasOwn(container, key)) throw sqlError("22023", "cannot replace existing key");
    return { ...container, [key]: value.value };
  };
  return composedJson(alongPath(json.value, pathOf(path), change));
}

function deletePath(json: Json, path: SqlArray): Json {
  if (!isContainer(json.value)) throw sqlError("22023", "cannot delete path in scalar");
  if (Object.keys(json.value as object).length === 0) return json;
  const change: Change = (container, key, depth) =>
    Array.isArray(container)
      ? withoutIndex(container, indexOf(container, key, depth) < 0 ? container.length : indexOf(container, key, depth))
      : isJsonObject(container)
        ? withoutKeys(container, [key])
        : container;
  return composedJson(alongPath(json.value, pathOf(path), change));
}

/** Of what copies objects, whose keys V8 hashes one by one; an eighth of a part's. */
const COPYING_NANOS = 60;

export const JSON_OPERATORS: readonly ScalarFunction[] = [
  ...access(JSON_TYPE),
  ...access(JSONB),
  op("@>", [JSONB, JSONB], BOOL, (a: Json, b: Json) => jsonContains(a.value, b.value)),
  op("<@", [JSONB, JSONB], BOOL, (a: Json, b: Json) => jsonContains(b.value, a.value)),
  ...taking(0, [
    op("?", [JSONB, TEXT], BOOL, (json: Json, key: string) => hasKey(json.value, key)),
    op("?|", [JSONB, PATH], BOOL, (json: Json, keys: SqlArray) =>
      pathOf(keys).some((key) => key !== null && hasKey(json.value, key)),
    ),
    op("?&", [JSONB, PATH], BOOL, (json: Json, keys: SqlArray) =>
      pathOf(keys).every((key) => key === null || hasKey(json.value, key)),
    ),
  ]),
  ...taking(COPYING_NANOS, [
    op("||", [JSONB, JSONB], JSONB, (a: Json, b: Json) => composedJson(concat(a.value, b.value))),
    op("-", [JSONB, TEXT], JSONB, (json: Json, key: string) => new Json(withoutKeys(json.value, [key]))),
    op("-", [JSONB, PATH], JSONB, (json: Json, keys: SqlArray) => new Json(withoutKeys(json.value, pathOf(keys)))),
    op("-", [JSONB, INT4], JSONB, (json: Json, index: number) => new Json(withoutIndex(json.value, index))),
    op("#-", [JSONB, PATH], JSONB, deletePath),
  ]),
];

/** The functions behind the operators of jsonb, under the names of pg_proc. */
const OPERATOR_FUNCTIONS: readonly (readonly [string, string])[] = [
  ["@>", "jsonb_contains"],
  ["<@", "jsonb_contained"],
  ["?", "jsonb_exists"],
  ["?|", "jsonb_exists_any"],
  ["?&", "jsonb_exists_all"],
  ["||", "jsonb_concat"],
  ["-", "jsonb_delete"],
  ["#-", "jsonb_delete_path"],
];

function named(): ScalarFunction[] {
  return OPERATOR_FUNCTIONS.flatMap(([symbol, name]) =>
    JSON_OPERATORS.filter((overload) => overload.name === symbol).map(({ args, returns, apply, nanosPerUnit }) =>
      fn(name, args, returns, apply, nanosPerUnit === undefined ? {} : { nanosPerUnit }),
    ),
  );
}

/** jsonb_set that says what a NULL value means. */
function setPathLax(
  json: Json | null,
  path: SqlArray | null,
  value: Json | null,
  create: boolean | null = true,
  treatment: string | null = "use_json_null",
): Json | null {
  if (json === null || path === null || create === null) return null;
  if (treatment === null) throw sqlError("22023", NULL_TREATMENTS);
  if (value !== null) return setPath(json, path, value, create);
  switch (treatment) {
    case "raise_exception":
      throw sqlError("22004", "JSON value must not be null", {
        detail: 'Exception was raised because null_value_treatment is "raise_exception".',
        hint: "To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.",
      });
    case "use_json_null":
      return setPath(json, path, new Json(null), create);
    case "delete_key":
      return deletePath(json, path);
    case "return_target":
      return json;
    default:
      throw sqlError("22023", NULL_TREATMENTS);
  }
}

const NULL_TREATMENTS =
  'null_value_treatment must be "delete_key", "return_target", "use_json_null", or "raise_exception"';

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" || value instanceof Numeric) return "number";
  return typeof value;
}

function arrayLength({ value }: Json): number {
  if (Array.isArray(value)) return value.length;
  throw sqlError(
    "22023",
    isJsonObject(value) ? "cannot get array length of a non-array" : "cannot get array length of a scalar",
  );
}

function stripNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripNulls);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([key, inner]) => [key, stripNulls(inner)]),
  );
}

/** Four spaces a level, as jsonb_pretty prints. */
function pretty(value: unknown, indent = ""): string {
  const inner = `${indent}    `;
  if (Array.isArray(value)) {
    if (value.length === 0) return `[\n${indent}]`;
    return `[\n${value.map((item) => inner + pretty(item, inner)).join(",\n")}\n${indent}]`;
  }
  if (!isJsonObject(value)) return jsonbToText(value);
  const members = jsonKeys(value).map((key) => `${inner}${JSON.stringify(key)}: ${pretty(value[key], inner)}`);
  return members.length === 0 ? `{\n${indent}}` : `{\n${members.join(",\n")}\n${indent}}`;
}

/** json_object(keys[, values]) out of arrays of text; one array alternates keys and values. */
function objectOfTexts(type: SqlType, keys: SqlArray, values?: SqlArray): Json {
  const names = pathOf(keys);
  const shape = keys.dimensions;
  if (shape.length > 2 || (values !== undefined && (shape.length > 1 || values.dimensions.length > 1))) {
    throw sqlError("2202E", "wrong number of array subscripts");
  }
  if (shape.length === 2 && shape[1] !== 2) throw sqlError("2202E", "array must have two columns");
  if (values !== undefined) {
    const members = pathOf(values);
    if (members.length !== names.length) throw sqlError("2202E", "mismatched array dimensions");
    return objectOf(
      type,
      names.map((name, i) => [name, members[i]!]),
    );
  }
  if (names.length % 2 !== 0) throw sqlError("2202E", "array must have even number of elements");
  return objectOf(
    type,
    Array.from({ length: names.length / 2 }, (_, i) => [names[2 * i]!, names[2 * i + 1]!]),
  );
}

function objectOf(type: SqlType, members: readonly (readonly [string | null, string | null])[]): Json {
  const object: JsonObject = {};
  for (const [key, value] of members) setMember(object, keyText(key), value);
  if (type === JSONB) return new Json(object);
  const texts = members.map(([key, value]) => `${JSON.stringify(key)} : ${JSON.stringify(value)}`);
  return new Json(object, `{${texts.join(", ")}}`);
}

function keyText(key: string | null): string {
  if (key === null) throw sqlError("22004", "null value not allowed for object key");
  return key;
}

/** Both spellings of a function: json_x for json, jsonb_x for jsonb. */
function pair(suffix: string, make: (name: string, type: SqlType) => ScalarFunction): ScalarFunction[] {
  return [make(`json_${suffix}`, JSON_TYPE), make(`jsonb_${suffix}`, JSONB)];
}

/** `json_extract_path(json, 'a', 'b')`: the path as separate arguments. */
function extractPath(suffix: string, text: boolean): ScalarFunction[] {
  return pair(suffix, (name, type) =>
    fn(
      name,
      [type],
      text ? TEXT : type,
      (json: Json, ...steps: string[]) => {
        const found = atPath(json.value, steps);
        return text ? textOf(type, json, found, steps) : partOf(type, json, found, steps);
      },
      { variadic: TEXT },
    ),
  );
}

export const JSON_FUNCTIONS: readonly ScalarFunction[] = [
  ...taking(0, [
    ...pair("typeof", (name, type) => fn(name, [type], TEXT, (json: Json) => kindOf(json.value))),
    ...pair("array_length", (name, type) => fn(name, [type], INT4, arrayLength)),
  ]),
  fn("json_strip_nulls", [JSON_TYPE], JSON_TYPE, ({ value, text }: Json) => {
    return new Json(stripNulls(value), withoutNulls(text!));
  }),
  fn("jsonb_strip_nulls", [JSONB], JSONB, ({ value }: Json) => new Json(stripNulls(value))),
  ...extractPath("extract_path", false),
  ...extractPath("extract_path_text", true),
  fn("jsonb_pretty", [JSONB], TEXT, (json: Json) => pretty(json.value)),
  ...taking(COPYING_NANOS, [
    fn("jsonb_set", [JSONB, PATH, JSONB], JSONB, setPath),
    fn("jsonb_set", [JSONB, PATH, JSONB, BOOL], JSONB, setPath),
    ...[3, 4, 5].map((count) =>
      fn("jsonb_set_lax", [JSONB, PATH, JSONB, BOOL, TEXT].slice(0, count), JSONB, setPathLax, { strict: false }),
    ),
    fn("jsonb_insert", [JSONB, PATH, JSONB], JSONB, insertAtPath),
    fn("jsonb_insert", [JSONB, PATH, JSONB, BOOL], JSONB, insertAtPath),
  ]),
  ...named(),
  ...pair("object", (name, type) => fn(name, [PATH], type, (keys: SqlArray) => objectOfTexts(type, keys))),
  ...pair("object", (name, type) =>
    fn(name, [PATH, PATH], type, (keys: SqlArray, values: SqlArray) => objectOfTexts(type, keys, values)),
  ),
];
