/**
 * Exact decimal numbers with PostgreSQL's semantics: an unscaled bigint, the display scale (digits after the point that
 * are printed), and the special values NaN and ±Infinity. Immutable. Called by expressions, formats and the codec;
 * roots, logarithms and powers are in numeric-math.ts.
 *
 * The rules for scales and rounding are those of PostgreSQL's src/backend/utils/adt/numeric.c.
 */
import { sqlError } from "../protocol/errors.js";
import { spend } from "../protocol/stretch.js";

/** Digits that PostgreSQL allows before and after the decimal point. */
const INTEGER_DIGITS_MAX = 131_072;
export const SCALE_MAX = 16_383;
/** A quotient, root or logarithm has at least this many significant digits, and at most this scale. */
export const MIN_SIGNIFICANT_DIGITS = 16;
export const DISPLAY_SCALE_MAX = 1000;
/** numeric.c keeps digits in base 10000; its estimates of a number's weight count such digits. */
const DEC_DIGITS = 4;

const POWERS_OF_TEN: bigint[] = [];
for (let i = 0, power = 1n; i < 80; i++, power *= 10n) POWERS_OF_TEN.push(power);

/** Those that doubles hold exactly. */
export const EXACT_POWERS: readonly number[] = Array.from({ length: 23 }, (_, n) => Number(`1e${n}`));

/** 10^n for n ≥ 0. */
export function pow10(n: number): bigint {
  return POWERS_OF_TEN[n] ?? 10n ** BigInt(n);
}

/** From this many digits on, a step over a number takes noticeable time. */
const LONG = 10n ** 256n;
/** Of a step over a number: per hexadecimal digit, and the more of them the longer. */
const NANOS_PER_HEX_DIGIT = 4;
const HEX_DIGITS_PER_NANO = 512;

/** Says that a multiplication, a division or a conversion of the number follows. Throws Overrun. */
export function weigh(x: bigint): void {
  if (x < LONG && x > -LONG) return;
  const digits = x.toString(16).length;
  spend(digits * (NANOS_PER_HEX_DIGIT + digits / HEX_DIGITS_PER_NANO));
}

/** Without a sign. */
export function decimalDigits(x: bigint): string {
  weigh(x);
  return (x < 0n ? -x : x).toString();
}

let integerLimit: bigint | null = null;

const overflow = () => sqlError("22003", "value overflows numeric format");

export class Numeric {
  private constructor(
    readonly unscaled: bigint,
    /** Digits after the decimal point, 0 or more. */
    readonly scale: number,
    readonly special: null | "NaN" | "Infinity" | "-Infinity",
  ) {}

  static readonly NAN = new Numeric(0n, 0, "NaN");
  static readonly INFINITY = new Numeric(0n, 0, "Infinity");
  static readonly NEGATIVE_INFINITY = new Numeric(0n, 0, "-Infinity");
  static readonly ZERO = new Numeric(0n, 0, null);
  static readonly ONE = new Numeric(1n, 0, null);

  /** unscaled × 10^−scale; a negative scale is multiplied out. Throws 22003 beyond PostgreSQL's number of digits. */
  static of(unscaled: bigint, scale: number): Numeric {
    if (scale < 0) {
      if (unscaled !== 0n && -scale > INTEGER_DIGITS_MAX) throw overflow();
      return Numeric.of(unscaled === 0n ? 0n : unscaled * pow10(-scale), 0);
    }
    if (scale > SCALE_MAX) return Numeric.of(divideRounded(unscaled, pow10(scale - SCALE_MAX)), SCALE_MAX);
    if (unscaled >= 1n << 64n || unscaled <= -1n << 64n) {
      weigh(unscaled);
      integerLimit ??= pow10(INTEGER_DIGITS_MAX);
      const magnitude = unscaled < 0n ? -unscaled : unscaled;
      if (magnitude >= integerLimit && magnitude / pow10(scale) >= integerLimit) throw overflow();
    }
    return new Numeric(unscaled, scale, null);
  }

  static fromInteger(x: number | bigint): Numeric {
    return new Numeric(BigInt(x), 0, null);
  }

  /** The shortest decimal that reads back as `x`; integers exactly. */
  static fromNumber(x: number): Numeric {
    if (Number.isSafeInteger(x)) return new Numeric(BigInt(x), 0, null);
    if (!Number.isFinite(x)) return specialOf(x);
    return Numeric.parse(String(x));
  }

  /**
   * A float rounded to the given number of significant digits, as in PostgreSQL's casts: 15 from float8, 6 from float4.
   */
  static fromFloat(x: number, digits: number): Numeric {
    if (!Number.isFinite(x)) return specialOf(x);
    if (Number.isInteger(x) && Math.abs(x) < 1e6) return new Numeric(BigInt(x), 0, null);
    const [mantissa, exponent] = x.toExponential(digits - 1).split("e") as [string, string];
    return Numeric.parse(`${mantissa.replace(/\.?0+$/, "")}e${exponent}`);
  }

  /** PostgreSQL's input syntax, surrounding spaces allowed. Throws 22P02. */
  static parse(text: string): Numeric {
    const match = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?\s*$/i.exec(text);
    if (match === null || (match[2] === "" && !match[3])) return parseSpecial(text);
    const fraction = match[3] ?? "";
    const exponent = match[4] === undefined ? 0 : Number(match[4]);
    if (Math.abs(exponent) > 0x3fffffff) throw invalid(text);
    const digits = BigInt((match[2] as string) + fraction);
    const unscaled = match[1] === "-" ? -digits : digits;
    const scale = fraction.length - exponent;
    if (scale < 0 && unscaled === 0n) return Numeric.ZERO;
    if (scale > 2 * SCALE_MAX + fraction.length) return new Numeric(0n, SCALE_MAX, null);
    return Numeric.of(unscaled, scale);
  }

  isNaN(): boolean {
    return this.special === "NaN";
  }

  isFinite(): boolean {
    return this.special === null;
  }

  isZero(): boolean {
    return this.unscaled === 0n && this.special === null;
  }

  /** −1, 0 or 1; 0 for NaN. */
  signum(): number {
    if (this.special !== null) return this.special === "Infinity" ? 1 : this.special === "NaN" ? 0 : -1;
    return this.unscaled > 0n ? 1 : this.unscaled < 0n ? -1 : 0;
  }

  negate(): Numeric {
    if (this.special === null) return new Numeric(-this.unscaled, this.scale, null);
    if (this.special === "NaN") return this;
    return this.special === "Infinity" ? Numeric.NEGATIVE_INFINITY : Numeric.INFINITY;
  }

  abs(): Numeric {
    return this.signum() < 0 ? this.negate() : this;
  }

  sign(): Numeric {
    return this.special === "NaN" ? this : Numeric.fromInteger(this.signum());
  }

  add(other: Numeric): Numeric {
    if (this.special !== null || other.special !== null) {
      if (this.special === null) return other;
      if (other.special === null || other.special === this.special) return this;
      return Numeric.NAN;
    }
    if (this.scale === other.scale) return Numeric.of(this.unscaled + other.unscaled, this.scale);
    return this.scale > other.scale
      ? Numeric.of(this.unscaled + other.unscaled * pow10(this.scale - other.scale), this.scale)
      : Numeric.of(this.unscaled * pow10(other.scale - this.scale) + other.unscaled, other.scale);
  }

  sub(other: Numeric): Numeric {
    return this.add(other.negate());
  }

  mul(other: Numeric): Numeric {
    if (this.special !== null || other.special !== null) return infiniteOfSign(this.signProduct(other));
    weigh(this.unscaled);
    weigh(other.unscaled);
    return Numeric.of(this.unscaled * other.unscaled, this.scale + other.scale);
  }

  /** The quotient at the scale that numeric.c's select_div_scale gives, rounded half away from zero. Throws 22012. */
  div(other: Numeric): Numeric {
    if (this.special !== null || other.special !== null) {
      if (this.isNaN() || other.isNaN()) return Numeric.NAN;
      if (other.isZero()) throw divisionByZero();
      if (this.special === null) return Numeric.ZERO;
      return other.special === null ? infiniteOfSign(this.signProduct(other)) : Numeric.NAN;
    }
    return this.divToScale(other, divisionScale(this, other));
  }

  /** The quotient of finite numbers rounded half away from zero to `scale` digits. Throws 22012. */
  divToScale(other: Numeric, scale: number): Numeric {
    if (other.unscaled === 0n) throw divisionByZero();
    const shift = scale + other.scale - this.scale;
    return shift >= 0
      ? Numeric.of(divideRounded(this.unscaled * pow10(shift), other.unscaled), scale)
      : Numeric.of(divideRounded(this.unscaled, other.unscaled * pow10(-shift)), scale);
  }

  /** The integer quotient, rounded towards zero (div()). Throws 22012. */
  divTruncated(other: Numeric): Numeric {
    if (this.special !== null || other.special !== null) return this.div(other);
    if (other.unscaled === 0n) throw divisionByZero();
    const scale = Math.max(this.scale, other.scale);
    weigh(this.unscaled);
    return Numeric.of(this.unscaledAt(scale) / other.unscaledAt(scale), 0);
  }

  /** The remainder with the sign of the dividend. Throws 22012. */
  mod(other: Numeric): Numeric {
    if (this.isNaN() || other.isNaN()) return Numeric.NAN;
    if (other.isZero()) throw divisionByZero();
    if (this.special !== null) return Numeric.NAN;
    if (other.special !== null) return this;
    const scale = Math.max(this.scale, other.scale);
    weigh(this.unscaled);
    return Numeric.of(this.unscaledAt(scale) % other.unscaledAt(scale), scale);
  }

  /** Rounded half away from zero to `scale` digits after the point (before it when negative). */
  round(scale = 0): Numeric {
    if (this.special !== null || scale === this.scale) return this;
    if (scale > this.scale) return this.rescaled(Math.min(scale, SCALE_MAX));
    const rounded = divideRounded(this.unscaled, pow10(Math.min(this.scale - scale, 2 * INTEGER_DIGITS_MAX)));
    return Numeric.of(rounded, scale);
  }

  /** As round, but towards zero. */
  trunc(scale = 0): Numeric {
    if (this.special !== null || scale === this.scale) return this;
    if (scale > this.scale) return this.rescaled(Math.min(scale, SCALE_MAX));
    return Numeric.of(this.unscaled / pow10(Math.min(this.scale - scale, 2 * INTEGER_DIGITS_MAX)), scale);
  }

  ceil(): Numeric {
    const truncated = this.trunc();
    return truncated.compare(this) < 0 ? truncated.add(Numeric.ONE) : truncated;
  }

  floor(): Numeric {
    const truncated = this.trunc();
    return truncated.compare(this) > 0 ? truncated.sub(Numeric.ONE) : truncated;
  }

  /** Total order: −Infinity < numbers < Infinity < NaN, NaN equal to itself, display scales ignored. */
  compare(other: Numeric): number {
    if (this.special !== null || other.special !== null) return rank(this) - rank(other);
    if (this.scale === other.scale) return orderOf(this.unscaled, other.unscaled);
    const scale = Math.max(this.scale, other.scale);
    const a = this.unscaledAt(scale);
    const b = other.unscaledAt(scale);
    weigh(a);
    weigh(b);
    return orderOf(a, b);
  }

  equals(other: Numeric): boolean {
    return this.compare(other) === 0;
  }

  /** The same value without trailing zeros after the point. */
  trimScale(): Numeric {
    if (this.special !== null || this.scale === 0) return this;
    let { unscaled, scale } = this;
    // Long runs of zeros go in large steps, so that not every one divides a long number.
    for (let step = largestStep(scale); step >= 1; step /= 2) {
      weigh(unscaled);
      while (scale >= step && unscaled % pow10(step) === 0n) {
        weigh(unscaled);
        unscaled /= pow10(step);
        scale -= step;
      }
    }
    return new Numeric(unscaled, scale, null);
  }

  /** Equal for equal values (1.0 and 1.00) and only for them. */
  hashKey(): string {
    if (this.special !== null) return this.special;
    const trimmed = this.trimScale();
    return trimmed.scale === 0 ? trimmed.unscaled.toString() : `${trimmed.unscaled}e-${trimmed.scale}`;
  }

  /** The value as a numeric(precision, scale) column holds it. Throws 22003 "numeric field overflow". */
  withPrecision(precision: number, scale: number): Numeric {
    const what = `A field with precision ${precision}, scale ${scale}`;
    if (this.special !== null) {
      if (this.isNaN()) return this;
      throw sqlError("22003", "numeric field overflow", { detail: `${what} cannot hold an infinite value.` });
    }
    const rounded = this.round(scale);
    const digits = precision - scale;
    const limit = pow10(Math.max(0, digits + rounded.scale));
    if (rounded.unscaled >= limit || rounded.unscaled <= -limit) {
      throw sqlError("22003", "numeric field overflow", {
        detail: `${what} must round to an absolute value less than ${digits === 0 ? "1" : `10^${digits}`}.`,
      });
    }
    return rounded;
  }

  /** The unscaled integer at a scale not smaller than this number's. */
  unscaledAt(scale: number): bigint {
    return scale === this.scale ? this.unscaled : this.unscaled * pow10(scale - this.scale);
  }

  /** The nearest integer (half away from zero), or null for NaN and infinities. */
  toInteger(): bigint | null {
    return this.special === null ? this.round().unscaled : null;
  }

  toNumber(): number {
    if (this.special !== null) return Number(this.special);
    const unscaled = Number(this.unscaled);
    if (this.scale === 0) return unscaled;
    const power = EXACT_POWERS[this.scale];
    // One division of numbers that are exact is rounded as the text would be.
    if (power !== undefined && Number.isSafeInteger(unscaled)) return unscaled / power;
    return Number(this.toString());
  }

  /** What JSON.stringify writes: the nearest double. json-text.ts writes all digits. */
  toJSON(): number | string {
    return this.special ?? this.toNumber();
  }

  toString(): string {
    if (this.special !== null) return this.special;
    weigh(this.unscaled);
    if (this.scale === 0) return this.unscaled.toString();
    const negative = this.unscaled < 0n;
    const digits = (negative ? -this.unscaled : this.unscaled).toString().padStart(this.scale + 1, "0");
    const point = digits.length - this.scale;
    return `${negative ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
  }

  private rescaled(scale: number): Numeric {
    return Numeric.of(this.unscaledAt(scale), scale);
  }

  private signProduct(other: Numeric): number {
    return this.isNaN() || other.isNaN() ? 0 : this.signum() * other.signum();
  }
}

function orderOf(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The largest power of two that may be trimmed at once; short scales are not worth it. */
function largestStep(scale: number): number {
  return scale < 64 ? 1 : 2 ** Math.floor(Math.log2(scale));
}

function specialOf(x: number): Numeric {
  if (Number.isNaN(x)) return Numeric.NAN;
  return x > 0 ? Numeric.INFINITY : Numeric.NEGATIVE_INFINITY;
}

/** Of a product or quotient with an infinite operand: 0 × ∞ is NaN. */
function infiniteOfSign(sign: number): Numeric {
  if (sign === 0) return Numeric.NAN;
  return sign > 0 ? Numeric.INFINITY : Numeric.NEGATIVE_INFINITY;
}

function rank(x: Numeric): number {
  if (x.special === null) return 0;
  return x.special === "-Infinity" ? -1 : x.special === "Infinity" ? 1 : 2;
}

function parseSpecial(text: string): Numeric {
  switch (text.trim().toLowerCase()) {
    case "nan":
      return Numeric.NAN;
    case "infinity":
    case "+infinity":
    case "inf":
    case "+inf":
      return Numeric.INFINITY;
    case "-infinity":
    case "-inf":
      return Numeric.NEGATIVE_INFINITY;
    default:
      throw invalid(text);
  }
}

const invalid = (text: string) => sqlError("22P02", `invalid input syntax for type numeric: "${text}"`);
const divisionByZero = () => sqlError("22012", "division by zero");

/** a / b rounded half away from zero. */
export function divideRounded(a: bigint, b: bigint): bigint {
  weigh(a);
  const quotient = a / b;
  const remainder = a - quotient * b;
  const twice = remainder < 0n ? -remainder * 2n : remainder * 2n;
  if (twice < (b < 0n ? -b : b)) return quotient;
  return a < 0n === b < 0n ? quotient + 1n : quotient - 1n;
}

/** Weight (exponent of 10000) and value of the first base-10000 digit of a finite number. */
export function leadingDigit(x: Numeric): { weight: number; digit: number } {
  if (x.unscaled === 0n) return { weight: 0, digit: 0 };
  const digits = decimalDigits(x.unscaled);
  const exponent = digits.length - 1 - x.scale;
  const weight = Math.floor(exponent / DEC_DIGITS);
  const taken = exponent - weight * DEC_DIGITS + 1;
  return { weight, digit: Number(digits.slice(0, taken).padEnd(taken, "0")) };
}

/** numeric.c, select_div_scale(). */
function divisionScale(a: Numeric, b: Numeric): number {
  const first = leadingDigit(a);
  const second = leadingDigit(b);
  let weight = first.weight - second.weight;
  if (first.digit <= second.digit) weight--;
  const scale = Math.max(MIN_SIGNIFICANT_DIGITS - weight * DEC_DIGITS, a.scale, b.scale, 0);
  return Math.min(scale, DISPLAY_SCALE_MAX);
}
