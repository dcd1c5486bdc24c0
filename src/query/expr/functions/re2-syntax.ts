/**
 * Regular expressions of JavaScript (flag u) in the syntax of RE2, for those that mean the same there. Used by
 * linear-regexp.ts; no state.
 */
import { regExpTokens } from "./regexp-cost.js";

/** Lookarounds that say where a text or a line begins and ends, as regex.ts writes them. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ["(?<![\\s\\S])", "\\A"],
  ["(?![\\s\\S])", "\\z"],
  ["(?<![^\\n])", "(?m:^)"],
  ["(?![^\\n])", "(?m:$)"],
]);
/** JavaScript's \s; RE2's knows ASCII only. */
const SPACES =
  "\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";

class NoCounterpart extends Error {}

/** Null: RE2 has no counterpart (back references, other lookarounds, the flag m). */
export function re2Syntax(source: string, flags: string): string | null {
  if (flags.includes("m")) return null;
  const tokens = regExpTokens(source);
  const isDotAll = flags.includes("s");
  let out = `(?${flags.includes("i") ? "i" : ""}s)`;
  try {
    for (let at = 0; at < tokens.length; at++) {
      const place = PLACES.get(tokens.slice(at, at + 3).join(""));
      if (place === undefined) out += translated(tokens[at]!, isDotAll);
      else {
        out += place;
        at += 2;
      }
    }
  } catch (error) {
    if (error instanceof NoCounterpart) return null;
    throw error;
  }
  return out;
}

function translated(token: string, isDotAll: boolean): string {
  if (token.startsWith("\\")) return escaped(token, false);
  if (token.startsWith("[") && token.length > 1) return bracket(token);
  if (/^\(\?<?[=!]/.test(token)) throw new NoCounterpart();
  if (token.startsWith("(?<")) return `(?P${token.slice(2)}`;
  if (token === "." && !isDotAll) return "[^\\n\\r\\x{2028}\\x{2029}]";
  return token;
}

function bracket(token: string): string {
  const isNegated = token.startsWith("[^");
  const inner = token.slice(isNegated ? 2 : 1, -1);
  // JavaScript's empty brackets match nothing or everything.
  if (inner === "") throw new NoCounterpart();
  const parts = inner.match(/\\(?:[pPu]\{[^}]*\}|c[A-Za-z]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)|./gsu) ?? [];
  const out = parts.map((part) => {
    if (part.startsWith("\\")) return escaped(part, true);
    return part === "[" ? "\\[" : part;
  });
  return `[${isNegated ? "^" : ""}${out.join("")}]`;
}

function escaped(token: string, inBrackets: boolean): string {
  const kind = token[1]!;
  switch (kind) {
    case "s":
      return inBrackets ? SPACES : `[${SPACES}]`;
    case "S":
      if (inBrackets) throw new NoCounterpart();
      return `[^${SPACES}]`;
    case "b":
      return inBrackets ? "\\x08" : token;
    case "0":
      return "\\x00";
    case "c":
      return `\\x{${(token.charCodeAt(2) % 32).toString(16)}}`;
    case "x":
      return `\\x{${token.slice(2)}}`;
    case "u": {
      const digits = token[2] === "{" ? token.slice(3, -1) : token.slice(2);
      const code = Number.parseInt(digits, 16);
      // Half a character: RE2 knows whole ones.
      if (code >= 0xd800 && code <= 0xdfff) throw new NoCounterpart();
      return `\\x{${digits}}`;
    }
    default:
      if (/[1-9k]/.test(kind)) throw new NoCounterpart();
      return token;
  }
}
