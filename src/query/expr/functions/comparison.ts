/**
 * Comparison operators: one set per type from the type's order (compare.ts), mixed sets for integers and floats, and
 * families for arrays and records. IS DISTINCT FROM is a function that prints as an operator.
 */
import { sqlError } from "../../../protocol/errors.js";
import { compareText } from "../../../values/compare-text.js";
import { toText } from "../../../values/text-format.js";
import {
  BIT,
  BOOL,
  BPCHAR,
  BYTEA,
  CHAR,
  CITEXT,
  DATE,
  FLOAT4,
  FLOAT8,
  HALFVEC,
  INET,
  INT2,
  INT4,
  INT8,
  INTERVAL,
  JSONB,
  LTREE,
  MACADDR,
  MACADDR8,
  MONEY,
  MULTIRANGES,
  NAME,
  NUMERIC,
  OID,
  RANGES,
  REGCONFIG,
  SPARSEVEC,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMETZ,
  TSQUERY,
  TSVECTOR,
  typeOf,
  UUID,
  VARBIT,
  type Value,
  VECTOR,
} from "../../../values/values.js";
import { commonType } from "../coercion.js";
import { type Comparator, comparatorOf } from "../compare.js";
import type { ScalarFunction } from "../expr.js";
import { baseType, displayName, hasOrder } from "../types.js";
import { type FunctionFamily, family, op } from "./define.js";

type Test = (order: number) => boolean;

const TESTS: readonly (readonly [string, Test])[] = [
  ["=", (order) => order === 0],
  ["<>", (order) => order !== 0],
  ["<", (order) => order < 0],
  ["<=", (order) => order <= 0],
  [">", (order) => order > 0],
  [">=", (order) => order >= 0],
];

function byOrder(a: SqlType, b: SqlType, compare: Comparator): ScalarFunction[] {
  return TESTS.map(([symbol, test]) => op(symbol, [a, b], BOOL, (x: Value, y: Value) => test(compare(x, y))));
}

/** Values that `===` and `<` compare right: see compile.ts on int8. */
function direct(a: SqlType, b: SqlType): ScalarFunction[] {
  return [
    op("=", [a, b], BOOL, (x: number, y: number) => x === y),
    op("<>", [a, b], BOOL, (x: number, y: number) => x !== y),
    op("<", [a, b], BOOL, (x: number, y: number) => x < y),
    op("<=", [a, b], BOOL, (x: number, y: number) => x <= y),
    op(">", [a, b], BOOL, (x: number, y: number) => x > y),
    op(">=", [a, b], BOOL, (x: number, y: number) => x >= y),
  ];
}

const INTEGERS = [INT2, INT4, INT8];
const FLOATS = [FLOAT4, FLOAT8];
const PLAIN = [OID, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, BOOL];
const ORDERED = [
  MONEY,
  NUMERIC,
  TEXT,
  BPCHAR,
  CITEXT,
  NAME,
  UUID,
  BYTEA,
  TIMETZ,
  INTERVAL,
  JSONB,
  VECTOR,
  HALFVEC,
  SPARSEVEC,
  BIT,
  VARBIT,
  INET,
  MACADDR,
  MACADDR8,
  REGCONFIG,
  TSQUERY,
  TSVECTOR,
  CHAR,
  LTREE,
  typeOf("tid"),
  typeOf("xid8"),
  typeOf("pg_lsn"),
  ...Object.values(RANGES),
  ...Object.values(MULTIRANGES),
];

const XID = typeOf("xid");

/** Numbers of transactions are equal or not; as in PostgreSQL, they have no order. */
const TRANSACTION_IDS = [
  ...["=", "<>"].map((symbol) =>
    op(symbol, [XID, XID], BOOL, (x: string, y: string) => (x === y) === (symbol === "=")),
  ),
  ...["=", "<>"].map((symbol) =>
    op(symbol, [XID, INT4], BOOL, (x: string, y: number) => (x === String(y)) === (symbol === "=")),
  ),
];

export const COMPARISONS: readonly ScalarFunction[] = [
  ...INTEGERS.flatMap((a) => INTEGERS.flatMap((b) => direct(a, b))),
  ...PLAIN.flatMap((type) => direct(type, type)),
  ...FLOATS.flatMap((a) => FLOATS.flatMap((b) => byOrder(a, b, comparatorOf(FLOAT8)))),
  ...ORDERED.flatMap((type) => byOrder(type, type, comparatorOf(type))),
  ...TRANSACTION_IDS,
  // Text by its bytes, whatever the collation: here the same as `<` and the rest.
  ...TESTS.slice(2).map(([symbol, test]) =>
    op(`~${symbol}~`, [TEXT, TEXT], BOOL, (x: string, y: string) => test(compareText(x, y))),
  ),
];

const FAMILIES = new Set(["array", "record", "enum", "range", "multirange"]);

/** Arrays compare with arrays of the same element type, records with records, ranges of a made type with each other. */
function comparisonFamily(symbol: string, test: Test): FunctionFamily {
  return family(symbol, "(anyelement, anyelement) → boolean", (types) => {
    const known = types.filter((type) => type.name !== "unknown");
    const first = known[0];
    if (types.length !== 2 || first === undefined) return null;
    if (!known.every((type) => type.name === first.name) || !FAMILIES.has(first.name)) return null;
    if (first.name === "record") return recordComparison(symbol, test, first, known[1] ?? first);
    const operand = operandType(known);
    if (operand === null) return null;
    const compare = comparatorOf(operand);
    return op(symbol, [operand, operand], BOOL, (x: Value, y: Value) => test(compare(x, y)));
  });
}

/** Records compare as they are: only equal types of fields do, and NULL fields are equal (chapter 9.24.6). */
function recordComparison(symbol: string, test: Test, left: SqlType, right: SqlType): ScalarFunction {
  const why = dissimilar(left, right);
  const compare = why === null ? comparatorOf(left.fields === undefined ? right : left) : null;
  const unordered = left.fields?.find((field) => !hasOrder(field.type));
  return op(symbol, [left, right], BOOL, (x: Value, y: Value) => {
    if (compare === null) throw sqlError("42804", why!);
    if (unordered !== undefined) {
      const what = symbol === "=" || symbol === "<>" ? "an equality operator" : "a comparison function";
      throw sqlError("42883", `could not identify ${what} for type ${displayName(unordered.type)}`);
    }
    return test(compare(x, y));
  });
}

/** `*=`, `*<` and so on: records by the bytes of their fields, as chapter 9.24.6 has it for materialized views. */
function imageFamily(symbol: string, test: Test): FunctionFamily {
  return family(symbol, "(record, record) → boolean", (types) => {
    const [left, right] = types;
    if (types.length !== 2 || left?.name !== "record" || right?.name !== "record") return null;
    const why = dissimilar(left, right);
    const comparators = (left.fields ?? []).map((field) => imageComparator(field.type));
    return op(symbol, [left, right], BOOL, (x: readonly Value[], y: readonly Value[]) => {
      if (why !== null) throw sqlError("42804", why);
      return test(compareImages(comparators, x, y));
    });
  });
}

function compareImages(comparators: readonly Comparator[], x: readonly Value[], y: readonly Value[]): number {
  for (const [i, compare] of comparators.entries()) {
    const [a, b] = [x[i] ?? null, y[i] ?? null];
    if (a === null && b === null) continue;
    const order = a === null ? 1 : b === null ? -1 : compare(a, b);
    if (order !== 0) return order;
  }
  return 0;
}

/** Integers compare as unsigned words; values that are equal but written differently (1.0 and 1.00) by their text. */
function imageComparator(type: SqlType): Comparator {
  const compare = comparatorOf(type);
  if (type.name.startsWith("int") && type.name !== "interval") {
    return (a, b) => (Number(a) < 0 === Number(b) < 0 ? compare(a, b) : Number(a) < 0 ? 1 : -1);
  }
  return (a, b) => compare(a, b) || compareText(toText(type, a), toText(type, b));
}

/** Why values of the two cannot be compared; null when they can. */
function dissimilar(left: SqlType, right: SqlType): string | null {
  if (left.fields === undefined || right.fields === undefined) return null;
  const count = Math.min(left.fields.length, right.fields.length);
  for (let i = 0; i < count; i++) {
    const [a, b] = [baseType(left.fields[i]!.type), baseType(right.fields[i]!.type)];
    if (a === b || (a.name === "record" && b.name === "record")) continue;
    return `cannot compare dissimilar column types ${displayName(a)} and ${displayName(b)} at record column ${i + 1}`;
  }
  if (left.fields.length === right.fields.length) return null;
  return "cannot compare record types with different numbers of columns";
}

function operandType(types: readonly SqlType[]): SqlType | null {
  try {
    return baseType(commonType(types));
  } catch {
    return types.every((type) => type === types[0]) ? (types[0] as SqlType) : null;
  }
}

export const COMPARISON_FAMILIES: readonly FunctionFamily[] = [
  ...TESTS.map(([symbol, test]) => comparisonFamily(symbol, test)),
  ...TESTS.map(([symbol, test]) => imageFamily(`*${symbol}`, test)),
];

/** IS DISTINCT FROM: a difference of two operands of one (common) type that is never NULL. */
export const DISTINCT_FAMILIES: readonly FunctionFamily[] = [
  family("is distinct from", "(anyelement, anyelement) → boolean", (types) => {
    const operand = types.length === 2 ? operandType(types) : null;
    if (operand === null) return null;
    const compare = comparatorOf(operand);
    const differ = (x: Value, y: Value) => (x === null || y === null ? x !== y : compare(x, y) !== 0);
    const overload = op("IS DISTINCT FROM", [operand, operand], BOOL, differ, { strict: false });
    return Object.freeze({ ...overload, name: "is distinct from" });
  }),
];
