/**
 * Reads values from bytes of text, for the types that are common in files of rows, without a string in between. A
 * value that is not in the plain form that these readers know (`undefined`) goes to fromText, which knows all forms.
 * Used by bulk-insert.ts; pure.
 */
import { daysFromCivil, daysInMonth } from "../../values/datetime.js";
import { timestampAt } from "../../values/timestamp.js";

const ZERO = 48;
const MINUS = 45;
const PLUS = 43;
const DOT = 46;
/** No zone is as far from UTC. */
const OFFSET_MINUTES_MAX = 15 * 60;
/** Digits that a double surely holds exactly. */
const EXACT_DIGITS = 15;
const POWERS_OF_TEN = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, i) => 10 ** i);

/** `-?[0-9]{1,15}` */
export function readInteger(bytes: Uint8Array, start: number, end: number): number | undefined {
  let at = start;
  const isNegative = bytes[at] === MINUS;
  if (isNegative) at++;
  const digits = end - at;
  if (digits < 1 || digits > EXACT_DIGITS) return undefined;
  let value = 0;
  for (; at < end; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return isNegative && value !== 0 ? -value : value;
}

/** Of what readScaled has read: its digits after the point. */
export let scaleRead = 0;

/** `-?[0-9]*[.]?[0-9]*` with 1 to 15 digits, as if it had no point. */
export function readScaled(bytes: Uint8Array, start: number, end: number): number | undefined {
  let at = start;
  const isNegative = bytes[at] === MINUS;
  if (isNegative) at++;
  let value = 0;
  let digits = 0;
  let point = -1;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === DOT) {
      if (point !== -1) return undefined;
      point = at;
      continue;
    }
    const digit = byte - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
    digits++;
  }
  if (digits < 1 || digits > EXACT_DIGITS) return undefined;
  scaleRead = point === -1 ? 0 : end - point - 1;
  return isNegative ? -value : value;
}

/**
 * Such a number: both the digits as an integer and the power of ten are exact, so the quotient is the nearest double
 * (Clinger 1990, the fast path).
 */
export function readDecimal(bytes: Uint8Array, start: number, end: number): number | undefined {
  const value = readScaled(bytes, start, end);
  return value === undefined ? undefined : value / POWERS_OF_TEN[scaleRead]!;
}

/** Digits that a column keeps: so many at most, so many of them after the point. */
export interface Digits {
  readonly precision: number;
  readonly scale: number;
}

/** Scales that a number which is read here can be brought to. */
export const SCALE_READ_MAX = EXACT_DIGITS;

/**
 * A number of 15 digits at most, `read` of them after the point, with the digits of a column; undefined: it does not
 * fit, or not surely.
 */
export function scaledTo({ precision, scale }: Digits, value: number, read: number): number | undefined {
  const more = scale - read;
  let fitted = value;
  if (more > 0) fitted = value * POWERS_OF_TEN[more]!;
  else if (more < 0) {
    const unit = POWERS_OF_TEN[-more]!;
    const magnitude = Math.abs(value) + unit / 2;
    fitted = ((magnitude - (magnitude % unit)) / unit) * Math.sign(value);
  }
  return Math.abs(fitted) < POWERS_OF_TEN[Math.min(precision, EXACT_DIGITS)]! ? fitted : undefined;
}

const HEX_DIGITS = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? -1 : digit;
});
const UUID_CHARACTERS = 36;

/** Puts a UUID with its four hyphens into 16 bytes. False: it is not in that form. */
export function readUuid(bytes: Uint8Array, start: number, end: number, into: Uint8Array): boolean {
  if (end - start !== UUID_CHARACTERS) return false;
  let at = start;
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) {
      if (bytes[at] !== MINUS) return false;
      at++;
    }
    const digits = (HEX_DIGITS[bytes[at]!]! << 4) | HEX_DIGITS[bytes[at + 1]!]!;
    if (digits < 0) return false;
    into[i] = digits;
    at += 2;
  }
  return true;
}

export function readBool(bytes: Uint8Array, start: number, end: number): boolean | undefined {
  const first = bytes[start]! | 0x20;
  const length = end - start;
  if (length === 1) {
    if (first === 0x74 || bytes[start] === 0x31) return true;
    if (first === 0x66 || bytes[start] === 0x30) return false;
    return undefined;
  }
  if (length === 4 && first === 0x74) return isWord(bytes, start, "true") ? true : undefined;
  if (length === 5 && first === 0x66) return isWord(bytes, start, "false") ? false : undefined;
  return undefined;
}

function isWord(bytes: Uint8Array, start: number, word: string): boolean {
  for (let i = 0; i < word.length; i++) if ((bytes[start + i]! | 0x20) !== word.charCodeAt(i)) return false;
  return true;
}

/** `YYYY-MM-DD`, as days since 1970. */
export function readDate(bytes: Uint8Array, start: number, end: number): number | undefined {
  return end - start === 10 ? daysAt(bytes, start) : undefined;
}

/**
 * `YYYY-MM-DD[ T]HH:MM:SS[.f{1,6}]`, as a timestamp, if that is a number; with `isZoned` also a final `Z` or
 * `[+-]HH[:MM]`, which then must be there.
 */
export function readTimestamp(bytes: Uint8Array, start: number, end: number, isZoned: boolean): number | undefined {
  let last = end;
  let offset = 0;
  if (isZoned) {
    if (bytes[end - 1] === 0x5a) last--;
    else {
      last -= bytes[end - 3] === 0x3a ? 6 : 3;
      const minutes = last === end - 3 ? 0 : twoDigits(bytes, end - 2);
      offset = twoDigits(bytes, last + 1) * 60 + minutes;
      if (!(offset < OFFSET_MINUTES_MAX && minutes < 60)) return undefined;
      if (bytes[last] === MINUS) offset = -offset;
      else if (bytes[last] !== PLUS) return undefined;
    }
  }
  const length = last - start;
  if (length < 19 || length > 26 || length === 20) return undefined;
  const separator = bytes[start + 10];
  if (separator !== 0x20 && separator !== 0x54) return undefined;
  if (bytes[start + 13] !== 0x3a || bytes[start + 16] !== 0x3a) return undefined;
  const days = daysAt(bytes, start);
  const hours = twoDigits(bytes, start + 11);
  const minutes = twoDigits(bytes, start + 14);
  const seconds = twoDigits(bytes, start + 17);
  if (days === undefined || !(hours < 24 && minutes < 60 && seconds < 60)) return undefined;
  let micros = 0;
  if (length > 19) {
    if (bytes[start + 19] !== DOT) return undefined;
    let unit = 100_000;
    for (let at = start + 20; at < last; at++) {
      const digit = bytes[at]! - ZERO;
      if (digit < 0 || digit > 9) return undefined;
      micros += digit * unit;
      unit /= 10;
    }
  }
  const timestamp = timestampAt(days, ((hours * 60 + minutes - offset) * 60 + seconds) * 1_000_000 + micros);
  return typeof timestamp === "number" ? timestamp : undefined;
}

/** Days since 1970 of a year from 1 to 9999. */
function daysAt(bytes: Uint8Array, start: number): number | undefined {
  if (bytes[start + 4] !== MINUS || bytes[start + 7] !== MINUS) return undefined;
  const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2);
  const month = twoDigits(bytes, start + 5);
  const day = twoDigits(bytes, start + 8);
  if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1)) return undefined;
  if (day > daysInMonth(year, month)) return undefined;
  return daysFromCivil(year, month, day);
}

/** NaN when they are no digits. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const high = bytes[at]! - ZERO;
  const low = bytes[at + 1]! - ZERO;
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? high * 10 + low : Number.NaN;
}
