/** Functions and operators of the extension hstore: maps of texts. */
import { sqlError } from "../../../protocol/errors.js";
import { compareHstores, hstoreBytes, hstoreText, pairsOf, textInOrder } from "../../../values/hstore.js";
import { hashBytes, type Seed } from "../../../values/lookup3.js";
import { fitText, fromText, toText } from "../../../values/text-format.js";
import { sqlArray } from "../../../values/text-format-array.js";
import {
  arrayOf,
  BOOL,
  HSTORE,
  INT4,
  JSON_TYPE,
  JSONB,
  recordOf,
  type SqlArray,
  type SqlType,
  TEXT,
  type Value,
} from "../../../values/values.js";
import { clockOf } from "../cast.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { hstoreJson, hstoreOfArray, hstoreOfPairs, textsIn } from "../hstore-cast.js";
import { recordRows, type TableFunction, tableFn, valueRows } from "../table-function.js";
import { aliases, contextFn, type FunctionFamily, family, fn, op, operatorFunctions, taking } from "./define.js";
import { hashing } from "./hashes.js";

const TEXTS = arrayOf(TEXT);

/** Throws 2202E. */
function ofKeysAndValues(keys: SqlArray, values: SqlArray | null): string {
  const [names, texts] = [textsIn(keys), values === null ? null : textsIn(values)];
  if (keys.dimensions.length > 1 || (values?.dimensions.length ?? 0) > 1) {
    throw sqlError("2202E", "wrong number of array subscripts");
  }
  if (texts !== null && texts.length !== names.length) throw sqlError("2202E", "arrays must have same bounds");
  return hstoreOfPairs(names.map((name, i) => [name, texts?.[i] ?? null]));
}

const joined = (a: string, b: string) => hstoreText(new Map([...pairsOf(a), ...pairsOf(b)]));

function kept(text: string, isKept: (key: string, value: string | null) => boolean): string {
  return textInOrder([...pairsOf(text)].filter(([key, value]) => isKept(key, value)));
}

function withoutKeys(text: string, keys: SqlArray): string {
  const left = new Set(textsIn(keys));
  return kept(text, (key) => !left.has(key));
}

function withKeys(text: string, keys: SqlArray): string {
  const wanted = new Set(textsIn(keys));
  return kept(text, (key) => wanted.has(key));
}

function withoutPairs(text: string, other: string): string {
  const pairs = pairsOf(other);
  return kept(text, (key, value) => !pairs.has(key) || pairs.get(key) !== value);
}

function contains(outer: string, inner: string): boolean {
  const pairs = pairsOf(outer);
  return [...pairsOf(inner)].every(([key, value]) => pairs.has(key) && pairs.get(key) === value);
}

const fetched = (text: string, key: string): string | null => pairsOf(text).get(key) ?? null;

function fetchedAll(text: string, keys: SqlArray): SqlArray {
  const pairs = pairsOf(text);
  return { ...keys, elements: textsIn(keys).map((key) => (key === null ? null : (pairs.get(key) ?? null))) };
}

const hasAll = (text: string, keys: SqlArray) => {
  const pairs = pairsOf(text);
  return textsIn(keys).every((key) => key === null || pairs.has(key));
};
const hasAny = (text: string, keys: SqlArray) => {
  const pairs = pairsOf(text);
  return textsIn(keys).some((key) => key !== null && pairs.has(key));
};

const flat = (text: string) => sqlArray([...pairsOf(text)].flat());

function matrix(text: string): SqlArray {
  const pairs = [...pairsOf(text)];
  if (pairs.length === 0) return sqlArray([]);
  return { elements: pairs.flat(), dimensions: [pairs.length, 2], lowerBounds: [1, 1] };
}

function toJson(name: string, to: SqlType): ScalarFunction[] {
  return [
    fn(name, [HSTORE], to, (text: string) => hstoreJson(to, text)),
    fn(`${name}_loose`, [HSTORE], to, (text: string) => hstoreJson(to, text, true)),
  ];
}

const NANOS = 60;
const exist = (text: string, key: string) => pairsOf(text).has(key);
const defined = (text: string, key: string) => (pairsOf(text).get(key) ?? null) !== null;

export const HSTORE_FETCH: ScalarFunction = op("->", [HSTORE, TEXT], TEXT, fetched);

/** `SET h[key] = value`. Not in the registry: assignments call it. */
export const HSTORE_ASSIGN: ScalarFunction = fn(
  "assign_hstore",
  [HSTORE, TEXT, TEXT],
  HSTORE,
  (text: string | null, value: string | null, key: string | null) => {
    if (key === null) throw sqlError("22004", "hstore subscript in assignment must not be null");
    return hstoreText(new Map([...(text === null ? [] : pairsOf(text)), [key, value]]));
  },
  { strict: false },
);

export const HSTORE_OPERATORS: readonly ScalarFunction[] = taking(NANOS, [
  HSTORE_FETCH,
  op("->", [HSTORE, TEXTS], TEXTS, fetchedAll),
  op("||", [HSTORE, HSTORE], HSTORE, joined),
  op("?", [HSTORE, TEXT], BOOL, exist),
  op("?&", [HSTORE, TEXTS], BOOL, hasAll),
  op("?|", [HSTORE, TEXTS], BOOL, hasAny),
  op("@>", [HSTORE, HSTORE], BOOL, contains),
  op("<@", [HSTORE, HSTORE], BOOL, (a: string, b: string) => contains(b, a)),
  op("-", [HSTORE, TEXT], HSTORE, (text: string, key: string) => kept(text, (other) => other !== key)),
  op("-", [HSTORE, TEXTS], HSTORE, withoutKeys),
  op("-", [HSTORE, HSTORE], HSTORE, withoutPairs),
  op("%%", [HSTORE], TEXTS, flat),
  op("%#", [HSTORE], TEXTS, matrix),
  op("=", [HSTORE, HSTORE], BOOL, (a: string, b: string) => a === b),
  op("<>", [HSTORE, HSTORE], BOOL, (a: string, b: string) => a !== b),
  op("#<#", [HSTORE, HSTORE], BOOL, (a: string, b: string) => compareHstores(a, b) < 0),
  op("#<=#", [HSTORE, HSTORE], BOOL, (a: string, b: string) => compareHstores(a, b) <= 0),
  op("#>#", [HSTORE, HSTORE], BOOL, (a: string, b: string) => compareHstores(a, b) > 0),
  op("#>=#", [HSTORE, HSTORE], BOOL, (a: string, b: string) => compareHstores(a, b) >= 0),
]);

export const HSTORE_FUNCTIONS: readonly ScalarFunction[] = taking(NANOS, [
  ...aliases(
    ["hstore", "tconvert"],
    fn(
      "hstore",
      [TEXT, TEXT],
      HSTORE,
      (key: string | null, value: string | null) => (key === null ? null : hstoreOfPairs([[key, value]])),
      { strict: false },
    ),
  ),
  fn("hstore", [TEXTS], HSTORE, hstoreOfArray),
  fn(
    "hstore",
    [TEXTS, TEXTS],
    HSTORE,
    (keys: SqlArray | null, values: SqlArray | null) => (keys === null ? null : ofKeysAndValues(keys, values)),
    { strict: false },
  ),
  fn("akeys", [HSTORE], TEXTS, (text: string) => sqlArray([...pairsOf(text).keys()])),
  fn("avals", [HSTORE], TEXTS, (text: string) => sqlArray([...pairsOf(text).values()])),
  ...aliases(["exist", "isexists"], fn("exist", [HSTORE, TEXT], BOOL, exist)),
  ...aliases(["defined", "isdefined"], fn("defined", [HSTORE, TEXT], BOOL, defined)),
  fn("exists_all", [HSTORE, TEXTS], BOOL, hasAll),
  fn("exists_any", [HSTORE, TEXTS], BOOL, hasAny),
  fn("fetchval", [HSTORE, TEXT], TEXT, fetched),
  fn("delete", [HSTORE, TEXT], HSTORE, (text: string, key: string) => kept(text, (other) => other !== key)),
  fn("delete", [HSTORE, TEXTS], HSTORE, withoutKeys),
  fn("delete", [HSTORE, HSTORE], HSTORE, withoutPairs),
  fn("slice", [HSTORE, TEXTS], HSTORE, withKeys),
  fn("slice_array", [HSTORE, TEXTS], TEXTS, fetchedAll),
  fn("hstore_to_array", [HSTORE], TEXTS, flat),
  fn("hstore_to_matrix", [HSTORE], TEXTS, matrix),
  ...operatorFunctions(HSTORE_OPERATORS, [
    ["hs_concat", "||", HSTORE, HSTORE],
    ["hs_contains", "@>", HSTORE, HSTORE],
    ["hs_contained", "<@", HSTORE, HSTORE],
    ["hstore_eq", "=", HSTORE, HSTORE],
    ["hstore_ne", "<>", HSTORE, HSTORE],
    ["hstore_lt", "#<#", HSTORE, HSTORE],
    ["hstore_le", "#<=#", HSTORE, HSTORE],
    ["hstore_gt", "#>#", HSTORE, HSTORE],
    ["hstore_ge", "#>=#", HSTORE, HSTORE],
  ]),
  fn("hstore_cmp", [HSTORE, HSTORE], INT4, (a: string, b: string) => Math.sign(compareHstores(a, b))),
  ...hashing(
    "hstore_hash",
    HSTORE,
    (text: string, seed: Seed) => hashBytes(hstoreBytes(text), seed),
    "hstore_hash_extended",
  ),
  ...toJson("hstore_to_json", JSON_TYPE),
  ...toJson("hstore_to_jsonb", JSONB),
]);

/** `hstore(record)`: its fields by their names. */
export const HSTORE_FAMILIES: readonly FunctionFamily[] = [
  populating("populate_record", "(record, hstore) → record"),
  family("hstore", "(record) → hstore", ([row, ...rest]) => {
    const fields = row?.fields;
    if (fields === undefined || rest.length > 0) return null;
    // A row that is NULL has fields, too: each of them is NULL.
    const apply = (context: EvalContext, values: readonly Value[] | null) =>
      hstoreOfPairs(
        fields.map(({ name, type }, i) => {
          const value = values?.[i] ?? null;
          return [name, value === null ? null : toText(type, value, context.timeZone, context.style)];
        }),
      );
    return contextFn("hstore", [row!], HSTORE, apply as never, { strict: false });
  }),
];

/** The row with the pairs whose keys are names of its fields. */
function populated(
  row: SqlType,
): (context: EvalContext, values: readonly Value[] | null, text: string | null) => Value {
  const fields = row.fields!;
  return (context, values, text) => {
    if (text === null) return values;
    const pairs = pairsOf(text);
    return fields.map(({ name, type }, i) => {
      const given = pairs.get(name);
      if (given === undefined) return values?.[i] ?? null;
      if (given === null) return null;
      if (type.name === "varchar" || type.name === "bpchar") return fitText(type, given, false);
      return fromText(type, given, clockOf(context));
    });
  };
}

function populating(name: string, form: string): FunctionFamily {
  return family(name, form, ([row, given, ...rest]) => {
    if (row === undefined || rest.length > 0 || (given !== HSTORE && given?.name !== "unknown")) return null;
    if (row.fields === undefined) {
      if (name === "#=" || row.name === "unknown" || row.name === "record") return null;
      throw sqlError("42804", "first argument must be a rowtype");
    }
    return contextFn(name, [row, HSTORE], row, populated(row) as never, { strict: false });
  });
}

export const HSTORE_OPERATOR_FAMILIES: readonly FunctionFamily[] = [populating("#=", "(record, hstore) → record")];

const PAIR = recordOf([
  { name: "key", type: TEXT },
  { name: "value", type: TEXT },
]);

export const HSTORE_TABLES: readonly TableFunction[] = [
  tableFn("skeys", [HSTORE], TEXT, (text: string) => valueRows(pairsOf(text).keys())),
  tableFn("svals", [HSTORE], TEXT, (text: string) => valueRows(pairsOf(text).values())),
  tableFn("each", [HSTORE], PAIR, (text: string) => recordRows(pairsOf(text))),
];
