/**
 * `numeric` in keys: a class byte, then for finite numbers the position of the decimal point and the significant
 * digits, two to a byte. Trailing zeros are dropped, so 1.0 and 1.00 have the same key. Used by key-codec.ts.
 */
import { Numeric } from "../values/numeric.js";
import { damagedKey, type KeyReader } from "./key-reader.js";
import { checkKeyLength, invertFrom, keyLength, writeByte, writeUint24 } from "./key-writer.js";

const CLASS = { negativeInfinity: 0, negative: 1, zero: 2, positive: 3, infinity: 4, nan: 5 } as const;

/** Added to the exponent, which lies between −16383 and 131072, so that it is never negative. */
const EXPONENT_BIAS = 0x800000;

export function writeNumeric(value: Numeric): void {
  if (value.special !== null) {
    if (value.special === "NaN") writeByte(CLASS.nan);
    else writeByte(value.special === "Infinity" ? CLASS.infinity : CLASS.negativeInfinity);
    return;
  }
  if (value.unscaled === 0n) {
    writeByte(CLASS.zero);
    return;
  }
  const isNegative = value.unscaled < 0n;
  writeByte(isNegative ? CLASS.negative : CLASS.positive);
  const start = keyLength();
  const digits = (isNegative ? -value.unscaled : value.unscaled).toString();
  // The number is 0.digits × 10^exponent.
  writeUint24(digits.length - value.scale + EXPONENT_BIAS);
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 48) end--;
  for (let i = 0; i < end; i += 2) {
    const tens = digits.charCodeAt(i) - 48;
    const ones = i + 1 < end ? digits.charCodeAt(i + 1) - 48 : 0;
    writeByte(tens * 10 + ones + 1);
    checkKeyLength();
  }
  writeByte(0);
  if (isNegative) invertFrom(start);
}

/** The number with the least scale that holds it. */
export function readNumeric(reader: KeyReader): Numeric {
  switch (reader.byte()) {
    case CLASS.negativeInfinity:
      return Numeric.NEGATIVE_INFINITY;
    case CLASS.negative:
      return readFinite(reader, true);
    case CLASS.zero:
      return Numeric.of(0n, 0);
    case CLASS.positive:
      return readFinite(reader, false);
    case CLASS.infinity:
      return Numeric.INFINITY;
    case CLASS.nan:
      return Numeric.NAN;
    default:
      throw damagedKey();
  }
}

function readFinite(reader: KeyReader, isNegative: boolean): Numeric {
  const mask = isNegative ? 0xff : 0;
  const exponent = (reader.uint24() ^ (isNegative ? 0xffffff : 0)) - EXPONENT_BIAS;
  let digits = "";
  for (;;) {
    const byte = reader.byte() ^ mask;
    if (byte === 0) break;
    if (byte > 100) throw damagedKey();
    digits += String(byte - 1).padStart(2, "0");
  }
  if (digits.endsWith("0")) digits = digits.slice(0, -1);
  const scale = digits.length - exponent;
  if (digits === "" || Math.abs(scale) > 2 ** 18) throw damagedKey();
  const unscaled = BigInt(scale < 0 ? digits + "0".repeat(-scale) : digits);
  return Numeric.of(isNegative ? -unscaled : unscaled, Math.max(scale, 0));
}
