/**
 * Unsigned numbers of 64 bits, as 16 hexadecimal digits, which sort as the numbers do: places in a write-ahead log
 * (pg_lsn) and numbers of transactions (xid8); and sets of these (pg_snapshot). Spelled as by pg_lsn.c and xid8funcs.c
 * of PostgreSQL 15.
 */
import { sqlError } from "../protocol/errors.js";

const DIGITS = 16;
const MAX = (1n << 64n) - 1n;

const invalid = (type: string, text: string) => sqlError("22P02", `invalid input syntax for type ${type}: "${text}"`);

/** Of a number within 64 bits. */
export function wideValue(number: bigint): string {
  return number.toString(16).padStart(DIGITS, "0");
}

export function wideNumber(value: string): bigint {
  return BigInt(`0x${value}`);
}

/** `16/B374D848`. Throws 22P02. */
export function lsnFromText(text: string): string {
  const match = /^([\da-f]{1,8})\/([\da-f]{1,8})$/i.exec(text);
  if (match === null) throw invalid("pg_lsn", text);
  return (match[1]!.padStart(DIGITS / 2, "0") + match[2]!.padStart(DIGITS / 2, "0")).toLowerCase();
}

export function lsnToText(value: string): string {
  const part = (digits: string): string => digits.replace(/^0+(?=.)/, "").toUpperCase();
  return `${part(value.slice(0, DIGITS / 2))}/${part(value.slice(DIGITS / 2))}`;
}

/** Of C: decimal, hexadecimal after 0x, octal after 0; a negative number counts from the end. Throws 22P02. */
export function transactionFromText(type: "xid" | "xid8", text: string): bigint {
  const match = /^\s*([-+]?)(?:0x([\da-f]+)|0([0-7]+)|(0|[1-9]\d*))\s*$/i.exec(text);
  if (match === null) throw invalid(type, text);
  const [, sign, hexadecimal, octal, decimal] = match;
  const number = BigInt(hexadecimal !== undefined ? `0x${hexadecimal}` : octal !== undefined ? `0o${octal}` : decimal!);
  const bits = type === "xid" ? 32 : 64;
  if (number >> BigInt(bits) !== 0n) throw sqlError("22003", `value "${text}" is out of range for type ${type}`);
  return BigInt.asUintN(bits, sign === "-" ? -number : number);
}

/** As a value of xid: the lower 32 bits. */
export function lowerHalf(value: string): string {
  return String(Number.parseInt(value.slice(DIGITS / 2), 16));
}

export function transactionToText(value: string): string {
  return String(wideNumber(value));
}

export interface Snapshot {
  /** The oldest transaction that still runs. */
  readonly xmin: bigint;
  /** The next one that begins. */
  readonly xmax: bigint;
  /** Those that run, between the two, in order. */
  readonly running: readonly bigint[];
}

/** `10:20:10,14,15`. Throws 22P02. */
export function snapshotOf(type: string, text: string): Snapshot {
  const match = /^(\d+):(\d+):((?:\d+(?:,\d+)*)?)$/.exec(text);
  const [xmin = 0n, xmax = 0n] = match === null ? [] : [BigInt(match[1]!), BigInt(match[2]!)];
  const named = match === null || match[3] === "" ? [] : match[3]!.split(",").map(BigInt);
  const isOrdered = named.every((number, i) => number >= xmin && number < xmax && number >= (named[i - 1] ?? 0n));
  if (xmin === 0n || xmax < xmin || xmax > MAX || !isOrdered) throw invalid(type, text);
  return { xmin, xmax, running: named.filter((number, i) => number !== named[i - 1]) };
}

export function snapshotToText({ xmin, xmax, running }: Snapshot): string {
  return `${xmin}:${xmax}:${running.join(",")}`;
}
