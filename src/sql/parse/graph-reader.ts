/**
 * Reads tokens of SQL/PGQ, which PostgreSQL's grammar does not know. Extended by graph-table.ts and property-graph.ts.
 */
import { sqlError } from "../../protocol/errors.js";
import type { NameNode, TargetNode } from "./ast-query.js";
import { nameOf, type Token } from "./tokens.js";

/** The select list that stands between two indexes of the client's text. */
export type TargetsAt = (start: number, end: number) => readonly TargetNode[];

export abstract class GraphReader {
  protected at = 0;

  /** `positionOf`: the 1-based character position of an index in the text. */
  constructor(
    protected readonly tokens: readonly Token[],
    private readonly positionOf: (index: number) => number,
    private readonly targetsAt: TargetsAt,
    /** The index after the last token. */
    private readonly end: number,
  ) {}

  protected get position(): number {
    return this.positionOf(this.tokens[this.at]?.start ?? this.end);
  }

  protected isWord(word: string, ahead = 0): boolean {
    const token = this.tokens[this.at + ahead];
    return token?.kind === "word" && token.text === word;
  }

  protected isSymbol(symbol: string, ahead = 0): boolean {
    const token = this.tokens[this.at + ahead];
    return token?.kind === "symbol" && token.text === symbol;
  }

  protected acceptWord(word: string): boolean {
    const found = this.isWord(word);
    if (found) this.at++;
    return found;
  }

  protected acceptWords(...words: string[]): boolean {
    const found = words.every((word, i) => this.isWord(word, i));
    if (found) this.at += words.length;
    return found;
  }

  protected accept(symbol: string): boolean {
    const found = this.isSymbol(symbol);
    if (found) this.at++;
    return found;
  }

  protected expect(symbol: string): void {
    if (!this.accept(symbol)) throw this.unexpected();
  }

  protected expectWord(word: string): void {
    if (!this.acceptWord(word)) throw this.unexpected();
  }

  protected unexpected(): Error {
    const token = this.tokens[this.at];
    const { position } = this;
    if (token === undefined) return sqlError("42601", "syntax error at end of input", { position });
    return sqlError("42601", `syntax error at or near "${token.text}"`, { position });
  }

  protected unsupported(what: string, hint?: string): Error {
    return sqlError("0A000", `${what} is not supported`, {
      position: this.position,
      ...(hint !== undefined && { hint }),
    });
  }

  protected isName(ahead = 0): boolean {
    const kind = this.tokens[this.at + ahead]?.kind;
    return kind === "word" || kind === "quoted" || kind === "backtick";
  }

  protected name(): string {
    if (!this.isName()) throw this.unexpected();
    return nameOf(this.tokens[this.at++]!);
  }

  /** `t`, `s.t`. */
  protected qualifiedName(): NameNode {
    const { position } = this;
    const path = [this.name()];
    while (this.accept(".")) path.push(this.name());
    return { path, position };
  }

  protected commaList<T>(item: () => T): T[] {
    const items = [item()];
    while (this.accept(",")) items.push(item());
    return items;
  }

  protected parenthesized<T>(item: () => T): T[] {
    this.expect("(");
    const items = this.commaList(item);
    this.expect(")");
    return items;
  }

  /** The token index of the bracket that closes the one at `open`. */
  protected closing(open: number): number {
    const { depth } = this.tokens[open]!;
    for (let i = open + 1; i < this.tokens.length; i++) {
      const token = this.tokens[i]!;
      if (token.depth === depth && token.kind === "symbol" && (token.text === ")" || token.text === "]")) return i;
    }
    this.at = this.tokens.length;
    throw this.unexpected();
  }

  /** The select list up to the token `close`, which comes next then. */
  protected targetsUntil(close: number): readonly TargetNode[] {
    const first = this.tokens[this.at];
    if (first === undefined || this.at >= close) throw this.unexpected();
    const targets = this.targetsAt(first.start, this.tokens[close - 1]!.end);
    this.at = close;
    return targets;
  }
}
