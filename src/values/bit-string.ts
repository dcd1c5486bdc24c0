/** Bit strings (bit, bit varying) as text of zeros and ones: reading, and fitting them to a type's length. */
import { sqlError } from "../protocol/errors.js";
import type { SqlType } from "./values.js";

/** `101`, `b101` or `x1F`. Throws 22P02. */
export function bitsFromText(text: string): string {
  const hexadecimal = /^[xX]/.test(text);
  const digits = /^[xXbB]/.test(text) ? text.slice(1) : text;
  const wrong = (hexadecimal ? /[^0-9a-fA-F]/ : /[^01]/).exec(digits);
  if (wrong !== null) {
    const kind = hexadecimal ? "hexadecimal" : "binary";
    throw sqlError("22P02", `"${wrong[0]}" is not a valid ${kind} digit`);
  }
  if (!hexadecimal) return digits;
  return Array.from(digits, (digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0")).join("");
}

/** As a column of the type holds it; `cut`: as a written cast does. Throws 22026 and 22001. */
export function fitBits(type: SqlType, bits: string, cut: boolean): string {
  const length = type.modifier;
  if (length === null || bits.length === length) return bits;
  if (type.name === "varbit") {
    if (bits.length < length) return bits;
    if (!cut) throw sqlError("22001", `bit string too long for type bit varying(${length})`);
    return bits.slice(0, length);
  }
  if (!cut) throw sqlError("22026", `bit string length ${bits.length} does not match type bit(${length})`);
  return bits.length > length ? bits.slice(0, length) : bits.padEnd(length, "0");
}
