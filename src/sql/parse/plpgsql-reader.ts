/** Reads tokens of a PL/pgSQL body: words, names, and pieces of SQL up to where they end. Used by plpgsql-parser.ts. */
import { sqlError } from "../../protocol/errors.js";
import type { PlSql } from "./plpgsql-ast.js";
import { type Token, tokenize } from "./tokens.js";

export class PlReader {
  protected readonly tokens: readonly Token[];
  protected at = 0;
  readonly expressions: PlSql[] = [];
  readonly statements: PlSql[] = [];

  constructor(protected readonly text: string) {
    this.tokens = tokenize(text);
  }

  protected get token(): Token | undefined {
    return this.tokens[this.at];
  }

  protected peek(ahead = 1): Token | undefined {
    return this.tokens[this.at + ahead];
  }

  protected line(token = this.token): number {
    return this.text.slice(0, token?.start ?? this.text.length).split("\n").length;
  }

  protected isWord(word: string, token = this.token): boolean {
    return token?.kind === "word" && token.text === word;
  }

  protected isSymbol(symbol: string, token = this.token): boolean {
    return token?.kind === "symbol" && token.text === symbol;
  }

  protected acceptWord(...words: readonly string[]): boolean {
    if (!words.every((word, i) => this.isWord(word, this.peek(i)))) return false;
    this.at += words.length;
    return true;
  }

  protected acceptSymbol(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.at++;
    return true;
  }

  protected expectWord(word: string): void {
    if (!this.acceptWord(word)) throw this.unexpected();
  }

  protected expectSymbol(symbol: string): void {
    if (!this.acceptSymbol(symbol)) throw this.unexpected();
  }

  /** Throws 42601 as the grammar does. */
  protected unexpected(token = this.token): Error {
    if (token === undefined) return sqlError("42601", "syntax error at end of input");
    return sqlError("42601", `syntax error at or near "${this.text.slice(token.start, token.end)}"`);
  }

  /** A name: quoted ones keep their case. */
  protected name(): string {
    const { token } = this;
    if (token === undefined || (token.kind !== "word" && token.kind !== "quoted")) throw this.unexpected();
    this.at++;
    return token.kind === "quoted" ? token.text.slice(1, -1).replaceAll('""', '"') : token.text;
  }

  /** The value of a string literal, with or without dollars. */
  protected stringLiteral(): string {
    const { token } = this;
    if (token?.kind !== "string") throw this.unexpected();
    this.at++;
    return stringValue(token.text);
  }

  /**
   * Index of the first token from here that ends a piece of SQL: a word of those, or the semicolon, in no parentheses.
   */
  protected endOf(words: readonly string[], symbols: readonly string[] = [";"], from = this.at): number {
    const depth = this.tokens[from]?.depth ?? 0;
    const opens = this.isSymbol("(", this.tokens[from]) || this.isSymbol("[", this.tokens[from]);
    const level = opens ? depth - 1 : depth;
    // BEGIN ATOMIC … END, the body of a function that the piece makes, has semicolons; CASE has an END, too.
    let blocks = 0;
    for (let i = from; i < this.tokens.length; i++) {
      const token = this.tokens[i]!;
      const begins = this.isWord("begin", token) && this.isWord("atomic", this.tokens[i + 1]);
      if (begins || (blocks > 0 && this.isWord("case", token))) blocks++;
      else if (blocks > 0 && this.isWord("end", token)) blocks--;
      if (begins || blocks > 0) continue;
      const outside = token.depth <= level;
      if (outside && token.kind === "symbol" && symbols.includes(token.text)) return i;
      if (outside && token.kind === "word" && words.includes(token.text)) return i;
      if (token.depth === level + 1 && symbols.includes(token.text) && (token.text === ")" || token.text === "]")) {
        // A closing bracket is inside itself; one that was not opened here ends the piece.
        if (!opensBefore(this.tokens, from, i)) return i;
      }
    }
    throw this.unexpected(this.tokens[this.tokens.length]);
  }

  /** The text up to a token, which is not read. */
  protected until(end: number, what: "expression" | "statement" = "expression"): PlSql {
    const first = this.token;
    if (first === undefined || end <= this.at) {
      if (end === this.at && first !== undefined) throw sqlError("42601", "missing expression");
      throw this.unexpected();
    }
    const sql: PlSql = { text: this.text.slice(first.start, this.tokens[end - 1]!.end), line: this.line(first) };
    (what === "expression" ? this.expressions : this.statements).push(sql);
    this.at = end;
    return sql;
  }

  /** Expressions between commas up to a token. */
  protected list(end: number): PlSql[] {
    const items: PlSql[] = [];
    while (this.at < end) {
      const comma = Math.min(end, this.endOf([], [",", ";"]));
      items.push(this.until(Math.min(comma, end)));
      if (this.at < end) this.expectSymbol(",");
    }
    return items;
  }
}

function opensBefore(tokens: readonly Token[], from: number, to: number): boolean {
  let open = 0;
  for (let i = from; i < to; i++) {
    const { kind, text } = tokens[i]!;
    if (kind !== "symbol") continue;
    if (text === "(" || text === "[") open++;
    if (text === ")" || text === "]") open--;
  }
  return open > 0;
}

/** What a literal says. */
export function stringValue(literal: string): string {
  const dollar = /^(\$[^$]*\$)([\s\S]*)\1$/.exec(literal);
  if (dollar !== null) return dollar[2]!;
  const quote = literal.indexOf("'");
  const inner = literal.slice(quote + 1, -1).replaceAll("''", "'");
  if (!/^e/i.test(literal)) return inner;
  const named: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };
  return inner.replace(/\\(.)/gs, (_, char: string) => named[char] ?? char);
}
