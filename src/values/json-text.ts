/**
 * JSON text in and out without losing digits: a number that a double or its usual spelling would change is kept as a
 * Numeric inside the parsed value, as PostgreSQL's jsonb does. Called by formats, the record codec and JSON functions.
 */
import { sqlError } from "../protocol/errors.js";
import { jsonFaultOf } from "../protocol/json-fault.js";
import { TEXT_CHARACTERS_MAX } from "../protocol/limits.js";
import { Numeric } from "./numeric.js";

/** Spellings of numbers that may not survive a double: many digits, trailing zeros, exponents, −0. */
const INEXACT = /(?:^|[[:,\s])-?(?:\d[\d.]{15,}|\d+\.\d*0(?!\d)|\d+(?:\.\d+)?[eE]|(?<=-)0(?![.\d]))/;
const LONG_INTEGER = /(?:^|[[:,\s])-?\d{16,}(?![\d.eE])/;
/** Digits of the shortest that it finds. */
const LONG_DIGITS = 16;
/** Longer ones are no 64-bit integers by far, and dear to read. */
const INTEGER = /^-?\d{1,100}$/;
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[[\]{}:,]|true|false|null/g;

/**
 * The value of a JSON text; numbers are `number` or, where that is not exact, Numeric. Throws 22P02, and 22P05 for
 * the escape of U+0000, which no text can hold.
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = plainJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw sqlError("22P02", "invalid input syntax for type json", { detail: `There is ${jsonFaultOf(text)}.` });
  }
  refuseNul(text);
  refuseHalves(text);
  return INEXACT.test(text) ? parseExactly(text) : value;
}

/** Throws 22P05 where the JSON text has the escape of U+0000. */
export function refuseNul(text: string): void {
  if (text.includes("\\u0000") && /(?:^|[^\\])(?:\\\\)*\\u0000/.test(text)) {
    throw sqlError("22P05", "unsupported Unicode escape sequence", { detail: "\\u0000 cannot be converted to text." });
  }
}

/** Throws 22P02 where escapes of the JSON text are half of a surrogate pair, which no text can hold. */
function refuseHalves(text: string): void {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return;
  for (const [token] of text.matchAll(TOKENS)) {
    const half = token.startsWith('"') ? HALF.exec(JSON.parse(token) as string) : null;
    if (half === null) continue;
    const isDouble = /^[\ud800-\udbff]{2}/.test(half[0]);
    const detail = isDouble
      ? "Unicode high surrogate must not follow a high surrogate."
      : "Unicode low surrogate must follow a high surrogate.";
    throw sqlError("22P02", "invalid input syntax for type json", { detail });
  }
}

/** A half of a surrogate pair without the other, and what follows it. */
const HALF = /(?:[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]).?/s;

/** Checks a `json` value, which keeps its text. */
export function checkJson(text: string): unknown {
  try {
    const value = plainJson(text);
    return INEXACT.test(text) ? parseExactly(text) : value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw sqlError("22P02", "invalid input syntax for type json", { detail: `There is ${jsonFaultOf(text)}.` });
  }
}

/** Numbers as doubles. Throws 54000, and SyntaxError. */
function plainJson(text: string): unknown {
  if (text.length > TEXT_CHARACTERS_MAX) throw sqlError("54000", "requested length too large");
  return JSON.parse(text);
}

/**
 * The value of a JSON text, whose whole numbers are BigInts where a double would be another number. Throws SyntaxError.
 */
export function parseKeepingIntegers(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasLongDigits(text) && LONG_INTEGER.test(text) ? parseExactly(text, integerOf) : value;
}

/** So many digits follow each other. One of them stands at a multiple of their number, so few characters are read. */
function hasLongDigits(text: string): boolean {
  for (let at = LONG_DIGITS - 1; at < text.length; ) {
    let end = at;
    while (isDigit(text.charCodeAt(end))) end++;
    if (end > at) {
      let start = at;
      while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--;
      if (end - start >= LONG_DIGITS) return true;
    }
    at = end + LONG_DIGITS;
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function integerOf(token: string): number | bigint {
  const number = Number(token);
  if (!INTEGER.test(token) || Number.isSafeInteger(number)) return number;
  const integer = BigInt(token);
  return BigInt(number) === integer ? number : integer;
}

/** Builds the value token by token; the text is known to be valid. */
function parseExactly(text: string, read: (token: string) => unknown = numberOf): unknown {
  const stack: { container: unknown[] | Record<string, unknown>; key: string | null }[] = [];
  let result: unknown;
  const put = (value: unknown) => {
    const top = stack.at(-1);
    if (top === undefined) result = value;
    else if (Array.isArray(top.container)) top.container.push(value);
    else {
      setMember(top.container, top.key as string, value);
      top.key = null;
    }
  };
  for (const [token] of text.matchAll(TOKENS)) {
    const top = stack.at(-1);
    if (token === "{" || token === "[") {
      const container = token === "{" ? {} : [];
      put(container);
      stack.push({ container, key: null });
    } else if (token === "}" || token === "]") stack.pop();
    else if (token === ":" || token === ",") continue;
    else if (top !== undefined && !Array.isArray(top.container) && top.key === null) top.key = JSON.parse(token);
    else
      put(
        token === "true" || token === "false" || token === "null" || token.startsWith('"')
          ? JSON.parse(token)
          : read(token),
      );
  }
  return result;
}

/** `__proto__` is a key like any other. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}

function numberOf(token: string): number | Numeric {
  const number = Number(token);
  return String(number) === token ? number : Numeric.parse(token);
}

/** A number as a parsed jsonb value holds it: plain when that prints the same. */
export function exactJsonNumber(value: Numeric): number | Numeric {
  const number = value.toNumber();
  return String(number) === value.toString() ? number : value;
}

/** jsonb's text: a space after colons and commas, keys by length and then by bytes. */
export function jsonbToText(value: unknown): string {
  if (value === null || typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value !== "object") return numberToText(value as number | bigint);
  if (value instanceof Numeric) return value.toString();
  if (Array.isArray(value)) return `[${value.map(jsonbToText).join(", ")}]`;
  const object = value as Record<string, unknown>;
  return `{${sortedKeys(object)
    .map((key) => `${JSON.stringify(key)}: ${jsonbToText(object[key])}`)
    .join(", ")}}`;
}

/** jsonb prints numbers as numeric does, without exponents. */
function numberToText(value: number | bigint): string {
  const text = String(value);
  return text.includes("e") ? Numeric.parse(text).toString() : text;
}

/** Keys in jsonb's order: shorter ones first. */
export function sortedKeys(object: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(object);
  if (keys.length < 2) return keys;
  return keys
    .map((key) => ({ key, bytes: Buffer.from(key) }))
    .sort((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes))
    .map(({ key }) => key);
}

/** Compact JSON of a parsed value, with all digits of its numbers. */
export function jsonToCompactText(value: unknown): string {
  if (!holdsNumeric(value)) return JSON.stringify(value);
  if (value instanceof Numeric) return value.toString();
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(jsonToCompactText).join()}]`;
  const object = value as Record<string, unknown>;
  return `{${Object.keys(object)
    .map((key) => `${JSON.stringify(key)}:${jsonToCompactText(object[key])}`)
    .join()}}`;
}

function holdsNumeric(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value === "bigint";
  if (value instanceof Numeric) return true;
  if (Array.isArray(value)) return value.some(holdsNumeric);
  for (const key in value) if (holdsNumeric((value as Record<string, unknown>)[key])) return true;
  return false;
}

/** The value with plain numbers in place of Numeric: for formats that have only doubles. */
export function jsonToPlain(value: unknown): unknown {
  if (!holdsNumeric(value)) return value;
  if (value instanceof Numeric) return value.toNumber();
  if (Array.isArray(value)) return value.map(jsonToPlain);
  if (typeof value !== "object") return value;
  const plain: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value as object)) setMember(plain, key, jsonToPlain(member));
  return plain;
}
