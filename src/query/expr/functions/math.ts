/** Mathematical functions (chapter 9.3) of floats, numeric and integers. */
import { sqlError } from "../../../protocol/errors.js";
import { Numeric, SCALE_MAX } from "../../../values/numeric.js";
import { numericExp, numericLn, numericLog, numericPower, numericSqrt } from "../../../values/numeric-math.js";
import {
  arrayOf,
  DATE,
  FLOAT4,
  FLOAT8,
  INT2,
  INT4,
  INT8,
  INTERVAL,
  NUMERIC,
  type SqlArray,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  type Value,
} from "../../../values/values.js";
import { comparatorOf } from "../compare.js";
import type { ScalarFunction } from "../expr.js";
import { normalInt8, outOfRange, roundHalfEven } from "../number-cast.js";
import {
  absInt8,
  checkInt2,
  checkInt4,
  divisionByZero,
  type Int8,
  moduloInt8,
  powerFloat,
  squareRoot,
} from "./arithmetic.js";
import { aliases, fn } from "./define.js";
import { RANDOM_FUNCTIONS } from "./seeded-random.js";

/** What is rounded up to zero keeps its sign. */
function roundFloat(x: number): number {
  const rounded = roundHalfEven(x);
  return rounded === 0 && x < 0 ? -0 : rounded;
}

const float = (name: string, apply: (x: number) => number) => fn(name, [FLOAT8], FLOAT8, apply);
const numeric = (name: string, apply: (x: Numeric) => Numeric) => fn(name, [NUMERIC], NUMERIC, apply);

const notInput = () => sqlError("22003", "input is out of range");
const overflow = () => sqlError("22003", "value out of range: overflow");
const underflow = () => sqlError("22003", "value out of range: underflow");

function exp(x: number): number {
  const result = Math.exp(x);
  if (result === Number.POSITIVE_INFINITY && x !== Number.POSITIVE_INFINITY) throw overflow();
  if (result === 0 && x !== Number.NEGATIVE_INFINITY) throw underflow();
  return result;
}

function logarithm(log: (x: number) => number): (x: number) => number {
  return (x) => {
    if (x === 0) throw sqlError("2201E", "cannot take logarithm of zero");
    if (x < 0) throw sqlError("2201E", "cannot take logarithm of a negative number");
    return log(x);
  };
}

/** Trigonometry of infinities, and inverses outside of their domain, are errors. */
function within(test: (x: number) => boolean, apply: (x: number) => number): (x: number) => number {
  return (x) => {
    if (!Number.isNaN(x) && !test(x)) throw notInput();
    return apply(x);
  };
}

const unit = (x: number) => x >= -1 && x <= 1;
const RADIANS = Math.PI / 180;

/** In degrees, exact where the result is. */
function degreesOf(radians: (x: number) => number): (x: number) => number {
  return (x) => {
    const degrees = radians(x) / RADIANS;
    const whole = Math.round(degrees);
    return Math.abs(degrees - whole) < 1e-12 ? whole : degrees;
  };
}

function sinDegrees(x: number): number {
  const turn = ((x % 360) + 360) % 360;
  const half = turn % 180;
  const folded = half > 90 ? 180 - half : half;
  const sine = folded === 30 ? 0.5 : folded === 0 ? 0 : folded === 90 ? 1 : Math.sin(folded * RADIANS);
  return turn >= 180 ? -sine + 0 : sine;
}

function tanDegrees(x: number): number {
  const folded = ((x % 180) + 180) % 180;
  if (folded === 45) return 1;
  if (folded === 135) return -1;
  return folded === 0 ? 0 : sinDegrees(x) / sinDegrees(x + 90);
}

/** Of the angle in the first quadrant; the sign says which infinity a multiple of 180 degrees has. */
function cotDegrees(x: number): number {
  let sign = x < 0 ? -1 : 1;
  let angle = Math.abs(x % 360);
  if (angle > 180) [angle, sign] = [360 - angle, -sign];
  if (angle > 90) [angle, sign] = [180 - angle, -sign];
  return angle === 0 ? sign * Number.POSITIVE_INFINITY : sign / tanDegrees(angle) + 0;
}

const TRIGONOMETRY: readonly ScalarFunction[] = [
  float("sin", within(Number.isFinite, Math.sin)),
  float("cos", within(Number.isFinite, Math.cos)),
  float("tan", within(Number.isFinite, Math.tan)),
  float(
    "cot",
    within(Number.isFinite, (x) => 1 / Math.tan(x)),
  ),
  float("asin", within(unit, Math.asin)),
  float("acos", within(unit, Math.acos)),
  float("atan", Math.atan),
  fn("atan2", [FLOAT8, FLOAT8], FLOAT8, Math.atan2),
  float("sind", within(Number.isFinite, sinDegrees)),
  float(
    "cosd",
    within(Number.isFinite, (x) => sinDegrees(x + 90)),
  ),
  float("tand", within(Number.isFinite, tanDegrees)),
  float("cotd", within(Number.isFinite, cotDegrees)),
  float("asind", within(unit, degreesOf(Math.asin))),
  float("acosd", within(unit, degreesOf(Math.acos))),
  float("atand", degreesOf(Math.atan)),
  fn("atan2d", [FLOAT8, FLOAT8], FLOAT8, (y: number, x: number) => degreesOf((value) => Math.atan2(value, x))(y)),
  float("sinh", Math.sinh),
  float("cosh", Math.cosh),
  float("tanh", Math.tanh),
  float("asinh", Math.asinh),
  float(
    "acosh",
    within((x) => x >= 1, Math.acosh),
  ),
  float("atanh", within(unit, Math.atanh)),
  float("degrees", (x) => x / RADIANS),
  float("radians", (x) => x * RADIANS),
];

function gcd(a: Int8, b: Int8): Int8 {
  let x = BigInt(a);
  let y = BigInt(b);
  while (y !== 0n) [x, y] = [y, x % y];
  return normalInt8(x < 0n ? -x : x);
}

function lcm(a: Int8, b: Int8): Int8 {
  if (a === 0 || b === 0) return 0;
  const product = (BigInt(a) / BigInt(gcd(a, b))) * BigInt(b);
  return normalInt8(product < 0n ? -product : product);
}

function numericGcd(a: Numeric, b: Numeric): Numeric {
  if (!a.isFinite() || !b.isFinite()) return Numeric.NAN;
  let [x, y] = [a, b];
  while (!y.isZero()) [x, y] = [y, x.mod(y)];
  return x.abs().round(Math.max(a.scale, b.scale));
}

function numericLcm(a: Numeric, b: Numeric): Numeric {
  if (!a.isFinite() || !b.isFinite()) return Numeric.NAN;
  const scale = Math.max(a.scale, b.scale);
  if (a.isZero() || b.isZero()) return Numeric.of(0n, scale);
  return a.divTruncated(numericGcd(a, b)).mul(b).abs().round(scale);
}

const FACTORIAL_MAX = 32_177;

function factorial(n: Int8): Numeric {
  if (n < 0) throw sqlError("22003", "factorial of a negative number is undefined");
  if (n > FACTORIAL_MAX) throw sqlError("22003", "value overflows numeric format");
  let product = 1n;
  for (let i = 2n; i <= BigInt(n); i++) product *= i;
  return Numeric.fromInteger(product);
}

const bucketError = (what: string) => sqlError("2201G", what);

function widthBucketFloat(x: number, low: number, high: number, count: number): number {
  if (count <= 0) throw bucketError("count must be greater than zero");
  if (Number.isNaN(x) || Number.isNaN(low) || Number.isNaN(high)) {
    throw bucketError("operand, lower bound, and upper bound cannot be NaN");
  }
  if (!Number.isFinite(low) || !Number.isFinite(high)) throw bucketError("lower and upper bounds must be finite");
  if (low === high) throw bucketError("lower bound cannot equal upper bound");
  const ascending = low < high;
  if (ascending ? x < low : x > low) return 0;
  if (ascending ? x >= high : x <= high) return checkInt4(count + 1);
  return Math.min(Math.floor((count * (x - low)) / (high - low)), count - 1) + 1;
}

function widthBucketNumeric(x: Numeric, low: Numeric, high: Numeric, count: number): number {
  if (count <= 0) throw bucketError("count must be greater than zero");
  if (x.isNaN() || low.isNaN() || high.isNaN()) {
    throw bucketError("operand, lower bound, and upper bound cannot be NaN");
  }
  if (!low.isFinite() || !high.isFinite()) throw bucketError("lower and upper bounds must be finite");
  const order = low.compare(high);
  if (order === 0) throw bucketError("lower bound cannot equal upper bound");
  if (x.compare(low) * order > 0) return 0;
  if (x.compare(high) * order <= 0) return checkInt4(count + 1);
  const position = Numeric.fromInteger(count).mul(x.sub(low));
  return Number(position.divTruncated(high.sub(low)).unscaled) + 1;
}

/** The number of thresholds that are not above the operand. */
function widthBucketArray(type: SqlType): ScalarFunction {
  const compare = comparatorOf(type);
  return fn("width_bucket", [type, arrayOf(type)], INT4, (x: Value, thresholds: SqlArray) => {
    if (thresholds.dimensions.length > 1) throw sqlError("2202E", "thresholds must be one-dimensional array");
    if (thresholds.elements.includes(null)) throw sqlError("22004", "thresholds array must not contain NULLs");
    return thresholds.elements.filter((threshold) => compare(x, threshold) >= 0).length;
  });
}

const integerRounding = (name: string) =>
  fn(name, [NUMERIC, INT4], NUMERIC, (x: Numeric, digits: number) =>
    name === "round" ? x.round(clampDigits(digits)) : x.trunc(clampDigits(digits)),
  );

const clampDigits = (digits: number) => Math.min(Math.max(digits, -NUMERIC_DIGITS_MAX), SCALE_MAX);
/** More digits than any numeric has before its point. */
const NUMERIC_DIGITS_MAX = 131_072 + 8;

function smallestScale(x: Numeric): number | null {
  return x.isFinite() ? x.trimScale().scale : null;
}

const ROUNDING: readonly ScalarFunction[] = [
  numeric("round", (x) => x.round()),
  float("round", roundFloat),
  integerRounding("round"),
  numeric("trunc", (x) => x.trunc()),
  float("trunc", Math.trunc),
  integerRounding("trunc"),
  ...aliases(
    ["ceil", "ceiling"],
    numeric("ceil", (x) => x.ceil()),
  ),
  ...aliases(["ceil", "ceiling"], float("ceil", Math.ceil)),
  numeric("floor", (x) => x.floor()),
  float("floor", Math.floor),
  numeric("sign", (x) => x.sign()),
  float("sign", (x) => (x > 0 ? 1 : x < 0 ? -1 : 0)),
  fn("scale", [NUMERIC], INT4, (x: Numeric) => (x.isFinite() ? x.scale : null)),
  fn("min_scale", [NUMERIC], INT4, smallestScale),
  numeric("trim_scale", (x) => x.trimScale()),
];

const POWERS: readonly ScalarFunction[] = [
  numeric("sqrt", numericSqrt),
  float("sqrt", squareRoot),
  float("cbrt", Math.cbrt),
  numeric("exp", numericExp),
  float("exp", exp),
  numeric("ln", numericLn),
  float("ln", logarithm(Math.log)),
  ...aliases(
    ["log", "log10"],
    numeric("log", (x) => numericLog(Numeric.fromInteger(10), x)),
  ),
  ...aliases(["log", "log10"], float("log", logarithm(Math.log10))),
  fn("log", [NUMERIC, NUMERIC], NUMERIC, numericLog),
  ...aliases(["power", "pow"], fn("power", [NUMERIC, NUMERIC], NUMERIC, numericPower)),
  ...aliases(["power", "pow"], fn("power", [FLOAT8, FLOAT8], FLOAT8, powerFloat)),
  fn("factorial", [INT8], NUMERIC, factorial),
];

function remainder(x: number, y: number): number {
  if (y === 0) throw divisionByZero();
  return (x % y) + 0;
}

const INTEGER_FUNCTIONS: readonly ScalarFunction[] = [
  fn("abs", [INT2], INT2, (x: number) => checkInt2(Math.abs(x))),
  fn("abs", [INT4], INT4, (x: number) => checkInt4(Math.abs(x))),
  fn("abs", [INT8], INT8, absInt8),
  fn("abs", [FLOAT4], FLOAT4, Math.abs),
  fn("abs", [FLOAT8], FLOAT8, Math.abs),
  numeric("abs", (x) => x.abs()),
  fn("mod", [INT2, INT2], INT2, remainder),
  fn("mod", [INT4, INT4], INT4, remainder),
  fn("mod", [INT8, INT8], INT8, moduloInt8),
  fn("mod", [NUMERIC, NUMERIC], NUMERIC, (x: Numeric, y: Numeric) => x.mod(y)),
  fn("div", [NUMERIC, NUMERIC], NUMERIC, (x: Numeric, y: Numeric) => x.divTruncated(y)),
  fn("gcd", [INT4, INT4], INT4, (a: number, b: number) => {
    const divisor = gcd(a, b);
    if (divisor > 2_147_483_647) throw outOfRange("integer");
    return divisor;
  }),
  fn("gcd", [INT8, INT8], INT8, gcd),
  fn("gcd", [NUMERIC, NUMERIC], NUMERIC, numericGcd),
  fn("lcm", [INT4, INT4], INT4, (a: number, b: number) => {
    const multiple = lcm(a, b);
    if (multiple > 2_147_483_647) throw outOfRange("integer");
    return multiple;
  }),
  fn("lcm", [INT8, INT8], INT8, lcm),
  fn("lcm", [NUMERIC, NUMERIC], NUMERIC, numericLcm),
  fn("width_bucket", [FLOAT8, FLOAT8, FLOAT8, INT4], INT4, widthBucketFloat),
  fn("width_bucket", [NUMERIC, NUMERIC, NUMERIC, INT4], INT4, widthBucketNumeric),
  ...[INT4, INT8, FLOAT8, NUMERIC, DATE, TIMESTAMP, TIMESTAMPTZ, TIME, INTERVAL, TEXT].map(widthBucketArray),
];

export const MATH: readonly ScalarFunction[] = [
  ...ROUNDING,
  ...POWERS,
  ...INTEGER_FUNCTIONS,
  ...TRIGONOMETRY,
  fn("pi", [], FLOAT8, () => Math.PI),
  ...RANDOM_FUNCTIONS,
];
