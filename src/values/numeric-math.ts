/**
 * Roots, logarithms and powers of Numeric. Result scales follow PostgreSQL's numeric.c (at least 16 significant
 * digits); the digits come from fixed-point series on bigints with spare digits, rounded at the end.
 */
import { sqlError } from "../protocol/errors.js";
import {
  DISPLAY_SCALE_MAX,
  decimalDigits,
  divideRounded,
  leadingDigit,
  MIN_SIGNIFICANT_DIGITS,
  Numeric,
  pow10,
  weigh,
} from "./numeric.js";

/** Beyond this many digits a result overflows (numeric.c, NUMERIC_MAX_RESULT_SCALE). */
const RESULT_SCALE_MAX = 2000;
const LOG10_E = Math.LOG10E;
const LN_10 = Math.LN10;

const overflow = () => sqlError("22003", "value overflows numeric format");

const clampScale = (scale: number, ...scales: number[]) => Math.min(Math.max(scale, 0, ...scales), DISPLAY_SCALE_MAX);

/** The square root of a bigint, rounded down (Newton's method). */
function integerSqrt(n: bigint): bigint {
  if (n < 2n) return n;
  const bits = n.toString(16).length * 4;
  let x = 1n << BigInt(Math.ceil(bits / 2));
  for (;;) {
    weigh(n);
    const next = (x + n / x) >> 1n;
    if (next >= x) return x;
    x = next;
  }
}

/** Throws 2201F for a negative number. */
export function numericSqrt(x: Numeric): Numeric {
  if (x.isNaN()) return x;
  if (x.signum() < 0) throw sqlError("2201F", "cannot take square root of a negative number");
  if (!x.isFinite()) return x;
  const integerDigits = Math.trunc(((leadingDigit(x).weight + 1) * 4) / 2) - 1;
  const scale = clampScale(MIN_SIGNIFICANT_DIGITS - integerDigits, x.scale);
  return sqrtToScale(x, scale);
}

/** The root of a finite number that is not negative, rounded to `scale` digits. */
export function sqrtToScale(x: Numeric, scale: number): Numeric {
  const shift = 2 * scale - x.scale;
  const radicand = shift >= 0 ? x.unscaled * pow10(shift) : x.unscaled / pow10(-shift);
  const root = integerSqrt(radicand);
  return Numeric.of(radicand - root * root > root ? root + 1n : root, scale);
}

/** e to the power of x. Throws 22003 when the result has too many digits. */
export function numericExp(x: Numeric): Numeric {
  if (!x.isFinite()) return x.special === "-Infinity" ? Numeric.ZERO : x;
  const weight = Math.min(Math.max(x.toNumber() * LOG10_E, -RESULT_SCALE_MAX), RESULT_SCALE_MAX);
  return expToScale(x, clampScale(MIN_SIGNIFICANT_DIGITS - Math.trunc(weight), x.scale));
}

function expToScale(x: Numeric, scale: number): Numeric {
  const estimate = x.toNumber();
  if (Math.abs(estimate) >= RESULT_SCALE_MAX * 3) {
    if (estimate > 0) throw overflow();
    return Numeric.of(0n, scale);
  }
  // Halve x until the series converges fast, then square as often; each squaring doubles the relative error.
  const halvings = Math.max(0, Math.ceil(Math.log2(Math.abs(estimate) + 1e-300)) + 8);
  const integerDigits = Math.max(0, Math.ceil(estimate * LOG10_E)) + 1;
  const digits = scale + integerDigits + Math.ceil(halvings * 0.302) + 12;
  const one = pow10(digits);
  const shift = digits - x.scale;
  const scaled = shift >= 0 ? x.unscaled * pow10(shift) : x.unscaled / pow10(-shift);
  const reduced = scaled / (1n << BigInt(halvings));
  let sum = one;
  let term = one;
  for (let n = 1n; term !== 0n; n++) {
    weigh(one);
    term = (term * reduced) / (one * n);
    sum += term;
  }
  for (let i = 0; i < halvings; i++) {
    weigh(sum);
    sum = (sum * sum) / one;
  }
  return Numeric.of(divideRounded(sum, pow10(digits - scale)), scale);
}

/** Decimal exponent of ln(x), estimated as numeric.c's estimate_ln_dweight() does. */
function lnWeight(x: Numeric): number {
  const number = x.toNumber();
  if (number >= 0.9 && number <= 1.1) {
    const difference = x.sub(Numeric.ONE).abs();
    if (difference.isZero()) return 0;
    const { weight, digit } = leadingDigit(difference);
    return weight * 4 + Math.trunc(Math.log10(digit));
  }
  const digits = decimalDigits(x.unscaled);
  const ln = Math.log(Number(digits.slice(0, 16))) + (Math.max(digits.length - 16, 0) - x.scale) * LN_10;
  return Math.trunc(Math.log10(Math.abs(ln)));
}

function checkLogarithm(x: Numeric): void {
  if (x.signum() < 0) throw sqlError("2201E", "cannot take logarithm of a negative number");
  if (x.isZero()) throw sqlError("2201E", "cannot take logarithm of zero");
}

/** The natural logarithm. Throws 2201E for zero and below. */
export function numericLn(x: Numeric): Numeric {
  checkLogarithm(x);
  if (!x.isFinite()) return x;
  return lnToScale(x, clampScale(MIN_SIGNIFICANT_DIGITS - lnWeight(x), x.scale));
}

/** ln x = k ln 2 + 2 artanh((y − 1) / (y + 1)) with x = y · 2^k and y near 1. */
function lnToScale(x: Numeric, scale: number): Numeric {
  const digits = scale + 12;
  const one = pow10(digits);
  const text = decimalDigits(x.unscaled);
  const log2 = Math.log2(Number(text.slice(0, 16))) + ((Math.max(text.length - 16, 0) - x.scale) * LN_10) / Math.LN2;
  const k = Math.round(log2);
  const numerator = k < 0 ? x.unscaled << BigInt(-k) : x.unscaled;
  const denominator = k > 0 ? 1n << BigInt(k) : 1n;
  weigh(numerator);
  const y = (numerator * one) / (denominator * pow10(x.scale));
  let sum = 2n * artanh(((y - one) * one) / (y + one), one);
  if (k !== 0) sum += BigInt(k) * 2n * artanh(one / 3n, one);
  return Numeric.of(divideRounded(sum, pow10(digits - scale)), scale);
}

/** artanh z for |z| ≤ 1/3, in fixed point with unit `one`. */
function artanh(z: bigint, one: bigint): bigint {
  const square = (z * z) / one;
  let power = z;
  let sum = 0n;
  for (let n = 1n; power !== 0n; n += 2n) {
    weigh(one);
    sum += power / n;
    power = (power * square) / one;
  }
  return sum;
}

/** The logarithm of x to a base. Throws 2201E for zero and below, 22012 for base 1. */
export function numericLog(base: Numeric, x: Numeric): Numeric {
  if (base.isNaN() || x.isNaN()) return Numeric.NAN;
  checkLogarithm(base);
  checkLogarithm(x);
  if (!base.isFinite()) return x.isFinite() ? Numeric.ZERO : Numeric.NAN;
  if (!x.isFinite()) return x;
  const baseWeight = lnWeight(base);
  const xWeight = lnWeight(x);
  const weight = xWeight - baseWeight;
  const scale = clampScale(MIN_SIGNIFICANT_DIGITS - weight, base.scale, x.scale);
  const lnBase = lnToScale(base, Math.max(0, scale + weight - baseWeight + 8));
  const lnX = lnToScale(x, Math.max(0, scale + weight - xWeight + 8));
  return lnX.divToScale(lnBase, scale);
}

/** base to the power of exponent. Throws 2201F, 22003, 22012. */
export function numericPower(base: Numeric, exponent: Numeric): Numeric {
  const special = specialPower(base, exponent);
  if (special !== null) return special;
  const whole = exponent.trimScale();
  if (whole.scale === 0 && whole.unscaled >= -2_147_483_648n && whole.unscaled <= 2_147_483_647n) {
    return integerPower(base, Number(whole.unscaled), clampScale(MIN_SIGNIFICANT_DIGITS, base.scale));
  }
  if (base.isZero()) return Numeric.of(0n, MIN_SIGNIFICANT_DIGITS);
  const magnitude = base.abs();
  const weight = lnWeight(magnitude);
  const roughLn = lnToScale(magnitude, Math.max(8 - weight, 0));
  const estimate = roughLn.mul(exponent).toNumber();
  if (Math.abs(estimate) > RESULT_SCALE_MAX * 3.01) {
    if (estimate > 0) throw overflow();
    return Numeric.of(0n, DISPLAY_SCALE_MAX);
  }
  const resultWeight = Math.trunc(estimate * LOG10_E);
  const scale = clampScale(MIN_SIGNIFICANT_DIGITS - resultWeight, base.scale, exponent.scale);
  const exact = lnToScale(magnitude, Math.max(Math.max(1 + scale + resultWeight, 0) - weight + 8, 0));
  const result = expToScale(exact.mul(exponent), scale);
  return base.signum() < 0 && whole.unscaled % 2n !== 0n ? result.negate() : result;
}

/** NaN, infinities and domain errors, as POSIX pow() and numeric.c have them; null for ordinary operands. */
function specialPower(base: Numeric, exponent: Numeric): Numeric | null {
  if (base.isNaN()) return exponent.isZero() ? Numeric.ONE : base;
  if (exponent.isNaN()) return base.equals(Numeric.ONE) ? Numeric.ONE : exponent;
  const sign = base.signum();
  if (sign === 0 && exponent.signum() < 0) {
    throw sqlError("2201F", "zero raised to a negative power is undefined");
  }
  const integral = exponent.isFinite() && exponent.trimScale().scale === 0;
  if (sign < 0 && exponent.isFinite() && !integral) {
    throw sqlError("2201F", "a negative number raised to a non-integer power yields a complex result");
  }
  if (base.isFinite() && exponent.isFinite()) return null;
  if (base.equals(Numeric.ONE) || exponent.isZero()) return Numeric.ONE;
  if (!exponent.isFinite()) {
    const order = base.abs().compare(Numeric.ONE);
    if (order === 0) return Numeric.ONE;
    return order > 0 === exponent.signum() > 0 ? Numeric.INFINITY : Numeric.ZERO;
  }
  if (exponent.signum() < 0) return Numeric.ZERO;
  const odd = exponent.trimScale().unscaled % 2n !== 0n;
  return sign < 0 && odd ? Numeric.NEGATIVE_INFINITY : Numeric.INFINITY;
}

function integerPower(base: Numeric, exponent: number, scale: number): Numeric {
  if (exponent === 0) return Numeric.of(pow10(scale), scale);
  if (exponent === 1) return base.round(scale);
  if (exponent === -1) return Numeric.ONE.divToScale(base, scale);
  if (base.isZero()) return Numeric.of(0n, scale);
  const digits = decimalDigits(base.unscaled);
  const log10 = Math.log10(Number(digits.slice(0, 16))) + Math.max(digits.length - 16, 0) - base.scale;
  const weight = exponent * log10;
  if (weight > 3 * 32_767 * 4) throw overflow();
  if (weight + 1 < -scale || weight + 1 < -DISPLAY_SCALE_MAX) return Numeric.of(0n, scale);
  // Significant digits of the result, and spare ones for the errors of the multiplications.
  const significant = 1 + scale + Math.trunc(weight) + 8 + Math.ceil(Math.log10(Math.abs(exponent)));
  let result = Numeric.ONE;
  let factor = base;
  for (let n = Math.abs(exponent); n > 0; n = Math.floor(n / 2)) {
    if (n % 2 === 1) result = significantDigits(result.mul(factor), significant);
    if (n > 1) factor = significantDigits(factor.mul(factor), significant);
  }
  return exponent < 0 ? Numeric.ONE.divToScale(result, scale) : result.round(scale);
}

/** Rounds the fraction to the given number of significant digits; whole digits stay. */
function significantDigits(x: Numeric, digits: number): Numeric {
  const { length } = decimalDigits(x.unscaled);
  const excess = Math.min(length - Math.max(digits, 20), x.scale);
  return excess > 0 ? x.round(x.scale - excess) : x;
}
