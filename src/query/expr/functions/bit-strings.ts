/** Functions and operators of bit strings (chapter 9.6), which are text of zeros and ones. */
import { sqlError } from "../../../protocol/errors.js";
import { BIT, INT4, INT8, VARBIT } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { fn, op } from "./define.js";

type Combine = (a: boolean, b: boolean) => boolean;

function bitwise(symbol: string, name: string, combine: Combine): ScalarFunction {
  return op(symbol, [BIT, BIT], BIT, (a: string, b: string) => {
    if (a.length !== b.length) throw sqlError("22026", `cannot ${name} bit strings of different sizes`);
    return Array.from(a, (bit, i) => (combine(bit === "1", b[i] === "1") ? "1" : "0")).join("");
  });
}

/** Zeros come in; the length stays. */
function shifted(bits: string, count: number): string {
  const zeros = "0".repeat(Math.min(Math.abs(count), bits.length));
  return count >= 0 ? bits.slice(zeros.length) + zeros : zeros + bits.slice(0, bits.length - zeros.length);
}

export const BIT_OPERATORS: readonly ScalarFunction[] = [
  bitwise("&", "AND", (a, b) => a && b),
  bitwise("|", "OR", (a, b) => a || b),
  bitwise("#", "XOR", (a, b) => a !== b),
  op("~", [BIT], BIT, (bits: string) => Array.from(bits, (bit) => (bit === "1" ? "0" : "1")).join("")),
  op("<<", [BIT, INT4], BIT, shifted),
  op(">>", [BIT, INT4], BIT, (bits: string, count: number) => shifted(bits, -count)),
  op("||", [VARBIT, VARBIT], VARBIT, (a: string, b: string) => a + b),
];

/** Positions count from 1; what lies outside of the string is left out. Throws 22011. */
function substring(bits: string, from: number, count: number | null): string {
  if (count !== null && count < 0) throw sqlError("22011", "negative substring length not allowed");
  const end = count === null ? bits.length : from - 1 + count;
  return bits.slice(Math.max(from - 1, 0), Math.max(end, 0));
}

function overlay(bits: string, replacement: string, from: number, count = replacement.length): string {
  if (from <= 0) throw sqlError("22011", "negative substring length not allowed");
  return substring(bits, 1, from - 1) + replacement + substring(bits, from + count, null);
}

/** Throws 2202E. */
function checkIndex(bits: string, index: number): void {
  if (index >= 0 && index < bits.length) return;
  throw sqlError("2202E", `bit index ${index} out of valid range (0..${bits.length - 1})`);
}

function setBit(bits: string, index: number, bit: number): string {
  checkIndex(bits, index);
  if (bit !== 0 && bit !== 1) throw sqlError("22023", "new bit must be 0 or 1");
  return `${bits.slice(0, index)}${bit}${bits.slice(index + 1)}`;
}

const length = (bits: string) => bits.length;
const octets = (bits: string) => Math.ceil(bits.length / 8);
const ones = (bits: string) => bits.replaceAll("0", "").length;

export const BIT_FUNCTIONS: readonly ScalarFunction[] = [
  fn("length", [BIT], INT4, length),
  fn("bit_length", [BIT], INT4, length),
  fn("octet_length", [BIT], INT4, octets),
  fn("bit_count", [BIT], INT8, ones),
  fn("substring", [BIT, INT4], BIT, (bits: string, from: number) => substring(bits, from, null)),
  fn("substring", [BIT, INT4, INT4], BIT, substring),
  fn("overlay", [BIT, BIT, INT4], BIT, overlay),
  fn("overlay", [BIT, BIT, INT4, INT4], BIT, overlay),
  fn("position", [BIT, BIT], INT4, (bits: string, part: string) => (bits === "" ? 0 : bits.indexOf(part) + 1)),
  fn("get_bit", [BIT, INT4], INT4, (bits: string, index: number) => {
    checkIndex(bits, index);
    return Number(bits[index]);
  }),
  fn("set_bit", [BIT, INT4, INT4], BIT, setBit),
];
