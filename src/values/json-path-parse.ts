/**
 * Reads the text of a jsonpath: PostgreSQL's jsonpath_scan.l and jsonpath_gram.y as a scanner and a parser by
 * recursive descent. Called by text-format.ts. Keeps no state.
 */
import { type DbError, sqlError } from "../protocol/errors.js";
import {
  JsonPath,
  LEVEL_LAST,
  PATH_METHODS,
  type PathBinary,
  type PathItem,
  type PathMethod,
  type PathStep,
  type PathSubscript,
} from "./json-path.js";
import { Numeric } from "./numeric.js";

type TokenKind = "word" | "string" | "variable" | "number" | "integer" | "symbol" | "end";

interface Token {
  readonly kind: TokenKind;
  /** Of a word or string: without escapes; of a symbol: itself. */
  readonly text: string;
  /** A word spelled as a keyword: without escapes, in lower case; else empty. */
  readonly keyword: string;
  readonly start: number;
}

/** Paths nest at most so deep. */
const DEPTH_MAX = 500;

const SPECIAL = /[?%$.[\]{}()|&!=<>@#,*:\-+/\s\\"]/;
const NUMBER =
  /0[xX][0-9a-fA-F](?:_?[0-9a-fA-F])*|0[oO][0-7](?:_?[0-7])*|0[bB][01](?:_?[01])*|(?:(?:0|[1-9](?:_?\d)*)(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?/y;
const SYMBOL = /&&|\|\||==|!=|<>|<=|>=|\*\*|[?%$.[\]{}()|&!=<>@#,*:\-+/]/y;
/** Keywords that only their lower-case spelling is. */
const LOWER_ONLY = new Set(["null", "true", "false"]);

const syntaxError = (message: string, near: string): DbError =>
  sqlError(
    "42601",
    near === "" ? `${message} at end of jsonpath input` : `${message} at or near "${near}" of jsonpath input`,
  );

/** The path of a text. Throws 42601 and 22P02 for wrong syntax, 22P05 for U+0000. */
export function parseJsonPath(text: string): JsonPath {
  const tokens = scan(text);
  if (tokens.length === 1) throw sqlError("22P02", `invalid input syntax for type jsonpath: "${text}"`);
  return new Parser(text, tokens).run();
}

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at] as string;
    const start = at;
    if (/\s/.test(character)) {
      at++;
    } else if (text.startsWith("/*", at)) {
      const end = text.indexOf("*/", at + 2);
      if (end < 0) throw syntaxError("unexpected end of comment", "");
      at = end + 2;
    } else if (character === '"') {
      const { value, end } = scanQuoted(text, at);
      tokens.push({ kind: "string", text: value, keyword: "", start });
      at = end;
    } else if (/\d/.test(character) || (character === "." && /\d/.test(text[at + 1] ?? ""))) {
      at = scanNumber(text, at, tokens);
    } else if (character === "$" && text[at + 1] === '"') {
      const { value, end } = scanQuoted(text, at + 1);
      tokens.push({ kind: "variable", text: value, keyword: "", start });
      at = end;
    } else if (
      character === "$" &&
      at + 1 < text.length &&
      (!SPECIAL.test(text[at + 1] as string) || text[at + 1] === "\\")
    ) {
      const { value, end } = scanWord(text, at + 1);
      tokens.push({ kind: "variable", text: value, keyword: "", start });
      at = end;
    } else if (!SPECIAL.test(character) || character === "\\") {
      const { value, end } = scanWord(text, at);
      const lower = value.toLowerCase();
      const isWord = end - at === value.length && (value === lower || !LOWER_ONLY.has(lower));
      tokens.push({ kind: "word", text: value, keyword: isWord ? lower : "", start });
      at = end;
    } else {
      SYMBOL.lastIndex = at;
      const symbol = (SYMBOL.exec(text) as RegExpExecArray)[0];
      tokens.push({ kind: "symbol", text: symbol === "<>" ? "!=" : symbol, keyword: "", start });
      at += symbol.length;
    }
  }
  tokens.push({ kind: "end", text: "", keyword: "", start: text.length });
  return tokens;
}

function scanNumber(text: string, start: number, tokens: Token[]): number {
  NUMBER.lastIndex = start;
  const number = (NUMBER.exec(text) as RegExpExecArray)[0];
  const end = start + number.length;
  const next = text[end] ?? "";
  if (next !== "" && !SPECIAL.test(next)) {
    const failed =
      /^[eE]$/.test(next) && /^[+-]?(?!\d)/.test(text.slice(end + 1)) && SPECIAL.test(text[end + 1] ?? " ");
    const message =
      failed && text[end + 1] !== undefined ? "invalid numeric literal" : "trailing junk after numeric literal";
    throw syntaxError(message, text.slice(start, end + 1));
  }
  const digits = number.replaceAll("_", "");
  const kind = /^\d+$|^0[xob]/i.test(digits) ? "integer" : "number";
  tokens.push({ kind, text: /^0[xob]/i.test(digits) ? BigInt(digits).toString() : digits, keyword: "", start });
  return end;
}

function scanWord(text: string, start: number): { value: string; end: number } {
  let value = "";
  let at = start;
  while (at < text.length) {
    const character = text[at] as string;
    if (character === "\\") {
      const escaped = scanEscape(text, at, value);
      value = escaped.value;
      at = escaped.end;
    } else if (SPECIAL.test(character)) break;
    else {
      value += character;
      at++;
    }
  }
  return { value, end: at };
}

function scanQuoted(text: string, start: number): { value: string; end: number } {
  let value = "";
  let at = start + 1;
  for (;;) {
    const character = text[at];
    if (character === undefined) throw syntaxError("unterminated quoted string", text.slice(start));
    if (character === '"') return { value, end: at + 1 };
    if (character === "\\") {
      const escaped = scanEscape(text, at, value);
      value = escaped.value;
      at = escaped.end;
    } else {
      value += character;
      at++;
    }
  }
}

const CONTROL: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** The text so far and the escape at `at`. */
function scanEscape(text: string, at: number, before: string): { value: string; end: number } {
  const kind = text[at + 1];
  if (kind === undefined) throw syntaxError("unexpected end after backslash", "");
  if (kind === "x") {
    const digits = /^[0-9a-fA-F]{2}/.exec(text.slice(at + 2));
    if (digits === null) throw syntaxError("invalid hexadecimal character sequence", text.slice(at, at + 4));
    return { value: appendCode(before, Number.parseInt(digits[0], 16)), end: at + 4 };
  }
  if (kind === "u") {
    const digits = /^(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,6})\})/.exec(text.slice(at + 2));
    if (digits === null) throw syntaxError("invalid Unicode escape sequence", text.slice(at, at + 6));
    const code = Number.parseInt((digits[1] ?? digits[2]) as string, 16);
    const value = appendCode(before, code);
    const end = at + 2 + digits[0].length;
    if (isHigh(code) && !/^\\u\{?[dD][c-fC-F]/.test(text.slice(end))) throw surrogateError("low");
    return { value, end };
  }
  const width = (text.codePointAt(at + 1) as number) > 0xffff ? 2 : 1;
  return { value: before + (CONTROL[kind] ?? text.slice(at + 1, at + 1 + width)), end: at + 1 + width };
}

const isHigh = (code: number) => code >= 0xd800 && code <= 0xdbff;

function surrogateError(which: "low" | "high"): DbError {
  return sqlError("22P02", "invalid input syntax for type jsonpath", {
    detail:
      which === "low"
        ? "Unicode low surrogate must follow a high surrogate."
        : "Unicode high surrogate must not follow a high surrogate.",
  });
}

function appendCode(before: string, code: number): string {
  if (code === 0) {
    throw sqlError("22P05", "unsupported Unicode escape sequence", { detail: "\\u0000 cannot be converted to text." });
  }
  const last = before.charCodeAt(before.length - 1);
  if (isHigh(last) && isHigh(code)) throw surrogateError("high");
  if (code >= 0xdc00 && code <= 0xdfff && !isHigh(last)) throw surrogateError("low");
  if (code > 0x10ffff) throw syntaxError("invalid Unicode escape sequence", code.toString(16));
  return before + (code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code));
}

/** What a piece of a path is: a value or a condition. */
interface Piece {
  readonly item: PathItem;
  readonly predicate: boolean;
  /** A condition in parentheses or EXISTS: what `!` may stand before. */
  readonly delimited: boolean;
}

const value = (item: PathItem): Piece => ({ item, predicate: false, delimited: false });
const condition = (item: PathItem, delimited = false): Piece => ({ item, predicate: true, delimited });
const single = (step: PathStep): PathItem => Object.freeze({ ...step, next: null });

/** One item followed by another. */
function chained(item: PathItem, tail: PathItem): PathItem {
  return Object.freeze({ ...item, next: item.next === null ? tail : chained(item.next, tail) });
}

const COMPARISONS = ["==", "!=", "<", ">", "<=", ">="];

class Parser {
  private at = 0;
  private depth = 0;
  /** How many filters, and how many subscripts, enclose the current token. */
  private filters = 0;
  private subscripts = 0;

  constructor(
    private readonly source: string,
    private readonly tokens: readonly Token[],
  ) {}

  run(): JsonPath {
    let lax = true;
    const mode = this.peek().keyword;
    if (mode === "strict" || mode === "lax") {
      lax = mode === "lax";
      this.at++;
    }
    const { item } = this.or();
    if (this.peek().kind !== "end") throw this.unexpected();
    return new JsonPath(item, lax);
  }

  private peek(ahead = 0): Token {
    return this.tokens[Math.min(this.at + ahead, this.tokens.length - 1)] as Token;
  }

  private isSymbol(text: string): boolean {
    const token = this.peek();
    return token.kind === "symbol" && token.text === text;
  }

  private accept(text: string): boolean {
    if (!this.isSymbol(text)) return false;
    this.at++;
    return true;
  }

  private expect(text: string): void {
    if (!this.accept(text)) throw this.unexpected();
  }

  private acceptWord(...words: readonly string[]): boolean {
    if (!words.every((word, i) => this.peek(i).keyword === word)) return false;
    this.at += words.length;
    return true;
  }

  private unexpected(): DbError {
    const token = this.peek();
    const end = this.peek(1).start;
    return syntaxError("syntax error", token.kind === "end" ? "" : this.source.slice(token.start, end).trim());
  }

  private or(): Piece {
    return this.logical("||", () => this.logical("&&", () => this.not()));
  }

  private logical(name: "&&" | "||", operand: () => Piece): Piece {
    let left = operand();
    while (this.isSymbol(name)) {
      if (!left.predicate) throw this.unexpected();
      this.at++;
      const right = operand();
      if (!right.predicate) throw this.unexpected();
      left = condition(single({ op: "binary", name, left: left.item, right: right.item }));
    }
    return left;
  }

  private not(): Piece {
    if (!this.accept("!")) return this.comparison();
    const input = this.primary();
    if (!input.delimited) throw this.unexpected();
    return condition(single({ op: "not", input: input.item }));
  }

  private comparison(): Piece {
    const left = this.additive();
    const token = this.peek();
    if (token.kind === "symbol" && COMPARISONS.includes(token.text)) {
      if (left.predicate) throw this.unexpected();
      this.at++;
      const right = this.valueOf(() => this.additive());
      return condition(single({ op: "binary", name: token.text as PathBinary, left: left.item, right }));
    }
    if (left.predicate) return left;
    if (this.acceptWord("starts", "with")) {
      const initial = this.peek();
      if (initial.kind !== "string" && initial.kind !== "variable") throw this.unexpected();
      this.at++;
      const right = single({ op: initial.kind, text: initial.text });
      return condition(single({ op: "starts with", left: left.item, right }));
    }
    if (this.acceptWord("like_regex")) return this.likeRegex(left.item);
    return left;
  }

  private likeRegex(input: PathItem): Piece {
    const pattern = this.string();
    let flags = "";
    if (this.acceptWord("flag")) {
      for (const flag of this.string()) {
        if (!"ismxq".includes(flag)) {
          throw sqlError("42601", "invalid input syntax for type jsonpath", {
            detail: `Unrecognized flag character "${flag}" in LIKE_REGEX predicate.`,
          });
        }
        if (!flags.includes(flag)) flags += flag;
      }
      flags = [..."ismxq"].filter((flag) => flags.includes(flag)).join("");
    }
    if (flags.includes("x") && !flags.includes("q")) {
      throw sqlError("0A000", 'XQuery "x" flag (expanded regular expressions) is not implemented');
    }
    return condition(single({ op: "like_regex", input, pattern, flags }));
  }

  private string(): string {
    const token = this.peek();
    if (token.kind !== "string") throw this.unexpected();
    this.at++;
    return token.text;
  }

  private valueOf(parse: () => Piece): PathItem {
    const piece = parse();
    if (piece.predicate) throw this.unexpected();
    return piece.item;
  }

  private additive(): Piece {
    return this.arithmetic(["+", "-"], () => this.arithmetic(["*", "/", "%"], () => this.unary()));
  }

  private arithmetic(names: readonly PathBinary[], operand: () => Piece): Piece {
    let left = operand();
    for (;;) {
      const name = names.find((symbol) => this.isSymbol(symbol));
      if (name === undefined || left.predicate) return left;
      this.at++;
      left = value(single({ op: "binary", name, left: left.item, right: this.valueOf(operand) }));
    }
  }

  private unary(): Piece {
    const name = this.isSymbol("-") ? "-" : this.isSymbol("+") ? "+" : null;
    if (name === null) return this.primary();
    this.at++;
    this.enter();
    const input = this.valueOf(() => this.unary());
    this.depth--;
    if (input.op === "number" && input.next === null) {
      return value(name === "+" ? input : single({ op: "number", value: input.value.negate() }));
    }
    return value(single({ op: "unary", name, input }));
  }

  private enter(): void {
    if (++this.depth > DEPTH_MAX) throw sqlError("54001", "stack depth limit exceeded");
  }

  private primary(): Piece {
    if (this.peek().keyword === "exists" && this.peek(1).text === "(") {
      this.at += 2;
      const input = this.nested(() => this.valueOf(() => this.or()));
      this.expect(")");
      return this.withAccessors(condition(single({ op: "exists", input }), true), true);
    }
    if (this.accept("(")) {
      const inner = this.nested(() => this.or());
      this.expect(")");
      if (inner.predicate && this.acceptWord("is", "unknown")) {
        return condition(single({ op: "is unknown", input: inner.item }));
      }
      return this.withAccessors({ ...inner, delimited: inner.predicate }, true);
    }
    return this.withAccessors(value(this.scalar()), false);
  }

  private nested<T>(parse: () => T): T {
    this.enter();
    const result = parse();
    this.depth--;
    return result;
  }

  private scalar(): PathItem {
    const token = this.peek();
    this.at++;
    switch (token.kind) {
      case "string":
      case "variable":
        return single({ op: token.kind, text: token.text });
      case "integer":
      case "number":
        return single({ op: "number", value: Numeric.parse(token.text) });
      case "symbol":
        if (token.text === "$") return single({ op: "root" });
        if (token.text === "@") {
          if (this.filters === 0) throw sqlError("42601", "@ is not allowed in root expressions");
          return single({ op: "current" });
        }
        break;
      case "word":
        if (token.keyword === "null") return single({ op: "null" });
        if (token.keyword === "true" || token.keyword === "false") {
          return single({ op: "bool", value: token.keyword === "true" });
        }
        if (token.keyword === "last") {
          if (this.subscripts === 0) throw sqlError("42601", "LAST is allowed only in array subscripts");
          return single({ op: "last" });
        }
        break;
      default:
        break;
    }
    this.at--;
    throw this.unexpected();
  }

  /** What follows an item: keys, subscripts, filters, methods. Behind a condition they make a value of it. */
  private withAccessors(piece: Piece, inParentheses: boolean): Piece {
    let { item } = piece;
    let any = false;
    for (;;) {
      const next = this.accessor();
      if (next === null) break;
      item = chained(item, single(next));
      any = true;
    }
    if (!any) return inParentheses ? piece : value(item);
    return value(item);
  }

  private accessor(): PathStep | null {
    if (this.accept(".")) return this.member();
    if (this.accept("[")) return this.subscript();
    if (!this.accept("?")) return null;
    this.expect("(");
    this.filters++;
    const inner = this.nested(() => this.or());
    if (!inner.predicate) throw this.unexpected();
    this.filters--;
    this.expect(")");
    return { op: "filter", input: inner.item };
  }

  private subscript(): PathStep {
    if (this.accept("*")) {
      this.expect("]");
      return { op: "anyarray" };
    }
    const subscripts: PathSubscript[] = [];
    this.subscripts++;
    do {
      const from = this.nested(() => this.valueOf(() => this.or()));
      const to = this.acceptWord("to") ? this.nested(() => this.valueOf(() => this.or())) : null;
      subscripts.push({ from, to });
    } while (this.accept(","));
    this.subscripts--;
    this.expect("]");
    return { op: "index", subscripts };
  }

  private member(): PathStep {
    if (this.accept("*")) return { op: "anykey" };
    if (this.accept("**")) return this.anyPath();
    const token = this.peek();
    if (token.kind !== "word" && token.kind !== "string") throw this.unexpected();
    this.at++;
    const method = PATH_METHODS.find((name) => name === token.keyword);
    if (method !== undefined && this.accept("(")) return this.method(method);
    return { op: "key", text: token.text };
  }

  private anyPath(): PathStep {
    if (!this.accept("{")) return { op: "any", first: 0, last: LEVEL_LAST };
    const first = this.level();
    const last = this.acceptWord("to") ? this.level() : first;
    this.expect("}");
    return { op: "any", first, last };
  }

  private level(): number {
    if (this.acceptWord("last")) return LEVEL_LAST;
    const token = this.peek();
    if (token.kind !== "integer" || Number(token.text) >= LEVEL_LAST) throw this.unexpected();
    this.at++;
    return Number(token.text);
  }

  /** `datetime` takes a template, `decimal` a precision and a scale, the times a precision. */
  private method(name: PathMethod): PathStep {
    const args: PathItem[] = [];
    const most = name === "decimal" ? 2 : name === "datetime" || name.startsWith("time") ? 1 : 0;
    while (args.length < most && !this.isSymbol(")")) {
      if (args.length > 0) this.expect(",");
      args.push(name === "datetime" ? this.template() : this.integer(name === "decimal"));
    }
    this.expect(")");
    return { op: "method", name, args };
  }

  private template(): PathItem {
    return single({ op: "string", text: this.string() });
  }

  private integer(signed: boolean): PathItem {
    const negative = signed && this.accept("-");
    if (!negative && signed) this.accept("+");
    const token = this.peek();
    if (token.kind !== "integer") throw this.unexpected();
    this.at++;
    const number = Numeric.parse(token.text);
    return single({ op: "number", value: negative ? number.negate() : number });
  }
}
