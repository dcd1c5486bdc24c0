/**
 * numeric in PostgreSQL's binary format (numeric_send and numeric_recv of PostgreSQL 15): digits in base 10000, the
 * weight of the first, the sign, and how many decimal digits are shown after the point.
 */
import type { MessageFields } from "../../protocol/postgres/message-reader.js";
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { decimalDigits, Numeric, pow10 } from "../../values/numeric.js";

const SIGN = { positive: 0, negative: 0x4000, nan: 0xc000, infinity: 0xd000, minusInfinity: 0xf000 } as const;
const BASE = 10_000;
/** Its two highest bits are none of the scale's. */
const SCALE_MAX = 0x3fff;
/** Decimal digits of one of its digits. */
const DIGIT = 4;
/** Up to this scale, numbers are taken apart without bigints. */
export const PLAIN_SCALE_MAX = 12;
const PLAIN_MAX = BigInt(Number.MAX_SAFE_INTEGER);

export function writeNumeric(writer: MessageWriter, { unscaled, scale, special }: Numeric): void {
  if (special !== null) {
    const sign = special === "NaN" ? SIGN.nan : special === "Infinity" ? SIGN.infinity : SIGN.minusInfinity;
    writeHead(writer, 0, 0, sign, 0);
  } else if (scale <= PLAIN_SCALE_MAX && unscaled <= PLAIN_MAX && unscaled >= -PLAIN_MAX) {
    writeScaled(writer, Number(unscaled), scale);
  } else writeLong(writer, unscaled, scale);
}

/** At most five before the point and three after it. */
const digits = new Int16Array(8);

/** A safe integer × 10^−scale; the scale is PLAIN_SCALE_MAX at most. */
export function writeScaled(writer: MessageWriter, unscaled: number, scale: number): void {
  const magnitude = Math.abs(unscaled);
  const power = 10 ** scale;
  const fraction = magnitude % power;
  const after = Math.ceil(scale / DIGIT);
  let from = digits.length;
  let rest = fraction * 10 ** (after * DIGIT - scale);
  for (let i = 0; i < after; i++) {
    const digit = rest % BASE;
    digits[--from] = digit;
    rest = (rest - digit) / BASE;
  }
  for (let whole = (magnitude - fraction) / power; whole > 0; ) {
    const digit = whole % BASE;
    digits[--from] = digit;
    whole = (whole - digit) / BASE;
  }
  let weight = digits.length - after - from - 1;
  let to = digits.length;
  while (to > from && digits[to - 1] === 0) to--;
  for (; from < to && digits[from] === 0; from++) weight--;
  writeHead(writer, to - from, to === from ? 0 : weight, unscaled < 0 ? SIGN.negative : SIGN.positive, scale);
  for (let i = from; i < to; i++) writer.int16(digits[i]!);
}

function writeLong(writer: MessageWriter, unscaled: bigint, scale: number): void {
  const shown = decimalDigits(unscaled).padStart(scale, "0");
  const before = Math.ceil((shown.length - scale) / DIGIT);
  const after = Math.ceil(scale / DIGIT);
  const lead = before * DIGIT - (shown.length - scale);
  const text = `${"0".repeat(lead)}${shown}${"0".repeat(after * DIGIT - scale)}`;
  const digitAt = (i: number): number => Number(text.slice(i * DIGIT, (i + 1) * DIGIT));
  let from = 0;
  let to = before + after;
  while (to > from && digitAt(to - 1) === 0) to--;
  while (from < to && digitAt(from) === 0) from++;
  writeHead(writer, to - from, to === from ? 0 : before - 1 - from, unscaled < 0n ? SIGN.negative : 0, scale);
  for (let i = from; i < to; i++) writer.int16(digitAt(i));
}

function writeHead(writer: MessageWriter, count: number, weight: number, sign: number, scale: number): void {
  writer.int16(count);
  writer.int16(weight);
  writer.uint16(sign);
  writer.int16(scale);
}

/** The value; null: the bytes are no numeric. */
export function numericFrom(fields: MessageFields): Numeric | null {
  const count = fields.int16();
  const weight = fields.int16();
  const sign = fields.uint16();
  const scale = fields.int16();
  if (sign === SIGN.nan) return Numeric.NAN;
  if (sign === SIGN.infinity) return Numeric.INFINITY;
  if (sign === SIGN.minusInfinity) return Numeric.NEGATIVE_INFINITY;
  if (count < 0 || scale < 0 || scale > SCALE_MAX || (sign !== SIGN.positive && sign !== SIGN.negative)) return null;
  const isNegative = sign === SIGN.negative;
  if (count > PLAIN_DIGITS) return longNumeric(fields, { count, weight, scale, isNegative });
  let all = 0;
  for (let i = 0; i < count; i++) {
    const digit = fields.uint16();
    if (digit >= BASE) return null;
    all = all * BASE + digit;
  }
  const signed = isNegative ? -all : all;
  const shift = (weight + 1 - count) * DIGIT + scale;
  const scaled = signed * 10 ** shift;
  if (shift >= 0 && Number.isSafeInteger(scaled)) return Numeric.of(BigInt(scaled), scale);
  return shifted(BigInt(signed), shift, scale);
}

const HEAD_BYTES = 8;
/** So many digits, as decimal ones, are a number that is surely exact. */
const SCALED_DIGITS = 4;
const SCALED_MAX = 10 ** 15;
const SCALED_SCALE_MAX = 15;

/** The scale of what scaledFrom has answered. */
export let scaleFound = 0;

/** The number as if it had no point; undefined: it has more than 15 digits, or is no number, or no numeric. */
export function scaledFrom(bytes: Buffer, start: number, end: number): number | undefined {
  if (end - start < HEAD_BYTES) return undefined;
  const count = bytes.readUInt16BE(start);
  const sign = bytes.readUInt16BE(start + 4);
  const scale = bytes.readUInt16BE(start + 6);
  if (count > SCALED_DIGITS || scale > SCALED_SCALE_MAX || end - start !== HEAD_BYTES + 2 * count) return undefined;
  if (sign !== SIGN.positive && sign !== SIGN.negative) return undefined;
  let all = 0;
  for (let at = start + HEAD_BYTES; at < end; at += 2) {
    const digit = bytes.readUInt16BE(at);
    if (digit >= BASE) return undefined;
    all = all * BASE + digit;
  }
  const shift = (bytes.readInt16BE(start + 2) + 1 - count) * DIGIT + scale;
  // The last digit may go on beyond the scale, by zeros.
  if (shift <= -DIGIT) return undefined;
  const scaled = all === 0 ? 0 : shift < 0 ? all / 10 ** -shift : all * 10 ** shift;
  if (scaled >= SCALED_MAX || !Number.isInteger(scaled)) return undefined;
  scaleFound = scale;
  return sign === SIGN.negative && scaled !== 0 ? -scaled : scaled;
}

/** So many digits are a number that a double holds. */
const PLAIN_DIGITS = 3;

interface NumericHead {
  readonly count: number;
  readonly weight: number;
  readonly scale: number;
  readonly isNegative: boolean;
}

function longNumeric(fields: MessageFields, { count, weight, scale, isNegative }: NumericHead): Numeric | null {
  let text = "";
  for (let i = 0; i < count; i++) {
    const digit = fields.uint16();
    if (digit >= BASE) return null;
    text += paddedDigit(digit);
  }
  const all = BigInt(text);
  return shifted(isNegative ? -all : all, (weight + 1 - count) * DIGIT + scale, scale);
}

/** Digits beyond the scale are cut off. */
function shifted(unscaled: bigint, shift: number, scale: number): Numeric {
  return Numeric.of(shift < 0 ? unscaled / pow10(-shift) : unscaled * pow10(shift), scale);
}

const padded: string[] = [];

function paddedDigit(digit: number): string {
  let text = padded[digit];
  if (text === undefined) {
    text = String(digit).padStart(DIGIT, "0");
    padded[digit] = text;
  }
  return text;
}
