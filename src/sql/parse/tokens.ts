/**
 * Splits SQL text into tokens for `dialect.ts`, as PostgreSQL's scanner does: strings, dollar quotes, quoted
 * identifiers and nested comments are each passed over whole. It never fails: an unterminated token runs to the end,
 * and the grammar then reports the error.
 */
import { sqlError } from "../../protocol/errors.js";

export interface Token {
  readonly kind: "word" | "quoted" | "backtick" | "string" | "number" | "parameter" | "symbol";
  /** UTF-16 indexes, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** The source text, in lower case for a word. */
  readonly text: string;
  /** Parentheses and brackets open around it; an opening one is inside itself, so is its closing one. */
  readonly depth: number;
}

const SPACE = /\s+|--[^\n]*/y;
const TOKEN =
  /(?<string>[eE]'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*(?:'|$))|(?<dollar>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|(?<parameter>\$\d+)|(?<quoted>(?:[uU]&)?"(?:[^"]|"")*(?:"|$))|(?<backtick>`(?:[^`]|``)*(?:`|$))|(?<number>(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)|(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|(?<symbol>::|:=|[\s\S])/uy;

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const blank = skipBlank(text, at);
    if (blank > at) {
      at = blank;
      continue;
    }
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text)!;
    const groups = match.groups!;
    let end = TOKEN.lastIndex;
    if (groups.dollar !== undefined) {
      const close = text.indexOf(groups.dollar, end);
      end = close < 0 ? text.length : close + groups.dollar.length;
    }
    const kind = kindOf(groups);
    const source = text.slice(at, end);
    if (source === "(" || source === "[") depth++;
    tokens.push({ kind, start: at, end, text: kind === "word" ? source.toLowerCase() : source, depth });
    if ((source === ")" || source === "]") && depth > 0) depth--;
    at = end;
  }
  return tokens;
}

function kindOf(groups: Readonly<Record<string, string | undefined>>): Token["kind"] {
  if (groups.dollar !== undefined) return "string";
  for (const kind of ["word", "symbol", "number", "string", "parameter", "quoted"] as const) {
    if (groups[kind] !== undefined) return kind;
  }
  return "backtick";
}

/** The index after white space and comments that begin at `from`. */
export function skipBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    SPACE.lastIndex = at;
    if (SPACE.test(text)) at = SPACE.lastIndex;
    else if (text.startsWith("/*", at)) at = endOfComment(text, at);
    else return at;
  }
}

/** Whether the first word of a statement is one of the pattern, which is sticky. */
export function beginsWith(text: string, words: RegExp): boolean {
  words.lastIndex = skipBlank(text, 0);
  return words.test(text);
}

/** Block comments nest in SQL. */
function endOfComment(text: string, from: number): number {
  let open = 0;
  for (let at = from; at < text.length; at++) {
    if (text.startsWith("/*", at)) {
      open++;
      at++;
    } else if (text.startsWith("*/", at)) {
      open--;
      at++;
      if (open === 0) return at + 1;
    }
  }
  return text.length;
}

export const isWord = (token: Token | undefined, ...words: string[]): boolean =>
  token !== undefined && token.kind === "word" && words.includes(token.text);
export const isSymbol = (token: Token | undefined, symbol: string): boolean =>
  token !== undefined && token.kind === "symbol" && token.text === symbol;
/** Whether it can stand for a name. */
export const isName = (token: Token | undefined): token is Token =>
  token !== undefined && ["word", "quoted", "backtick"].includes(token.kind);

/** What a word or a quoted name names. */
export function nameOf(token: Token): string {
  if (token.kind === "word") return token.text;
  const mark = token.text[0]!;
  return token.text.slice(1, -1).replaceAll(mark + mark, mark);
}

/** `t` or `s.t` from token `from` on; `next` is the index after it. Null when something else stands there. */
export function tableName(tokens: readonly Token[], from: number) {
  const path: string[] = [];
  let next = from;
  for (;;) {
    const token = tokens[next];
    if (!isName(token)) return null;
    path.push(nameOf(token));
    next++;
    if (!isSymbol(tokens[next], ".")) break;
    next++;
  }
  return { name: { path, position: 0 }, next };
}

/** What a quoted text says. */
export const stringValue = (token: Token) => token.text.slice(1, -1).replaceAll("''", "'");

/** A text in quotes, as `stringValue` reads it. */
export const quotedText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export interface TokenizedStatement {
  readonly text: string;
  readonly tokens: readonly Token[];
}

/** Of a statement that goes wrong at the token of that number, where something else was expected. */
export function syntaxErrorAt({ text, tokens }: TokenizedStatement, at: number, wanted: string): Error {
  const token = tokens[at];
  const near = token === undefined ? "at end of input" : `at or near "${token.text}"`;
  // Positions count characters, not UTF-16 units.
  const position = [...text.slice(0, token?.start ?? text.length)].length + 1;
  return sqlError("42601", `syntax error ${near}: expected ${wanted}`, { position });
}
