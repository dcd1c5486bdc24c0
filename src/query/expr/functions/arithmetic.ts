/**
 * Arithmetic and bit operators of the number types, with PostgreSQL's result types and errors (22003 out of range,
 * 22012 division by zero). The functions underneath are shared with math.ts and the aggregates.
 */
import { sqlError } from "../../../protocol/errors.js";
import type { Numeric } from "../../../values/numeric.js";
import { numericPower } from "../../../values/numeric-math.js";
import { FLOAT4, FLOAT8, INT2, INT4, INT8, NUMERIC, type SqlType } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { normalInt8, outOfRange } from "../number-cast.js";
import { op } from "./define.js";

export type Int8 = number | bigint;

export const divisionByZero = () => sqlError("22012", "division by zero");
const floatOverflow = () => sqlError("22003", "value out of range: overflow");
const floatUnderflow = () => sqlError("22003", "value out of range: underflow");

export function checkInt2(x: number): number {
  if (x < -32_768 || x > 32_767) throw outOfRange("smallint");
  return x;
}

export function checkInt4(x: number): number {
  if (x < -2_147_483_648 || x > 2_147_483_647) throw outOfRange("integer");
  return x;
}

export function addInt8(a: Int8, b: Int8): Int8 {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return normalInt8(BigInt(a) + BigInt(b));
}

export function subtractInt8(a: Int8, b: Int8): Int8 {
  if (typeof a === "number" && typeof b === "number") {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return normalInt8(BigInt(a) - BigInt(b));
}

export function multiplyInt8(a: Int8, b: Int8): Int8 {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return normalInt8(BigInt(a) * BigInt(b));
}

/** Towards zero. */
export function divideInt8(a: Int8, b: Int8): Int8 {
  if (b === 0) throw divisionByZero();
  if (typeof a === "number" && typeof b === "number") return Math.trunc(a / b) + 0;
  return normalInt8(BigInt(a) / BigInt(b));
}

/** With the sign of the dividend. */
export function moduloInt8(a: Int8, b: Int8): Int8 {
  if (b === 0) throw divisionByZero();
  if (typeof a === "number" && typeof b === "number") return (a % b) + 0;
  return normalInt8(BigInt(a) % BigInt(b));
}

function divideSmall(a: number, b: number): number {
  if (b === 0) throw divisionByZero();
  return Math.trunc(a / b) + 0;
}

function moduloSmall(a: number, b: number): number {
  if (b === 0) throw divisionByZero();
  return (a % b) + 0;
}

/** A float result: infinite only if an operand was, zero only if that is exact. */
function checkFloat(result: number, mayBeInfinite: boolean, mayBeZero: boolean): number {
  if (!Number.isFinite(result) && !Number.isNaN(result) && !mayBeInfinite) throw floatOverflow();
  if (result === 0 && !mayBeZero) throw floatUnderflow();
  return result;
}

const isInfinite = (x: number) => x === Number.POSITIVE_INFINITY || x === Number.NEGATIVE_INFINITY;

export function addFloat(a: number, b: number): number {
  return checkFloat(a + b, isInfinite(a) || isInfinite(b), true);
}

export function subtractFloat(a: number, b: number): number {
  return checkFloat(a - b, isInfinite(a) || isInfinite(b), true);
}

export function multiplyFloat(a: number, b: number): number {
  return checkFloat(a * b, isInfinite(a) || isInfinite(b), a === 0 || b === 0);
}

export function divideFloat(a: number, b: number): number {
  if (b === 0 && !Number.isNaN(a)) throw divisionByZero();
  return checkFloat(a / b, isInfinite(a), a === 0 || isInfinite(b));
}

/** x^y with PostgreSQL's errors (2201F, 22003). */
export function powerFloat(x: number, y: number): number {
  if (Number.isNaN(x)) return y === 0 ? 1 : x;
  if (Number.isNaN(y)) return x === 1 ? 1 : y;
  if (x === 0 && y < 0) throw sqlError("2201F", "zero raised to a negative power is undefined");
  if (x < 0 && Number.isFinite(x) && Number.isFinite(y) && !Number.isInteger(y)) {
    throw sqlError("2201F", "a negative number raised to a non-integer power yields a complex result");
  }
  if (isInfinite(y) && Math.abs(x) === 1) return 1;
  if (x === 1) return 1;
  const edge = isInfinite(x) || isInfinite(y);
  return checkFloat(x ** y, edge, x === 0 || edge);
}

/** The same operation in single precision. */
const single = (operation: (a: number, b: number) => number) => (a: number, b: number) => {
  const wide = operation(a, b);
  return checkFloat(Math.fround(wide), isInfinite(wide), wide === 0);
};

const widths: Readonly<Record<string, number>> = { int2: 2, int4: 4, int8: 8 };
const wider = (a: SqlType, b: SqlType) => ((widths[a.name] as number) >= (widths[b.name] as number) ? a : b);

type Int8Operation = (a: Int8, b: Int8) => Int8;
type SmallOperation = (a: number, b: number) => number;

/** One overload per pair of integer types, of the wider one. */
function integerPairs(symbol: string, small: SmallOperation, large: Int8Operation): ScalarFunction[] {
  const types = [INT2, INT4, INT8];
  return types.flatMap((a) =>
    types.map((b) => {
      const result = wider(a, b);
      if (result === INT8) return op(symbol, [a, b], result, large);
      const check = result === INT2 ? checkInt2 : checkInt4;
      return op(symbol, [a, b], result, (x: number, y: number) => check(small(x, y)));
    }),
  );
}

function floatPairs(symbol: string, operation: SmallOperation): ScalarFunction[] {
  return [
    op(symbol, [FLOAT4, FLOAT4], FLOAT4, single(operation)),
    op(symbol, [FLOAT8, FLOAT8], FLOAT8, operation),
    op(symbol, [FLOAT4, FLOAT8], FLOAT8, operation),
    op(symbol, [FLOAT8, FLOAT4], FLOAT8, operation),
  ];
}

const numericPair = (symbol: string, operation: (a: Numeric, b: Numeric) => Numeric) =>
  op(symbol, [NUMERIC, NUMERIC], NUMERIC, operation);

function prefix(symbol: string, small: (x: number) => number, large: (x: Int8) => Int8): ScalarFunction[] {
  return [
    op(symbol, [INT2], INT2, (x: number) => checkInt2(small(x))),
    op(symbol, [INT4], INT4, (x: number) => checkInt4(small(x))),
    op(symbol, [INT8], INT8, large),
  ];
}

export function absInt8(x: Int8): Int8 {
  return x < 0 ? subtractInt8(0, x) : x;
}

/** Bit operations work on 64 bits; JavaScript's own do for 32. */
function bitwise(symbol: string, small: SmallOperation, large: (a: bigint, b: bigint) => bigint): ScalarFunction[] {
  return [
    op(symbol, [INT2, INT2], INT2, small),
    op(symbol, [INT4, INT4], INT4, small),
    op(symbol, [INT8, INT8], INT8, (a: Int8, b: Int8) => normalInt8(large(BigInt(a), BigInt(b)))),
  ];
}

const toInt2 = (x: number) => (x << 16) >> 16;

function shifts(): ScalarFunction[] {
  return [
    op("<<", [INT2, INT4], INT2, (a: number, n: number) => toInt2(a << n)),
    op("<<", [INT4, INT4], INT4, (a: number, n: number) => a << n),
    op("<<", [INT8, INT4], INT8, (a: Int8, n: number) => normalInt8(BigInt.asIntN(64, BigInt(a) << BigInt(n & 63)))),
    op(">>", [INT2, INT4], INT2, (a: number, n: number) => a >> n),
    op(">>", [INT4, INT4], INT4, (a: number, n: number) => a >> n),
    op(">>", [INT8, INT4], INT8, (a: Int8, n: number) => normalInt8(BigInt(a) >> BigInt(n & 63))),
  ];
}

/** Throws 2201F below zero. */
export function squareRoot(x: number): number {
  if (x < 0) throw sqlError("2201F", "cannot take square root of a negative number");
  return Math.sqrt(x);
}

export const ARITHMETIC: readonly ScalarFunction[] = [
  ...integerPairs("+", (a, b) => a + b, addInt8),
  ...integerPairs("-", (a, b) => a - b, subtractInt8),
  // A product of two int4 is below 2^62 and so may be inexact, but then it is out of range anyway.
  ...integerPairs("*", (a, b) => a * b + 0, multiplyInt8),
  ...integerPairs("/", divideSmall, divideInt8),
  op("%", [INT2, INT2], INT2, moduloSmall),
  op("%", [INT4, INT4], INT4, moduloSmall),
  op("%", [INT8, INT8], INT8, moduloInt8),
  ...floatPairs("+", addFloat),
  ...floatPairs("-", subtractFloat),
  ...floatPairs("*", multiplyFloat),
  ...floatPairs("/", divideFloat),
  numericPair("+", (a, b) => a.add(b)),
  numericPair("-", (a, b) => a.sub(b)),
  numericPair("*", (a, b) => a.mul(b)),
  numericPair("/", (a, b) => a.div(b)),
  numericPair("%", (a, b) => a.mod(b)),
  numericPair("^", numericPower),
  op("^", [FLOAT8, FLOAT8], FLOAT8, powerFloat),
  ...prefix(
    "-",
    (x) => 0 - x,
    (x) => subtractInt8(0, x),
  ),
  op("-", [FLOAT4], FLOAT4, (x: number) => -x),
  op("-", [FLOAT8], FLOAT8, (x: number) => -x),
  op("-", [NUMERIC], NUMERIC, (x: Numeric) => x.negate()),
  ...prefix(
    "+",
    (x) => x,
    (x) => x,
  ),
  op("+", [FLOAT4], FLOAT4, (x: number) => x),
  op("+", [FLOAT8], FLOAT8, (x: number) => x),
  op("+", [NUMERIC], NUMERIC, (x: Numeric) => x),
  ...prefix("@", Math.abs, absInt8),
  op("@", [FLOAT4], FLOAT4, Math.abs),
  op("@", [FLOAT8], FLOAT8, Math.abs),
  op("@", [NUMERIC], NUMERIC, (x: Numeric) => x.abs()),
  op("|/", [FLOAT8], FLOAT8, squareRoot),
  op("||/", [FLOAT8], FLOAT8, Math.cbrt),
  ...bitwise(
    "&",
    (a, b) => a & b,
    (a, b) => a & b,
  ),
  ...bitwise(
    "|",
    (a, b) => a | b,
    (a, b) => a | b,
  ),
  ...bitwise(
    "#",
    (a, b) => a ^ b,
    (a, b) => a ^ b,
  ),
  op("~", [INT2], INT2, (x: number) => ~x),
  op("~", [INT4], INT4, (x: number) => ~x),
  op("~", [INT8], INT8, (x: Int8) => normalInt8(~BigInt(x))),
  ...shifts(),
];
