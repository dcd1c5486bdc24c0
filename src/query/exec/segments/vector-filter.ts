/**
 * The parts of a scan's filter that run on the arrays of a segment without making values: ranges of numbers,
 * memberships, NULL tests, and any safe test of one column that has a dictionary (once per entry). What a segment
 * cannot do this way, because of NaN or an ordinary array, is left to the compiled predicate.
 */
import { type Numeric, pow10 } from "../../../values/numeric.js";
import { isFiniteTimestamp, splitTimestamp, type Timestamp } from "../../../values/timestamp.js";
import { type SqlArray, type SqlType, TEXT, type Value } from "../../../values/values.js";
import { compileExpr, compilePredicate, type Predicate } from "../../expr/compile.js";
import type { CallExpr, ColumnId, EvalContext, Evaluate, Expr } from "../../expr/expr.js";
import { columnsOf, inputsOf } from "../../expr/walk.js";
import { EMPTY_ROW, NO_SLOTS } from "../slots.js";
import type { Column, DictionaryColumn, NumberColumn } from "./column.js";
import { type DocumentParts, documentPartsOf } from "./document-filter.js";
import { EncodedDictionary } from "./encoded-column.js";
import type { Kernel } from "./kernel.js";
import { type TextTest, textTestOf } from "./text-filter.js";

/** One conjunct of a filter that reads one column. */
export interface VectorTest {
  readonly column: ColumnId;
  /** Against a column of numbers. Null: by the predicate only. */
  readonly bounds: ((column: NumberColumn, context: EvalContext) => NumberTest | null) | null;
  /** Against the entries of a dictionary: reads them as column 0 of a batch. Null: by the predicate only. */
  readonly entries: Predicate | null;
  /** Against a column of texts. Null: by the predicate only. */
  readonly texts: TextTest | null;
  /** What documents contain that pass; the predicate is asked of these. Null: they may contain anything. */
  readonly parts: DocumentParts | null;
}

/** What a column of numbers is tested for. */
export type NumberTest =
  /** Inclusive; no NULL passes. */
  | { readonly kind: "range"; readonly low: number; readonly high: number }
  | { readonly kind: "differs"; readonly from: number }
  | { readonly kind: "in"; readonly numbers: ReadonlySet<number> }
  | { readonly kind: "null"; readonly passes: boolean };

const FLIPPED: Readonly<Record<string, string>> = { "=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

/** The test of a conjunct, null if it is not of a kind that vectors do. */
export function vectorTestOf(expr: Expr): VectorTest | null {
  const columns = columnsOf(expr);
  if (columns.size !== 1) return null;
  const [column] = columns as unknown as [ColumnId];
  const bounds = boundsOf(expr);
  const entries = isSafe(expr) ? compilePredicate(expr, () => 0) : null;
  const texts = textTestOf(expr);
  const parts = documentPartsOf(expr);
  const test = { column, bounds, entries, texts, parts };
  return bounds === null && entries === null && texts === null && parts === null ? null : test;
}

/** True for tests that cannot fail on any value, so that they may be made of entries that no row needs. */
function isSafe(expr: Expr): boolean {
  switch (expr.kind) {
    case "column":
    case "const":
    case "param":
      return true;
    case "call":
      if (expr.fn.anyOf?.operator === "=") return expr.fn.anyOf.volatility === "immutable" && expr.args.every(isSafe);
      if (expr.fn.operator === undefined || !SAFE_OPERATORS.has(expr.fn.operator)) return false;
      return expr.fn.volatility === "immutable" && expr.args.every(isSafe) && !mayDangle(expr);
    case "cast":
      return isText(expr.input.type) && expr.type === TEXT && isSafe(expr.input);
    case "and":
    case "or":
    case "not":
    case "isnull":
    case "in":
      return inputsOf(expr).every(isSafe);
    default:
      return false;
  }
}

const SAFE_OPERATORS = new Set(["=", "<>", "<", "<=", ">", ">=", "~~", "!~~"]);
const isText = ({ name }: SqlType) => name === "text" || name === "varchar" || name === "bpchar" || name === "name";

/** A LIKE whose pattern may end with an escape character fails on some values only. */
function mayDangle({ fn, args }: CallExpr): boolean {
  if (!fn.operator!.endsWith("~~")) return false;
  const pattern = args[1]!;
  return pattern.kind !== "const" || (typeof pattern.value === "string" && pattern.value.endsWith("\\"));
}

function boundsOf(expr: Expr): VectorTest["bounds"] {
  if (expr.kind === "isnull" && expr.input.kind === "column") {
    const { negated } = expr;
    return () => ({ kind: "null", passes: !negated });
  }
  if (expr.kind === "in" && !expr.negated && expr.input.kind === "column") {
    return membershipOf(expr.input, expr.items);
  }
  if (expr.kind === "call" && expr.fn.anyOf?.operator === "=") return listedOf(expr);
  if (expr.kind !== "call" || expr.args.length !== 2) return null;
  return comparisonOf(expr);
}

function comparisonOf(expr: CallExpr): VectorTest["bounds"] {
  const operator = expr.fn.operator;
  if (operator === undefined || FLIPPED[operator] === undefined) return null;
  const [left, right] = expr.args as [Expr, Expr];
  const isFlipped = isFixed(left);
  const [tested, other] = isFlipped ? [right, left] : [left, right];
  const column = withoutWidening(tested, other.type);
  if (column.kind !== "column" || !isFixed(other)) return null;
  const place = placeOn(column.type, other.type);
  if (place === null) return null;
  const value: Evaluate = compileExpr(other, NO_SLOTS);
  const op = isFlipped ? FLIPPED[operator]! : operator;
  return ({ scale, hasNaN }, context) => {
    const fixed = valueOrNull(value, context);
    if (typeof fixed === "bigint" && column.type.name !== "date") return hasNaN ? null : besideTest(op, fixed);
    const number = fixed === null ? null : place(fixed, scale);
    // NaN is above all numbers, which JavaScript's comparisons do not know.
    if (number === null || hasNaN || Number.isNaN(number)) return null;
    return testOf(op, number);
  };
}

/** Null also where a subquery failed: the predicate says so if it is asked. */
function valueOrNull(value: Evaluate, context: EvalContext): Value {
  try {
    return value(EMPTY_ROW, 0, context);
  } catch {
    return null;
  }
}

/** One value for all rows of a run. */
function isFixed(expr: Expr): boolean {
  if (expr.kind === "subquery") return expr.form === "scalar" && expr.outer.length === 0;
  return expr.kind === "const" || expr.kind === "param";
}

/** A cast that keeps the order relative to the other type's values: the comparison can be made below it. */
function withoutWidening(expr: Expr, other: SqlType): Expr {
  if (expr.kind !== "cast" || expr.input.kind !== "column" || expr.type !== other) return expr;
  const isKept =
    (expr.input.type.name === "date" && other.name === "timestamp") ||
    (INTEGERS.has(expr.input.type.name) && (INTEGERS.has(other.name) || other.name === "numeric"));
  return isKept ? expr.input : expr;
}

function testOf(operator: string, number: number): NumberTest {
  const [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  switch (operator) {
    case "=":
      return { kind: "range", low: number, high: number };
    case "<>":
      return { kind: "differs", from: number };
    case "<":
      return { kind: "range", low, high: neighbour(number, -1) };
    case "<=":
      return { kind: "range", low, high: number };
    case ">":
      return { kind: "range", low: neighbour(number, 1), high };
    default:
      return { kind: "range", low: number, high };
  }
}

/** Of numbers that are not the value, since they would be bigints where they are. */
function besideTest(operator: string, value: bigint): NumberTest {
  const near = Number(value);
  const below = BigInt(near) < value ? near : neighbour(near, -1);
  const above = BigInt(near) > value ? near : neighbour(near, 1);
  const isBelow = operator.startsWith("<");
  const isAbove = operator.startsWith(">") || operator === "<>";
  return {
    kind: "range",
    low: isBelow ? Number.NEGATIVE_INFINITY : above,
    high: isAbove ? Number.POSITIVE_INFINITY : below,
  };
}

const doubles = new Float64Array(1);
const bits = new BigInt64Array(doubles.buffer);

/** The next double above (1) or below (−1). Beyond an infinity: NaN, which nothing is equal to or within. */
function neighbour(x: number, direction: 1 | -1): number {
  if (x === 0) return direction * Number.MIN_VALUE;
  if (!Number.isFinite(x)) return x > 0 === direction > 0 ? Number.NaN : direction * -Number.MAX_VALUE;
  doubles[0] = x;
  bits[0]! += x > 0 === direction > 0 ? 1n : -1n;
  return doubles[0]!;
}

/** IN: only items of the column's own kind. */
function membershipOf(column: Expr, list: readonly Expr[]): VectorTest["bounds"] {
  const items = list.map((item) => {
    const place = item.kind === "const" || item.kind === "param" ? placeOn(column.type, item.type) : null;
    return place === null ? null : { place, value: compileExpr(item, NO_SLOTS) };
  });
  if (items.includes(null)) return null;
  return ({ scale, hasNaN }, context) => {
    if (hasNaN) return null;
    const numbers = new Set<number>();
    for (const item of items) {
      const value = item!.value(EMPTY_ROW, 0, context);
      // No row passes because of a NULL.
      if (value === null) continue;
      const number = item!.place(value, scale);
      if (number === null || Number.isNaN(number)) return null;
      numbers.add(number);
    }
    return { kind: "in", numbers };
  };
}

/** The same of `= ANY` of a constant array, as long lists are. */
function listedOf({ args }: CallExpr): VectorTest["bounds"] {
  const [tested, array] = args as [Expr, Expr];
  if (array.kind !== "const" || array.value === null) return null;
  const type = array.type.element!;
  const column = withoutWidening(tested, type);
  if (column.kind !== "column") return null;
  const place = placeOn(column.type, type);
  if (place === null) return null;
  const { elements } = array.value as SqlArray;
  return ({ scale, hasNaN }) => {
    if (hasNaN) return null;
    const numbers = new Set<number>();
    for (const value of elements) {
      // No row passes because of a NULL.
      if (value === null) continue;
      const number = place(value, scale);
      if (number === null || Number.isNaN(number)) return null;
      numbers.add(number);
    }
    return { kind: "in", numbers };
  };
}

/** Where a value lies among the numbers of a column: that number, or one between its neighbours. Null: cannot say. */
type Place = (value: Value, scale: number) => number | null;

const INTEGERS = new Set(["int2", "int4", "int8", "oid"]);
const FLOATS = new Set(["float4", "float8"]);
const SAME_ONLY = new Set(["date", "time", "timestamp", "timestamptz"]);

function placeOn(column: SqlType, other: SqlType): Place | null {
  if (
    (INTEGERS.has(column.name) && INTEGERS.has(other.name)) ||
    (FLOATS.has(column.name) && FLOATS.has(other.name)) ||
    (SAME_ONLY.has(column.name) && column.name === other.name)
  ) {
    return (value) => (typeof value === "number" ? value : null);
  }
  if ((column.name === "numeric" || INTEGERS.has(column.name)) && other.name === "numeric") {
    return (value, scale) => (value === null ? null : placeOfNumeric(value as Numeric, Math.max(scale, 0)));
  }
  if (column.name === "date" && other.name === "timestamp") {
    return (value) => {
      const timestamp = value as Timestamp;
      if (!isFiniteTimestamp(timestamp)) return Number(timestamp);
      const { days, micros } = splitTimestamp(timestamp);
      return between(days, micros === 0);
    };
  }
  return null;
}

function placeOfNumeric(value: Numeric, scale: number): number | null {
  if (value.special !== null) return null;
  const divisor = pow10(Math.max(0, value.scale - scale));
  const scaled = value.unscaledAt(Math.max(scale, value.scale));
  const remainder = scaled % divisor;
  const floor = Number(scaled / divisor) - (remainder < 0n ? 1 : 0);
  // Halves are exact up to here.
  return Math.abs(floor) > 2 ** 51 ? null : between(floor, remainder === 0n);
}

const between = (floor: number, isExact: boolean) => (isExact ? floor : floor + 0.5);

/** The kernel of a test on a column, or one result for all rows. */
export function numberKernel(column: NumberColumn, test: NumberTest): Kernel | "all" | "none" {
  const { data, nulls, min, max } = column;
  switch (test.kind) {
    case "null":
      if (nulls === null) return test.passes ? "none" : "all";
      return whereByte(nulls, test.passes ? 1 : 0);
    case "range": {
      const { low, high } = test;
      if (!(low <= high) || max < low || min > high) return "none";
      if (nulls === null && low <= min && max <= high) return "all";
      return nulls === null ? inRange(data, low, high) : inRangeUnlessNull(data, nulls, low, high);
    }
    case "differs": {
      const { from } = test;
      if (nulls === null && (from < min || from > max)) return "all";
      return where((row) => data[row] !== from && (nulls === null || nulls[row] === 0));
    }
    case "in": {
      const { numbers } = test;
      return where((row) => numbers.has(data[row]!) && (nulls === null || nulls[row] === 0));
    }
  }
}

/** Two tests of one column in one pass, where that can be. */
export function bothTests(a: NumberTest, b: NumberTest): NumberTest | null {
  if (a.kind !== "range" || b.kind !== "range") return null;
  if (Number.isNaN(a.low) || Number.isNaN(b.low) || Number.isNaN(a.high) || Number.isNaN(b.high)) return null;
  return { kind: "range", low: Math.max(a.low, b.low), high: Math.min(a.high, b.high) };
}

/** The kernel of a test on a column that holds no numbers, or one result for all rows. Null: by the predicate only. */
export function entriesKernel(test: VectorTest, column: Column, context: EvalContext): Kernel | "all" | "none" | null {
  // Some rows are tested at a time, and entries of encoded values with them (row-kernels.ts).
  if (column instanceof EncodedDictionary) return null;
  if (column.kind === "dictionary") return test.entries && dictionaryKernel(column, test.entries, context);
  return column.kind === "text" && test.texts !== null ? test.texts(column, context) : null;
}

function dictionaryKernel(
  { codes, values }: DictionaryColumn,
  entries: Predicate,
  context: EvalContext,
): Kernel | "all" | "none" {
  const passes = new Uint8Array(values.length);
  const batch = { columns: [values], length: values.length };
  let count = 0;
  for (let code = 0; code < values.length; code++) {
    if (!entries(batch, code, context)) continue;
    passes[code] = 1;
    count++;
  }
  if (count === 0) return "none";
  return count === values.length ? "all" : whereCode(codes, passes);
}

function inRange(data: Int32Array | Float64Array, low: number, high: number): Kernel {
  return (rows, from, count, out) => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      const x = data[row]!;
      out[found] = row;
      found += x >= low && x <= high ? 1 : 0;
    }
    return found;
  };
}

function inRangeUnlessNull(data: Int32Array | Float64Array, nulls: Uint8Array, low: number, high: number): Kernel {
  return (rows, from, count, out) => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      const x = data[row]!;
      out[found] = row;
      found += x >= low && x <= high && nulls[row] === 0 ? 1 : 0;
    }
    return found;
  };
}

function whereByte(bytes: Uint8Array, wanted: number): Kernel {
  return where((row) => bytes[row] === wanted);
}

function whereCode(codes: Uint8Array | Uint16Array, passes: Uint8Array): Kernel {
  return (rows, from, count, out) => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      out[found] = row;
      found += passes[codes[row]!]!;
    }
    return found;
  };
}

function where(passes: (row: number) => boolean): Kernel {
  return (rows, from, count, out) => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      if (passes(row)) out[found++] = row;
    }
    return found;
  };
}

/** Tests of one column's numbers become one where they can. */
export function addTest(tests: Map<number, NumberTest[]>, slot: number, test: NumberTest): void {
  const list = tests.get(slot);
  if (list === undefined) {
    tests.set(slot, [test]);
    return;
  }
  for (let i = 0; i < list.length; i++) {
    const both = bothTests(list[i]!, test);
    if (both !== null) {
      list[i] = both;
      return;
    }
  }
  list.push(test);
}
