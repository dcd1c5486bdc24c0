/**
 * PostgreSQL's default parser (chapter 12.5): from a text to tokens, each with its type. Compound words, host names
 * with paths and the like give the whole first and then their parts. Pure; called by analysis.ts and ts-tables.ts.
 *
 * Letters and digits are Unicode's; marks belong to words. What a token may be is tried longest-meaning first, in the
 * order that the parser of PostgreSQL tries its states.
 */

export type TokenType =
  | "asciiword"
  | "word"
  | "numword"
  | "email"
  | "url"
  | "host"
  | "sfloat"
  | "version"
  | "hword_numpart"
  | "hword_part"
  | "hword_asciipart"
  | "blank"
  | "tag"
  | "protocol"
  | "numhword"
  | "asciihword"
  | "hword"
  | "url_path"
  | "file"
  | "float"
  | "int"
  | "uint"
  | "entity";

/** Number, name and description, as ts_token_type gives them. */
export const TOKEN_TYPES: readonly (readonly [TokenType, string])[] = [
  ["asciiword", "Word, all ASCII"],
  ["word", "Word, all letters"],
  ["numword", "Word, letters and digits"],
  ["email", "Email address"],
  ["url", "URL"],
  ["host", "Host"],
  ["sfloat", "Scientific notation"],
  ["version", "Version number"],
  ["hword_numpart", "Hyphenated word part, letters and digits"],
  ["hword_part", "Hyphenated word part, all letters"],
  ["hword_asciipart", "Hyphenated word part, all ASCII"],
  ["blank", "Space symbols"],
  ["tag", "XML tag"],
  ["protocol", "Protocol head"],
  ["numhword", "Hyphenated word, letters and digits"],
  ["asciihword", "Hyphenated word, all ASCII"],
  ["hword", "Hyphenated word, all letters"],
  ["url_path", "URL path"],
  ["file", "File or path name"],
  ["float", "Decimal notation"],
  ["int", "Signed integer"],
  ["uint", "Unsigned integer"],
  ["entity", "XML entity"],
];

export interface TextToken {
  readonly type: TokenType;
  /** In the text, UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

/** A letter, mark or digit that is not an ASCII digit. */
const LETTER = "[\\p{L}\\p{M}\\p{Nl}]|(?![0-9])\\p{Nd}";
const ALNUM = "[\\p{L}\\p{M}\\p{Nl}\\p{Nd}]";
/** Bound on the parts of host names and addresses; without it `a_a_a_…` would take quadratic time. */
const MORE_LABELS = "(?:[-_.][A-Za-z0-9]+){0,127}";
/** Ends in a domain of two letters or more. */
const HOST = `[A-Za-z0-9]+${MORE_LABELS}\\.[A-Za-z]{2,}(?![A-Za-z0-9])`;

/** Made for the first text: every thread has them, and V8 takes milliseconds for their classes of characters. */
class Sticky {
  private made: RegExp | null = null;

  constructor(private readonly source: string) {}

  get pattern(): RegExp {
    this.made ??= new RegExp(this.source, "uy");
    return this.made;
  }
}

const sticky = (source: string): Sticky => new Sticky(source);

const ASCII_LETTERS = sticky("[A-Za-z]+");
const DIGITS = sticky("[0-9]+");
const WORD = sticky(`(?!\\p{M})(?:${LETTER})+`);
const NUMWORD = sticky(`${ALNUM}+`);
/** Digits alone are not a part, and a part does not begin with a mark. */
const COMPOUND = sticky(`${ALNUM}+(?:-(?:[\\p{L}\\p{Nl}]|[0-9]+[\\p{L}\\p{M}])${ALNUM}*)+`);
const PART = new RegExp(`${ALNUM}+`, "gu");
const HOST_AND_PORT = sticky(`${HOST}(?::[0-9]+)?`);
const EMAIL = sticky(`[A-Za-z0-9]+${MORE_LABELS}@${HOST}(?::[0-9]+)?`);
const EMAIL_OF_WORD = sticky(`${ALNUM}+@${HOST}(?::[0-9]+)?`);
const URL_PATH = sticky("/[!#-;=?-\\[\\]_a-z~]+");
const PROTOCOL = sticky("[A-Za-z]+://");
const SCIENTIFIC = sticky("[-+]?[0-9]+(?:\\.[0-9]+)?[eE][-+]?[0-9]+");
const VERSION = sticky("[0-9]+(?:\\.[0-9]+){2,}");
const DECIMAL = sticky("[-+]?[0-9]+\\.[0-9]+");
const SIGNED = sticky("[-+][0-9]+");
/** What a file's name goes on with behind its beginning. */
const FILE_REST = "(?:[A-Za-z0-9_-]|\\.(?=[A-Za-z0-9_])|/(?=[A-Za-z0-9_.~]))*";
const FILE = sticky(`(?:~/?|\\.{1,2}/|/(?:\\.{1,2}/)*)(?:\\.{1,2}/)*\\.?[A-Za-z0-9_]${FILE_REST}`);
const FILE_OF_WORD = sticky(`${ALNUM}+(?:\\.(?=[A-Za-z0-9_])|/(?=\\.?[A-Za-z0-9_]))${FILE_REST}`);
const ENTITY = sticky("&(?:#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z:_][A-Za-z0-9:_.-]*);");
const TAG = sticky(
  "<(?:\\?[xX][^>]{0,1024}>|/[A-Za-z][\\w:.-]*\\s*>|[A-Za-z:_][\\w:.-]*(?:/?>|\\s(?:'(?:[^'\\\\]|\\\\[^])*'|\"(?:[^\"\\\\]|\\\\[^])*\"|[\\w=\\-#/:.&?%~\\s])*>))",
);
const SPACE = sticky("[^<\\-+&/~.\\p{L}\\p{Nl}\\p{Nd}]+");

function matched({ pattern }: Sticky, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** Tokens of a text in order; the parts of one follow it. `checkpoint` is called now and then. */
export function parseText(text: string, checkpoint: () => void = () => {}): TextToken[] {
  const tokens: TextToken[] = [];
  for (const some of parseInSteps(text)) {
    for (const token of some) tokens.push(token);
    checkpoint();
  }
  return tokens;
}

/** The same, some tokens at a time: what is between two of them takes a millisecond at most. */
export function* parseInSteps(text: string): Generator<readonly TextToken[], void> {
  let tokens: TextToken[] = [];
  let blank = -1;
  const flush = (end: number) => {
    if (blank >= 0) tokens.push({ type: "blank", start: blank, end });
    blank = -1;
  };
  let at = 0;
  let turns = 0;
  let comment = text.indexOf("<!--");
  while (at < text.length) {
    if ((++turns & 1023) === 0) {
      yield tokens;
      tokens = [];
    }
    if (at === comment) {
      const close = text.indexOf("-->", at + 4);
      comment = close < 0 ? -1 : text.indexOf("<!--", close);
      if (close >= 0) {
        flush(at);
        at = added(tokens, "tag", at, close + 3);
        continue;
      }
    }
    const before = tokens.length;
    const pending = blank;
    const isInBlank = pending >= 0 && (text[at] === "." || text[at] === "~");
    const end = isInBlank ? -1 : tokenAt(text, at, tokens);
    if (end > at) {
      if (pending >= 0) tokens.splice(before, 0, { type: "blank", start: pending, end: at });
      blank = -1;
      at = end;
      continue;
    }
    if (blank < 0) blank = at;
    at = Math.max(matched(SPACE, text, at), at + 1);
  }
  flush(text.length);
  yield tokens;
}

/** Adds the token that begins at `at` with its parts, and answers where it ends; −1: none begins there. */
function tokenAt(text: string, at: number, tokens: TextToken[]): number {
  const unit = text.charCodeAt(at);
  if (isAsciiLetter(unit)) return asciiWord(text, at, tokens);
  if (isAsciiDigit(unit)) return number(text, at, tokens);
  const one = (type: TokenType, pattern: Sticky) => added(tokens, type, at, matched(pattern, text, at));
  switch (text[at]) {
    case "<":
      return one("tag", TAG);
    case "&":
      return one("entity", ENTITY);
    case "-":
    case "+":
      return firstOf(one, [
        ["sfloat", SCIENTIFIC],
        ["float", DECIMAL],
        ["int", SIGNED],
      ]);
    case "~":
    case "/":
    case ".":
      return one("file", FILE);
  }
  return unit > 0x7f && matched(WORD, text, at) > 0 ? anyWord(text, at, tokens) : -1;
}

const isAsciiLetter = (unit: number) => (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90);
const isAsciiDigit = (unit: number) => unit >= 48 && unit <= 57;

function added(tokens: TextToken[], type: TokenType, start: number, end: number): number {
  if (end > start) tokens.push({ type, start, end });
  return end;
}

function firstOf(
  one: (type: TokenType, pattern: Sticky) => number,
  kinds: readonly (readonly [TokenType, Sticky])[],
): number {
  for (const [type, pattern] of kinds) {
    const end = one(type, pattern);
    if (end > 0) return end;
  }
  return -1;
}

/** What a word of ASCII letters is the beginning of depends on the character behind it. */
function asciiWord(text: string, at: number, tokens: TextToken[]): number {
  const end = matched(ASCII_LETTERS, text, at);
  const next = text[end];
  switch (next) {
    case ".":
    case "_":
    case "@": {
      const host = hostOrEmail(text, at, tokens);
      if (host > 0) return host;
      break;
    }
    case "-": {
      const found = hostOrEmail(text, at, tokens);
      return found > 0 ? found : compoundOr(text, at, tokens, "asciiword", end);
    }
    case ":": {
      const protocol = matched(PROTOCOL, text, at);
      if (protocol > 0) return added(tokens, "protocol", at, protocol);
      break;
    }
  }
  if (next === "." || next === "/") {
    const file = added(tokens, "file", at, matched(FILE_OF_WORD, text, at));
    if (file > 0) return file;
  }
  if (next !== undefined && isAsciiDigit(next.charCodeAt(0))) {
    const host = hostOrEmail(text, at, tokens);
    if (host > 0) return host;
  }
  return matched(NUMWORD, text, at) > end ? anyWord(text, at, tokens) : added(tokens, "asciiword", at, end);
}

/** A word with letters that are not ASCII, or with digits. */
function anyWord(text: string, at: number, tokens: TextToken[]): number {
  const letters = matched(WORD, text, at);
  const end = matched(NUMWORD, text, at);
  const type = letters === end ? "word" : "numword";
  const next = text[end];
  if (next === "-") return compoundOr(text, at, tokens, type, end);
  if (type === "numword" && next === "@") {
    const email = added(tokens, "email", at, matched(EMAIL_OF_WORD, text, at));
    if (email > 0) return email;
  }
  if (type === "numword" && (next === "." || next === "/")) {
    const file = added(tokens, "file", at, matched(FILE_OF_WORD, text, at));
    if (file > 0) return file;
  }
  return added(tokens, type, at, end);
}

function number(text: string, at: number, tokens: TextToken[]): number {
  const end = matched(DIGITS, text, at);
  const next = text[end] ?? "";
  const one = (type: TokenType, pattern: Sticky) => added(tokens, type, at, matched(pattern, text, at));
  if (next === ".") {
    const host = hostOrEmail(text, at, tokens);
    if (host > 0) return host;
    const found = firstOf(one, [
      ["version", VERSION],
      ["sfloat", SCIENTIFIC],
      ["float", DECIMAL],
    ]);
    if (found > 0) return found;
  }
  if (next === "e" || next === "E") {
    const found = one("sfloat", SCIENTIFIC);
    if (found > 0) return found;
  }
  if (/[-_@A-Za-z]/.test(next)) {
    const host = hostOrEmail(text, at, tokens);
    if (host > 0) return host;
  }
  if (matched(NUMWORD, text, at) > end) return anyWord(text, at, tokens);
  if (next === "/") {
    const file = one("file", FILE_OF_WORD);
    if (file > 0) return file;
  }
  return added(tokens, "uint", at, end);
}

/** An address, or a host with the path behind it. */
function hostOrEmail(text: string, at: number, tokens: TextToken[]): number {
  const email = added(tokens, "email", at, matched(EMAIL, text, at));
  if (email > 0) return email;
  const host = matched(HOST_AND_PORT, text, at);
  if (host < 0) return -1;
  const path = matched(URL_PATH, text, host);
  if (path > 0) tokens.push({ type: "url", start: at, end: path });
  tokens.push({ type: "host", start: at, end: host });
  return path > 0 ? added(tokens, "url_path", host, path) : host;
}

/** The word with those that hyphens tie to it, then each of them; without such the word itself. */
function compoundOr(text: string, at: number, tokens: TextToken[], type: TokenType, end: number): number {
  const whole = matched(COMPOUND, text, at);
  if (whole < 0) return added(tokens, type, at, end);
  const compound = text.slice(at, whole);
  tokens.push({ type: compoundType(compound), start: at, end: whole });
  let last = at;
  for (const match of compound.matchAll(PART)) {
    const start = at + match.index;
    if (start > last) tokens.push({ type: "blank", start: last, end: start });
    last = start + match[0].length;
    tokens.push({ type: partType(match[0]), start, end: last });
  }
  return whole;
}

const compoundType = (text: string): TokenType =>
  /[0-9]/.test(text) ? "numhword" : /^[A-Za-z-]+$/.test(text) ? "asciihword" : "hword";
const partType = (text: string): TokenType =>
  /[0-9]/.test(text) ? "hword_numpart" : /^[A-Za-z]+$/.test(text) ? "hword_asciipart" : "hword_part";
