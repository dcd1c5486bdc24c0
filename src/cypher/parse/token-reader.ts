/**
 * Steps through the tokens of one text: looking, taking, and saying what was expected. The base of the parser's
 * classes.
 */
import { DbError } from "../../protocol/errors.js";
import { CYPHER_DEPTH_MAX } from "../../protocol/limits.js";
import type { Variable } from "./ast.js";
import { type TokenKind, tokenize } from "./lexer.js";
import { escapedName } from "./literals.js";
import { type SyntaxErrorDetail, syntaxError } from "./syntax-error.js";

/** Words that cannot name a variable without backquotes. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "AND AS CASE CONTAINS CREATE DELETE DETACH DISTINCT ELSE ENDS FALSE IN IS LIMIT MATCH MERGE NOT NULL OPTIONAL OR ORDER " +
    "REMOVE RETURN SET SKIP STARTS THEN TRUE UNION UNWIND WHEN WHERE WITH XOR"
  ).split(" "),
);

export abstract class TokenReader {
  protected readonly kinds: readonly TokenKind[];
  protected readonly keywords: readonly string[];
  private readonly starts: readonly number[];
  private readonly ends: readonly number[];
  /** Index of the next token. */
  protected at = 0;
  private depth = 0;

  constructor(protected readonly text: string) {
    const tokens = tokenize(text);
    this.kinds = tokens.kinds;
    this.keywords = tokens.keywords;
    this.starts = tokens.starts;
    this.ends = tokens.ends;
  }

  protected get kind(): TokenKind {
    return this.kinds[this.at]!;
  }

  /** The next token's keyword, or "". */
  protected get keyword(): string {
    return this.keywords[this.at]!;
  }

  /** Offset of a token; the next one's if none is named. */
  protected position(at = this.at): number {
    return this.starts[at]!;
  }

  /** Offset after a token. */
  protected end(at: number): number {
    return this.ends[at]!;
  }

  protected accept(kind: TokenKind): boolean {
    if (this.kinds[this.at] !== kind) return false;
    this.at++;
    return true;
  }

  protected expect(kind: TokenKind): void {
    if (!this.accept(kind)) throw this.expected(`"${kind}"`);
  }

  protected acceptKeyword(word: string): boolean {
    if (this.keywords[this.at] !== word) return false;
    this.at++;
    return true;
  }

  /** A word that means something in this place only, and is no keyword. */
  protected isNextWord(word: string): boolean {
    return this.kind === "word" && this.word().toUpperCase() === word;
  }

  protected acceptWord(word: string): boolean {
    if (!this.isNextWord(word)) return false;
    this.at++;
    return true;
  }

  protected expectWord(word: string): void {
    if (!this.acceptWord(word)) throw this.expected(word);
  }

  /** All of those keywords, or none. */
  protected acceptKeywords(...words: readonly string[]): boolean {
    if (!words.every((word, i) => this.keywords[this.at + i] === word)) return false;
    this.at += words.length;
    return true;
  }

  protected expectKeyword(word: string): void {
    if (!this.acceptKeyword(word)) throw this.expected(word);
  }

  /** The error for a next token that is not what the grammar wants. */
  protected expected(what: string, hint: string | null = null): DbError {
    const { kind } = this;
    const start = this.position();
    const found =
      kind === "end" ? "the end" : JSON.stringify(this.text.slice(start, Math.min(this.end(this.at), start + 40)));
    const mark = kind === "dash" || kind === "left" || kind === "right";
    const detail = mark ? "InvalidUnicodeCharacter" : "UnexpectedSyntax";
    const error = syntaxError(this.text, start, detail, `expected ${what}`, `, found ${found}`);
    return hint === null ? error : new DbError(error.code, error.message, { ...error.details, hint });
  }

  /** The next token as it is written. */
  protected word(at = this.at): string {
    return this.text.slice(this.position(at), this.end(at));
  }

  protected error(position: number, detail: SyntaxErrorDetail, message: string): DbError {
    return syntaxError(this.text, position, detail, message);
  }

  /** Every function that may call itself says so, and calls `leave` at its end. */
  protected enter(): void {
    if (++this.depth > CYPHER_DEPTH_MAX) throw this.tooDeep();
  }

  protected leave(): void {
    this.depth--;
  }

  protected tooDeep(): DbError {
    const message = `nesting is deeper than ${CYPHER_DEPTH_MAX} levels`;
    return this.error(this.position(), "UnexpectedSyntax", message);
  }

  protected isName(at: number): boolean {
    const kind = this.kinds[at];
    return kind === "word" || kind === "name";
  }

  /** Whether a token can name a variable. */
  protected isVariable(at = this.at): boolean {
    const kind = this.kinds[at];
    if (kind === "word") return this.keywords[at] === "" || !RESERVED.has(this.keywords[at]!);
    return kind === "name";
  }

  /** A name where keywords are as good as any: labels, types, keys, functions. */
  protected name(what: string): string {
    if (!this.isName(this.at)) throw this.expected(what);
    const at = this.at++;
    const source = this.text.slice(this.position(at), this.end(at));
    return this.kinds[at] === "name" ? escapedName(source) : source;
  }

  protected variable(): Variable {
    if (!this.isVariable()) throw this.expected("a variable");
    const position = this.position();
    return { kind: "variable", name: this.name("a variable"), position };
  }

  /** `a.b.c`. */
  protected dottedName(what: string): string {
    let name = this.name(what);
    while (this.accept(".")) name += `.${this.name(what)}`;
    return name;
  }

  /** One or more, with commas between. */
  protected commaList<T>(item: () => T): T[] {
    const items = [item()];
    while (this.accept(",")) items.push(item());
    return items;
  }
}
