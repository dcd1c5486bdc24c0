/** Values of the literals that `lexer.ts` has delimited. Called by `expressions.ts` and `token-reader.ts`. */
import { syntaxError } from "./syntax-error.js";

const INT64_MAX = 2n ** 63n - 1n;

/**
 * An integer in decimal, hexadecimal (0x) or octal (0o), negated if a minus stands before it: a number where that is
 * exact, else a bigint. Throws IntegerOverflow beyond 64 bits.
 */
export function integerValue(text: string, start: number, end: number, negative: boolean): number | bigint {
  const digits = text.slice(start, end).replaceAll("_", "");
  if (digits.length < 16) {
    const small = Number(digits);
    return negative && small !== 0 ? -small : small;
  }
  const value = negative ? -BigInt(digits) : BigInt(digits);
  if (value > INT64_MAX || value < -INT64_MAX - 1n) {
    throw syntaxError(text, start, "IntegerOverflow", `integer ${value} is out of range`);
  }
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** A double. Throws FloatingPointOverflow where it would be infinite. */
export function floatValue(text: string, start: number, end: number): number {
  const value = Number(text.slice(start, end).replaceAll("_", ""));
  if (value === Number.POSITIVE_INFINITY) {
    throw syntaxError(text, start, "FloatingPointOverflow", `number ${text.slice(start, end)} is out of range`);
  }
  return value;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\",
  "'": "'",
  '"': '"',
  "`": "`",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** What a string literal, quotes included, says. */
export function stringValue(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  if (!inner.includes("\\")) return inner;
  let value = "";
  for (let i = 0; i < inner.length; i++) {
    if (inner[i] !== "\\") {
      value += inner[i];
      continue;
    }
    const letter = inner[++i]!;
    if (letter !== "u" && letter !== "U") {
      const char = ESCAPES[letter];
      if (char === undefined) {
        throw syntaxError(text, start + i, "UnexpectedSyntax", `invalid escape sequence \\${letter}`);
      }
      value += char;
      continue;
    }
    const length = letter === "u" ? 4 : 8;
    const digits = inner.slice(i + 1, i + 1 + length);
    const code = Number.parseInt(digits, 16);
    if (!/^[0-9a-fA-F]+$/.test(digits) || digits.length < length || code > 0x10ffff) {
      throw syntaxError(text, start + i, "InvalidUnicodeLiteral", `\\${letter} needs ${length} hexadecimal digits`);
    }
    value += String.fromCodePoint(code);
    i += length;
  }
  return value;
}

/** A name without the backquotes around it; two inside are one. */
export const escapedName = (quoted: string): string => quoted.slice(1, -1).replaceAll("``", "`");
