/** Floating-point numbers as text, with the fewest digits that read back, as PostgreSQL prints them. Pure. */

/** Shortest digits that read back; an exponent from 10^15 on and below 10^−4. */
export function float8ToText(x: number): string {
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return Object.is(x, -0) ? "-0" : String(x);
  if (!Number.isFinite(x)) return String(x);
  return decimalText(x.toExponential(), 15);
}

/** With so many significant digits at most, as C's %.*g has it: an exponent from 10^`digits` on and below 10^−4. */
export function floatToDigits(x: number, digits: number): string {
  if (x === 0 || !Number.isFinite(x)) return float8ToText(x);
  const rounded = x.toExponential(digits - 1);
  return decimalText(isTie(x, digits) ? halfToEven(rounded) : rounded, digits);
}

/** Whether the digits after the first ones are exactly one half of the last of these. */
function isTie(x: number, digits: number): boolean {
  const exact = x.toExponential(EXACT_DIGITS);
  return /^50*$/.test(exact.slice(0, exact.indexOf("e")).replace(/[-.]/g, "").slice(digits));
}

const EXACT_DIGITS = 100;

/** toExponential rounds halves up, so an odd last digit is one too large. */
function halfToEven(rounded: string): string {
  const last = rounded.indexOf("e") - 1;
  const digit = Number(rounded[last]);
  return digit % 2 === 0 ? rounded : rounded.slice(0, last) + (digit - 1) + rounded.slice(last + 1);
}

/** Shortest digits that read back as the same single-precision number. */
export function float4ToText(x: number): string {
  if (x === 0) return Object.is(x, -0) ? "-0" : "0";
  const size = Math.abs(x);
  if (size >= SHORT_MIN && size < SHORT_MAX) return String(shortFloat4(x));
  if (!Number.isFinite(x)) return String(x);
  return decimalText(shortFloat4(x).toExponential(), 6);
}

/** Between these, the digits after the point of which a single-precision number needs at least 6 and at most 9. */
const SHORT_MIN = 1e-4;
const SHORT_MAX = 1e6;
/** Whole numbers below have no fewer digits than they have. */
const EXACT_MAX = 2 ** 20;

/** 10 to the digits after the point that a number of this size has when it is written with 6 digits. */
function sixDigits(size: number): number {
  if (size < 1) return size < 1e-2 ? (size < 1e-3 ? 1e9 : 1e8) : size < 1e-1 ? 1e7 : 1e6;
  if (size < 1e3) return size < 10 ? 1e5 : size < 100 ? 1e4 : 1e3;
  return size < 1e4 ? 100 : size < 1e5 ? 10 : 1;
}

/**
 * A single-precision number as the double with the fewest digits that rounds to it: 0.1, not 0.10000000149. In the
 * usual range any six digits survive the way through single precision, so no fewer need be tried: zeros at the end are
 * not printed.
 */
export function shortFloat4(x: number): number {
  const size = Math.abs(x);
  if ((Number.isInteger(x) && size < EXACT_MAX) || !Number.isFinite(x)) return x;
  if (size >= SHORT_MIN && size < SHORT_MAX) {
    // An integer divided by a power of ten is the double nearest to that decimal.
    for (let scale = sixDigits(size), digits = 6; digits <= 9; digits++, scale *= 10) {
      const short = Math.round(x * scale) / scale;
      if (Math.fround(short) === x) return short;
    }
  }
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(x.toPrecision(digits));
    if (Math.fround(short) === x) return short;
  }
  return Number(x.toPrecision(9));
}

/**
 * The single-precision number nearest to a decimal, given the double nearest to it. Where that lies midway between two
 * singles the decimal itself decides, which is asked for then.
 */
export function nearestFloat4(double: number, decimal: () => string): number {
  const single = Math.fround(double);
  const other = 2 * double - single;
  if (single === double || !Number.isFinite(single) || Math.fround(other) !== other) return single;
  const order = compareExactly(decimal(), double);
  if (order === 0) return single;
  return order > 0 ? Math.max(single, other) : Math.min(single, other);
}

/** All singles, and what lies midway between them, are multiples of 2^−150. */
const FLOAT4_UNITS = 150;

function compareExactly(decimal: string, double: number): number {
  const [, sign, whole, fraction = "", exponent = "0"] = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(decimal)!;
  const power = Number(exponent) - fraction.length;
  const size = BigInt(`${whole}${fraction}`) << BigInt(FLOAT4_UNITS);
  const left = (sign === "-" ? -size : size) * 10n ** BigInt(Math.max(power, 0));
  const right = BigInt(double * 2 ** FLOAT4_UNITS) * 10n ** BigInt(Math.max(-power, 0));
  return left === right ? 0 : left > right ? 1 : -1;
}

/** "1.5e-7" as PostgreSQL spells it: positional between 10^−4 and 10^`fixedMax`, else with two exponent digits. */
function decimalText(scientific: string, fixedMax: number): string {
  const [mantissa, exponentText] = scientific.split("e") as [string, string];
  const exponent = Number(exponentText);
  const negative = mantissa.startsWith("-");
  const digits = mantissa.replace(/[-.]/g, "").replace(/(?<=.)0+$/, "");
  let text: string;
  if (exponent < -4 || exponent >= fixedMax) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
    const size = String(Math.abs(exponent)).padStart(2, "0");
    text = `${digits[0]}${fraction}e${exponent < 0 ? "-" : "+"}${size}`;
  } else if (exponent < 0) text = `0.${"0".repeat(-exponent - 1)}${digits}`;
  else if (digits.length <= exponent + 1) text = digits.padEnd(exponent + 1, "0");
  else text = `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
  return negative ? `-${text}` : text;
}
