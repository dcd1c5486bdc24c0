/**
 * PostgreSQL's regular expressions (advanced flavour, chapter 9.7.3) and SIMILAR TO, translated to JavaScript's. The
 * cache holds nothing but compiled expressions and belongs to this file.
 */
import { sqlError } from "../../../protocol/errors.js";
import { posixRegExp } from "./posix-regexp.js";

/** A longer one takes long to compile, and V8 refuses those of some hundred thousand. */
const PATTERN_CHARACTERS_MAX = 32 * 1024;
const CACHE_MAX = 500;
const cache = new Map<string, RegExp>();

const invalid = (why: string) => sqlError("2201B", `invalid regular expression: ${why}`);

/**
 * The compiled expression; `flags` are PostgreSQL's embedded options: i, c, s, n, m, p, w, x, q, and g (global), which
 * callers look at themselves. The result always has the flag g, so callers set `lastIndex`. Throws 2201B, 22023.
 */
export function regexOf(pattern: string, flags = ""): RegExp {
  if (pattern.length > PATTERN_CHARACTERS_MAX) throw invalid(`longer than ${PATTERN_CHARACTERS_MAX} characters`);
  const key = `${flags}/${pattern}`;
  let regex = cache.get(key);
  if (regex === undefined) {
    if (cache.size >= CACHE_MAX) cache.clear();
    regex = compileRegex(pattern, flags);
    cache.set(key, regex);
  }
  regex.lastIndex = 0;
  return regex;
}

function compileRegex(pattern: string, given: string): RegExp {
  let source = pattern;
  let options = given;
  if (source.startsWith("***=")) {
    source = source.slice(4);
    options += "q";
  } else if (source.startsWith("***:")) source = source.slice(4);
  const embedded = /^\(\?([a-z]+)\)/.exec(source);
  if (embedded !== null && !options.includes("q")) {
    options += embedded[1];
    source = source.slice(embedded[0].length);
  }
  let ignoreCase = false;
  let dotAll = true;
  let multiline = false;
  let literal = false;
  let expanded = false;
  for (const option of options) {
    switch (option) {
      case "i":
        ignoreCase = true;
        break;
      case "c":
        ignoreCase = false;
        break;
      case "s":
        dotAll = true;
        multiline = false;
        break;
      case "n":
      case "m":
        dotAll = false;
        multiline = true;
        break;
      case "p":
        dotAll = false;
        break;
      case "w":
        multiline = true;
        break;
      case "x":
        expanded = true;
        break;
      case "q":
        literal = true;
        break;
      case "g":
      case "t":
      case "e":
      case "b":
        break;
      default:
        throw sqlError("22023", `invalid regular expression option: "${option}"`);
    }
  }
  const body = literal
    ? source.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    : new Translator(source, expanded, !dotAll, multiline).run();
  const jsFlags = `gus${ignoreCase ? "i" : ""}`;
  try {
    return posixRegExp(body, jsFlags);
  } catch (error) {
    throw invalid(reasonOf((error as Error).message));
  }
}

/** PostgreSQL's words for what JavaScript's compiler found. */
function reasonOf(message: string): string {
  if (/unterminated group|unmatched '\)'/i.test(message)) return "parentheses () not balanced";
  if (/character class/i.test(message)) return "brackets [] not balanced";
  if (/nothing to repeat/i.test(message)) return "quantifier operand invalid";
  if (/out of order in \{\}|incomplete quantifier/i.test(message)) return "invalid repetition count(s)";
  if (/out of order in character class/i.test(message)) return "invalid character range";
  return /reference|escape/i.test(message) ? "invalid backreference number" : "invalid regexp";
}

const CLASSES: Readonly<Record<string, string>> = {
  alpha: "\\p{L}",
  digit: "\\p{Nd}",
  alnum: "\\p{L}\\p{Nd}",
  upper: "\\p{Lu}",
  lower: "\\p{Ll}",
  space: "\\s",
  blank: " \\t",
  punct: "!-\\/:-@\\[-`\\{-~",
  print: "\\P{C}",
  graph: "!-~\\p{L}\\p{N}",
  cntrl: "\\p{Cc}",
  xdigit: "0-9A-Fa-f",
  word: "\\p{L}\\p{N}_",
};

const WORD = "[\\p{L}\\p{N}_]";
const ESCAPES: Readonly<Record<string, string>> = {
  m: `(?<!${WORD})(?=${WORD})`,
  M: `(?<=${WORD})(?!${WORD})`,
  y: `(?:(?<!${WORD})(?=${WORD})|(?<=${WORD})(?!${WORD}))`,
  Y: `(?:(?<!${WORD})(?!${WORD})|(?<=${WORD})(?=${WORD}))`,
  A: "(?<![\\s\\S])",
  Z: "(?![\\s\\S])",
  d: "\\p{Nd}",
  D: "\\P{Nd}",
  w: WORD,
  W: "[^\\p{L}\\p{N}_]",
  s: "\\s",
  S: "\\S",
  a: "\\x07",
  b: "\\x08",
  B: "\\\\",
  e: "\\x1b",
  f: "\\f",
  n: "\\n",
  r: "\\r",
  t: "\\t",
  v: "\\v",
};

class Translator {
  private at = 0;
  /** Of the groups that are open: whether each looks ahead or behind. */
  private readonly open: boolean[] = [];

  constructor(
    private readonly source: string,
    private readonly expanded: boolean,
    private readonly newlineStops: boolean,
    /** ^ and $ match at newlines, too. */
    private readonly byLines: boolean,
  ) {}

  run(): string {
    let out = "";
    // A quantifier or a star at the very start, or after an opening parenthesis or bar, is an error.
    while (this.at < this.source.length) out += this.next();
    return out;
  }

  private next(): string {
    const character = this.source[this.at++] as string;
    switch (character) {
      case "\\":
        return this.escape();
      case "[":
        return this.bracket();
      case "{":
        // An opening brace that no digit follows is an ordinary character.
        return /^\d+(,\d*)?\}/.test(this.source.slice(this.at)) ? character : "\\{";
      case "}":
        return this.closesBound() ? character : "\\}";
      case "]":
        return "\\]";
      case "/":
        return "\\/";
      // A line ends with \n alone; JavaScript's own way knows three more characters.
      case ".":
        return this.newlineStops ? "[^\\n]" : character;
      case "^":
        return this.byLines ? "(?<![^\\n])" : character;
      case "$":
        return this.byLines ? "(?![^\\n])" : character;
      case "(":
        return this.group();
      case ")":
        this.open.pop();
        return character;
      case " ":
      case "\t":
      case "\n":
        return this.expanded ? "" : character;
      case "#":
        if (!this.expanded) return character;
        while (this.at < this.source.length && this.source[this.at] !== "\n") this.at++;
        return "";
      default:
        return character;
    }
  }

  private closesBound(): boolean {
    return /\{\d+(,\d*)?$/.test(this.source.slice(0, this.at - 1));
  }

  private group(): string {
    const rest = this.source.slice(this.at, this.at + 3);
    const comment = rest.startsWith("?#") ? /^\?#[^)]*\)/.exec(this.source.slice(this.at)) : null;
    if (comment === null) {
      this.open.push(/^\?<?[=!]/.test(rest));
      return "(";
    }
    this.at += comment[0].length;
    return "";
  }

  private escape(): string {
    const character = this.source[this.at++];
    if (character === undefined) throw invalid("invalid escape \\ sequence");
    const known = Object.hasOwn(ESCAPES, character) ? ESCAPES[character] : undefined;
    if (known !== undefined) return known;
    if (/[1-9]/.test(character)) {
      if (this.open.includes(true)) throw invalid("invalid backreference number");
      return `\\${character}`;
    }
    if (character === "0") return "\\0";
    if (character === "x" || character === "u" || character === "U") return this.codeEscape(character);
    if (/[A-Za-z]/.test(character)) throw invalid("invalid escape \\ sequence");
    return /[\^$.*+?()[\]{}|/\\-]/.test(character) ? `\\${character === "-" ? "x2d" : character}` : character;
  }

  private codeEscape(kind: string): string {
    const pattern = kind === "u" ? /^[0-9a-fA-F]{4}/ : kind === "U" ? /^[0-9a-fA-F]{8}/ : /^[0-9a-fA-F]+/;
    const digits = pattern.exec(this.source.slice(this.at));
    if (digits === null) throw invalid("invalid escape \\ sequence");
    this.at += digits[0].length;
    return `\\u{${digits[0].replace(/^0+(?=.)/, "")}}`;
  }

  private bracket(): string {
    const rest = this.source.slice(this.at - 1);
    if (rest.startsWith("[[:<:]]") || rest.startsWith("[[:>:]]")) {
      this.at += 6;
      return (rest.startsWith("[[:<:]]") ? ESCAPES.m : ESCAPES.M) as string;
    }
    let out = "[";
    const negated = this.source[this.at] === "^";
    if (negated) {
      out += this.newlineStops ? "^\\n" : "^";
      this.at++;
    }
    let first = true;
    for (;;) {
      const character = this.source[this.at++];
      if (character === undefined) throw invalid("brackets [] not balanced");
      if (character === "]" && !first) return `${out}]`;
      first = false;
      if (character === "[") out += this.namedClass();
      else if (character === "\\") out += this.bracketEscape();
      else out += /[\]^/{}()|$.*+?]/.test(character) ? `\\${character}` : character;
    }
  }

  private namedClass(): string {
    const named = /^([:.=])(.*?)\1\]/.exec(this.source.slice(this.at));
    if (named === null) return "\\[";
    this.at += named[0].length;
    const name = named[2] as string;
    if (named[1] !== ":") return /[\]\\^-]/.test(name) ? `\\${name}` : name;
    const members = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
    if (members === undefined) throw invalid("invalid character class");
    return members;
  }

  private bracketEscape(): string {
    const character = this.source[this.at] ?? "";
    if (character === "w") {
      this.at++;
      return CLASSES.word as string;
    }
    if (character === "b" || /[dDsSafnrtvexuU0]/.test(character)) return this.escape();
    this.at++;
    return `\\${character === "-" ? "x2d" : character}`.replace(/^\\([A-Za-z](?!2d)|[^\]\\^x/{}()|$.*+?[-])/, "$1");
  }
}

/** What makes each quantifier of the pattern take as little as it can. */
const lazily = (pattern: string) =>
  pattern.replace(/\\.|\[\^?\]?(?:\\.|\[[:.=].*?[:.=]\]|[^\]])*\]|[*+?]|\{[\d,]+\}/gs, (part) =>
    /^[*+?{]/.test(part) ? `${part}?` : part,
  );

/** Where in a bracket expression a SIMILAR TO pattern is: a "]" right after "[" or "[^" is a member of it. */
class Brackets {
  private depth = 0;
  /** 1 after the opening bracket, 2 after a caret that follows it, 3 behind a member. */
  private place = 0;

  get isInside(): boolean {
    return this.depth > 0;
  }

  member(): void {
    this.place = 3;
  }

  read(character: string): void {
    if (this.depth === 0) [this.depth, this.place] = [1, 1];
    else if (character === "]" && this.place > 2) this.depth--;
    else {
      if (character === "[") this.depth++;
      this.place = character === "^" ? this.place + 1 : 3;
    }
  }
}

/**
 * A SIMILAR TO pattern as a regular expression (regexp.c, similar_escape_internal): of the three parts that
 * <escape>" separates the first takes as little as it can. Throws 22019, 22025, 2200C.
 */
export function similarToRegex(pattern: string, escapeText = "\\"): string {
  if (Array.from(escapeText).length > 1) {
    throw sqlError("22025", "invalid escape string", { hint: "Escape string must be empty or one character." });
  }
  let out = "^(?:";
  const brackets = new Brackets();
  const points = Array.from(pattern);
  let quotes = 0;
  for (let i = 0; i < points.length; i++) {
    const character = points[i] as string;
    if (character === escapeText) {
      const next = points[++i];
      if (next === undefined) break;
      if (next === '"' && !brackets.isInside) {
        if (quotes === 2) {
          throw sqlError(
            "2200C",
            "SQL regular expression may not contain more than two escape-double-quote separators",
          );
        }
        out = quotes++ === 0 ? `^(?:${lazily(out.slice("^(?:".length))})(` : `${out})(?:`;
      } else {
        out += `\\${next}`;
        brackets.member();
      }
    } else if (brackets.isInside || character === "[") {
      brackets.read(character);
      out += character === "\\" ? "\\\\" : character;
    } else if (character === "%") out += ".*";
    else if (character === "_") out += ".";
    else if (character === "(") out += "(?:";
    else out += /[\\.^$]/.test(character) ? `\\${character}` : character;
  }
  return `${out})$`;
}
