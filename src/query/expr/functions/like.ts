/**
 * LIKE and ILIKE patterns, compiled to a matcher once per pattern. The matcher backtracks only to the last `%`, so its
 * time is bounded by text × pattern. The cache holds nothing but compiled patterns and belongs to this file.
 */
import { sqlError } from "../../../protocol/errors.js";

export type Matcher = (text: string) => boolean;

/** Any one character, any characters. */
const ONE = -1;
const ANY = -2;
/** An escape character with nothing behind it, which is an error once matching gets there. */
const DANGLING = -3;

const dangling = () => sqlError("22025", "LIKE pattern must not end with escape character");

const CACHE_MAX = 500;
const cache = new Map<string, Matcher>();

/** A matcher for the pattern with backslash as escape; `ignoreCase` for ILIKE. Throws 22025. */
export function likeMatcher(pattern: string, ignoreCase: boolean): Matcher {
  const key = ignoreCase ? `i${pattern}` : `c${pattern}`;
  let matcher = cache.get(key);
  if (matcher === undefined) {
    if (cache.size >= CACHE_MAX) cache.clear();
    matcher = ignoreCase ? insensitive(pattern) : compileLike(pattern);
    cache.set(key, matcher);
  }
  return matcher;
}

function insensitive(pattern: string): Matcher {
  const match = compileLike(pattern.toLowerCase());
  return (text) => match(text.toLowerCase());
}

function parse(pattern: string): number[] {
  const codes: number[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === "%") {
      if (codes.at(-1) !== ANY) codes.push(ANY);
    } else if (character === "_") codes.push(ONE);
    else {
      if (character === "\\") i++;
      codes.push(i < pattern.length ? pattern.charCodeAt(i) : DANGLING);
    }
  }
  return codes;
}

/** A part of a pattern: text that must be there, any one character, or any characters. */
export type LikePart = { readonly text: string } | "one" | "any";

/** The pattern's parts; no two literals stand side by side. Null when it ends with an escape character. */
export function likeParts(pattern: string): readonly LikePart[] | null {
  const parts: LikePart[] = [];
  let text = "";
  const end = () => {
    if (text !== "") parts.push({ text });
    text = "";
  };
  for (const code of parse(pattern)) {
    if (code === DANGLING) return null;
    if (code >= 0) text += String.fromCharCode(code);
    else {
      end();
      parts.push(code === ONE ? "one" : "any");
    }
  }
  end();
  return parts;
}

function compileLike(pattern: string): Matcher {
  const codes = parse(pattern);
  const wild = codes.flatMap((code, i) => (code < 0 ? [i] : []));
  const literal = () => String.fromCharCode(...codes.filter((code) => code >= 0));
  if (codes.length < 1000 && !codes.includes(ONE) && !codes.includes(DANGLING)) {
    if (wild.length === 0) {
      const text = literal();
      return (candidate) => candidate === text;
    }
    const last = codes.length - 1;
    if (wild.length === 1 && wild[0] === last) {
      const text = literal();
      return (candidate) => candidate.startsWith(text);
    }
    if (wild.length === 1 && wild[0] === 0) {
      const text = literal();
      return (candidate) => candidate.endsWith(text);
    }
    if (wild.length === 2 && wild[0] === 0 && wild[1] === last) {
      const text = literal();
      return (candidate) => candidate.includes(text);
    }
    return inOrder(
      wild.map((_, i) => String.fromCharCode(...codes.slice(i === 0 ? 0 : wild[i - 1]! + 1, wild[i]))),
      String.fromCharCode(...codes.slice(wild.at(-1)! + 1)),
    );
  }
  return (text) => matches(text, codes);
}

/** Texts that begin with the first part, end with `last`, and have the other parts in between, in their order. */
function inOrder([first, ...middle]: readonly string[], last: string): Matcher {
  return (candidate) => {
    if (!candidate.startsWith(first!) || !candidate.endsWith(last)) return false;
    let position = first!.length;
    for (let i = 0; i < middle.length; i++) {
      const found = candidate.indexOf(middle[i]!, position);
      if (found < 0) return false;
      position = found + middle[i]!.length;
    }
    return position + last.length <= candidate.length;
  };
}

/** Length in UTF-16 units of the character at `i`. */
function width(text: string, i: number): number {
  const high = (text.charCodeAt(i) & 0xfc00) === 0xd800;
  return high && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00 ? 2 : 1;
}

function matches(text: string, codes: readonly number[]): boolean {
  let t = 0;
  let p = 0;
  let resumeText = -1;
  let resumePattern = -1;
  while (t < text.length) {
    const code = codes[p];
    if (code === ANY) {
      resumeText = t;
      resumePattern = ++p;
    } else if (code === ONE) {
      t += width(text, t);
      p++;
    } else if (code !== undefined && code === text.charCodeAt(t)) {
      t++;
      p++;
    } else if (code === DANGLING) throw dangling();
    else if (resumePattern >= 0) {
      resumeText += width(text, resumeText);
      t = resumeText;
      p = resumePattern;
    } else return false;
  }
  while (codes[p] === ANY) p++;
  return p === codes.length;
}

/** The pattern with `escapeText` as its escape character rewritten to use a backslash. Throws 22019, 22025. */
export function likeEscape(pattern: string, escapeText: string): string {
  const points = Array.from(escapeText);
  if (points.length > 1) {
    throw sqlError("22019", "invalid escape string", { hint: "Escape string must be empty or one character." });
  }
  const [character] = points;
  if (character === "\\") return pattern;
  let result = "";
  const source = Array.from(pattern);
  for (let i = 0; i < source.length; i++) {
    if (source[i] === character) {
      i++;
      if (i >= source.length) throw dangling();
      result += `\\${source[i]}`;
    } else result += source[i] === "\\" ? "\\\\" : source[i];
  }
  return result;
}
