/**
 * Cuts a Cypher text into tokens, all at once, into parallel arrays. Called by `parser.ts`; holds no state between
 * texts. Literals are only delimited and checked here; `literals.ts` reads their values.
 */
import { DbError } from "../../protocol/errors.js";
import { CYPHER_TOKENS_MAX } from "../../protocol/limits.js";
import { syntaxError } from "./syntax-error.js";

// biome-ignore format: a table
const SYMBOLS = [
  "(", ")", "[", "]", "{", "}", ",", ":", ";", "|", "&", "!", "%", "+", "-", "*", "/", "^", "=", "<", ">", ".", "$",
] as const;

/**
 * `word`: an identifier or keyword. `name`: one in backquotes. `dash`, `left` and `right` are the other characters
 * that patterns may be drawn with (openCypher 9, `Dash`, `LeftArrowHead`, `RightArrowHead`).
 */
export type TokenKind =
  | (typeof SYMBOLS)[number]
  | ".."
  | "<="
  | ">="
  | "<>"
  | "=~"
  | "+="
  | "word"
  | "name"
  | "integer"
  | "float"
  | "string"
  | "parameter"
  | "dash"
  | "left"
  | "right"
  | "end";

export interface Tokens {
  readonly kinds: readonly TokenKind[];
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Of a word that is a keyword its upper-case form, else "". */
  readonly keywords: readonly string[];
}

const KEYWORDS = new Map<string, string>();
for (const word of (
  "ALL ALLSHORTESTPATHS AND ANY AS ASC ASCENDING ASSERT BOTH BY CALL CASE COLLECT CONSTRAINT CONTAINS COUNT CREATE CYPHER DELETE DESC " +
  "DESCENDING DETACH DISTINCT DROP EACH ELSE END ENDS EXISTS EXPLAIN EXTRACT FALSE FILTER FINISH FOR FOREACH FROM FULLTEXT IF IN INDEX INSERT IS JOIN KEY LEADING LET " +
  "LIMIT LOOKUP MATCH MERGE NODE NODETACH NONE NORMALIZED NOT NULL OFFSET ON OPTIONAL OPTIONS OR ORDER POINT PROFILE RANGE REDUCE REL RELATIONSHIP " +
  "REMOVE REQUIRE RETURN SCAN SEEK SET SHORTEST SHORTESTPATH SINGLE SKIP STARTS TEXT THEN TRAILING TRUE TYPED UNION UNIQUE UNWIND " +
  "USE USING VECTOR WHEN WHERE WITH " +
  "XOR YIELD"
).split(" ")) {
  KEYWORDS.set(word, word);
  KEYWORDS.set(word.toLowerCase(), word);
}
const KEYWORD_CHARACTERS_MAX = Math.max(...[...KEYWORDS.keys()].map((word) => word.length));

/** What an ASCII character can begin. */
enum Class {
  Other,
  Space,
  Letter,
  Digit,
  Symbol,
}
const CLASSES = new Uint8Array(128);
for (const char of "\t\n\v\f\r \u001c\u001d\u001e\u001f") CLASSES[char.charCodeAt(0)] = Class.Space;
for (let code = 0; code < 26; code++) CLASSES[65 + code] = CLASSES[97 + code] = Class.Letter;
CLASSES[95] = Class.Letter;
for (let code = 48; code < 58; code++) CLASSES[code] = Class.Digit;
const SYMBOL_OF: TokenKind[] = [];
for (const symbol of SYMBOLS) {
  if (symbol !== "$") CLASSES[symbol.charCodeAt(0)] = Class.Symbol;
  SYMBOL_OF[symbol.charCodeAt(0)] = symbol;
}

const OTHER_SPACE = /[\s\u0085\u180e]/u;
const NAME_START = /[\p{ID_Start}\p{Pc}]/u;
const NAME_PART = /[\p{ID_Continue}\p{Sc}]/u;
const NUMBER =
  /0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0[oO][0-7]+(?:_[0-7]+)*|(?:\d+(?:_\d+)*(?:\.\d+(?:_\d+)*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const PATTERN_MARKS: Readonly<Record<string, TokenKind>> = {
  ...Object.fromEntries(
    [..."\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"].map((c) => [c, "dash"]),
  ),
  ...Object.fromEntries([..."\u27e8\u3008\ufe64\uff1c"].map((c) => [c, "left"])),
  ...Object.fromEntries([..."\u27e9\u3009\ufe65\uff1e"].map((c) => [c, "right"])),
};

/** The tokens of a text; the last is `end`. Throws SyntaxError for what is no token, and query_too_long. */
export function tokenize(text: string): Tokens {
  return new Lexer(text).run();
}

function tooManyTokens(): DbError {
  const most = `A Cypher statement has at most ${CYPHER_TOKENS_MAX} tokens.`;
  return new DbError("query_too_long", `${most} Send long lists as parameters, or several statements.`);
}

class Lexer implements Tokens {
  readonly kinds: TokenKind[] = [];
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly keywords: string[] = [];
  private at = 0;

  constructor(private readonly text: string) {}

  run(): Tokens {
    const { text } = this;
    while (this.at < text.length) {
      if (this.kinds.length > CYPHER_TOKENS_MAX) throw tooManyTokens();
      const code = text.charCodeAt(this.at);
      const type = code < 128 ? CLASSES[code] : Class.Other;
      if (type === Class.Space) this.at++;
      else if (type === Class.Letter) this.word();
      else if (type === Class.Symbol) this.symbol(code);
      else if (type === Class.Digit) this.number();
      else this.other(code);
    }
    this.push("end", this.at);
    return this;
  }

  private push(kind: TokenKind, end: number, keyword = ""): void {
    this.kinds.push(kind);
    this.starts.push(this.at);
    this.ends.push(end);
    this.keywords.push(keyword);
    this.at = end;
  }

  private word(): void {
    const end = this.nameEnd(this.at);
    const length = end - this.at;
    let keyword: string | undefined;
    if (length > 1 && length <= KEYWORD_CHARACTERS_MAX) {
      const word = this.text.slice(this.at, end);
      keyword = KEYWORDS.get(word) ?? KEYWORDS.get(word.toUpperCase());
    }
    this.push("word", end, keyword);
  }

  /** The offset after the letters and digits from an offset on. */
  private nameEnd(start: number): number {
    const { text } = this;
    let end = start;
    while (end < text.length) {
      const code = text.charCodeAt(end);
      if (code < 128) {
        const type = CLASSES[code];
        if (type !== Class.Letter && type !== Class.Digit) break;
        end++;
      } else {
        const char = String.fromCodePoint(text.codePointAt(end)!);
        if (!NAME_PART.test(char)) break;
        end += char.length;
      }
    }
    return end;
  }

  private symbol(code: number): void {
    const next = this.text.charCodeAt(this.at + 1);
    if (code === 46 && next >= 48 && next <= 57) this.number();
    else if (code === 47 && next === 47) this.lineComment();
    else if (code === 47 && next === 42) this.blockComment();
    // SQL's comment, as editors and clients put one before any statement; no statement of Cypher begins so.
    else if (code === 45 && next === 45 && this.kinds.length === 0) this.lineComment();
    else {
      const pair = pairOf(code, next);
      if (pair !== null) this.push(pair, this.at + 2);
      else this.push(SYMBOL_OF[code]!, this.at + 1);
    }
  }

  private lineComment(): void {
    const end = this.text.slice(this.at).search(/[\n\r]/);
    this.at = end < 0 ? this.text.length : this.at + end;
  }

  private blockComment(): void {
    const end = this.text.indexOf("*/", this.at + 2);
    if (end < 0) throw syntaxError(this.text, this.at, "UnexpectedSyntax", "unterminated comment");
    this.at = end + 2;
  }

  private number(): void {
    NUMBER.lastIndex = this.at;
    const [number = ""] = NUMBER.exec(this.text) ?? [];
    const end = this.at + number.length;
    // `1.` is no number, but `1..2` is one and a range; `0123` was an octal number once.
    if (this.nameEnd(end) !== end || /^0\d/.test(number)) {
      const whole = this.text.slice(this.at, this.nameEnd(end));
      throw syntaxError(this.text, this.at, "InvalidNumberLiteral", `invalid number ${whole}`);
    }
    this.push(/^0[xXoO]|^[\d_]+$/.test(number) ? "integer" : "float", end);
  }

  private other(code: number): void {
    if (code === 39 || code === 34) this.push("string", this.stringEnd(code));
    else if (code === 96) this.push("name", this.escapedNameEnd(this.at));
    else if (code === 36) this.parameter();
    else this.otherCharacter(String.fromCodePoint(this.text.codePointAt(this.at)!));
  }

  private otherCharacter(char: string): void {
    const mark = PATTERN_MARKS[char];
    if (mark !== undefined) this.push(mark, this.at + 1);
    else if (OTHER_SPACE.test(char)) this.at++;
    else if (NAME_START.test(char)) this.word();
    else {
      const detail = char > "\u007f" ? "InvalidUnicodeCharacter" : "UnexpectedSyntax";
      throw syntaxError(this.text, this.at, detail, `invalid character ${JSON.stringify(char)}`);
    }
  }

  private stringEnd(quote: number): number {
    const { text } = this;
    for (let end = this.at + 1; end < text.length; end++) {
      const code = text.charCodeAt(end);
      if (code === quote) return end + 1;
      if (code === 92) end++;
    }
    throw syntaxError(text, this.at, "UnexpectedSyntax", "unterminated string");
  }

  private escapedNameEnd(start: number): number {
    const { text } = this;
    for (let end = start + 1; ; end++) {
      end = text.indexOf("`", end);
      if (end < 0) throw syntaxError(text, start, "UnexpectedSyntax", "unterminated name");
      if (text.charCodeAt(end + 1) !== 96) return end + 1;
      end++;
    }
  }

  private parameter(): void {
    const { text, at } = this;
    // `:$(expression)`: a label that is computed.
    if (text.charCodeAt(at + 1) === 40) {
      this.push("$", at + 1);
      return;
    }
    const end = text.charCodeAt(at + 1) === 96 ? this.escapedNameEnd(at + 1) : this.nameEnd(at + 1);
    if (end === at + 1) throw syntaxError(text, at, "UnexpectedSyntax", "expected a parameter's name after $");
    this.push("parameter", end);
  }
}

/** The symbol that two characters make together. */
function pairOf(code: number, next: number): TokenKind | null {
  switch (code) {
    case 46: // .
      return next === 46 ? ".." : null;
    case 60: // <
      return next === 61 ? "<=" : next === 62 ? "<>" : null;
    case 62: // >
      return next === 61 ? ">=" : null;
    case 61: // =
      return next === 126 ? "=~" : null;
    case 43: // +
      return next === 61 ? "+=" : null;
    default:
      return null;
  }
}

/** Whether a word means something in some place of the grammar. */
export const isKeyword = (word: string): boolean => KEYWORDS.has(word.toUpperCase());
