/**
 * hstore, a map of texts, which is held as PostgreSQL prints it: `"a"=>"1", "bb"=>NULL`, shorter keys first, then by
 * their bytes. Equal maps have equal texts. Called by the formats and the functions of expressions.
 */
import { sqlError } from "../protocol/errors.js";

/** Null: the key is there without a value. */
export type Pairs = ReadonlyMap<string, string | null>;

const quoted = (text: string) => `"${text.replace(/["\\]/g, "\\$&")}"`;

export function hstoreText(pairs: Pairs): string {
  const keys = Array.from(pairs.keys(), (key) => ({ key, bytes: Buffer.from(key) }));
  keys.sort((a, b) => a.bytes.length - b.bytes.length || Buffer.compare(a.bytes, b.bytes));
  return textInOrder(keys.map(({ key }) => [key, pairs.get(key)!]));
}

/** Of pairs that are in the order of their keys. */
export const textInOrder = (pairs: readonly (readonly [string, string | null])[]): string =>
  pairs.map(([key, value]) => `${quoted(key)}=>${value === null ? "NULL" : quoted(value)}`).join(", ");

const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const BARE_KEY = /((?:[^\s=,"\\]|\\.|=(?!>))(?:[^\s=,\\]|\\.|=(?!>))*)/sy;
const BARE_VALUE = /((?:[^\s,"\\]|\\.)(?:[^\s,\\]|\\.)*)/sy;
const BLANKS = /\s*/y;

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  /** A key that comes twice has its first value. Throws 42601. */
  pairs(): Pairs {
    const pairs = new Map<string, string | null>();
    this.skip();
    while (this.at < this.text.length) {
      const key = this.take(QUOTED) ?? this.take(BARE_KEY);
      if (key === null) throw this.wrong(true);
      this.skip();
      if (!this.text.startsWith("=>", this.at)) throw this.wrong();
      this.at += 2;
      this.skip();
      const value = this.value();
      if (!pairs.has(key)) pairs.set(key, value);
      this.skip();
      if (this.at >= this.text.length) break;
      if (this.text[this.at] !== ",") throw this.wrong();
      this.at++;
      this.skip();
    }
    return pairs;
  }

  private value(): string | null {
    const inQuotes = this.take(QUOTED);
    if (inQuotes !== null) return inQuotes;
    const start = this.at;
    const bare = this.take(BARE_VALUE);
    if (bare === null) throw this.wrong(true);
    return /^null$/i.test(this.text.slice(start, this.at)) ? null : bare;
  }

  private take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) return null;
    this.at = pattern.lastIndex;
    return match[1]!.replace(/\\(.)/gs, "$1");
  }

  private skip(): void {
    BLANKS.lastIndex = this.at;
    BLANKS.exec(this.text);
    this.at = BLANKS.lastIndex;
  }

  /** `isText`: of a key or value. */
  private wrong(isText = false): Error {
    // Of a text that begins with a quotation mark, the other one is missing.
    if (this.at >= this.text.length || (isText && this.text[this.at] === '"')) {
      return sqlError("42601", "syntax error in hstore: unexpected end of string");
    }
    return sqlError("42601", `syntax error in hstore, near "${this.text[this.at]}" at position ${this.at}`);
  }
}

export const pairsOf = (text: string): Pairs => new Reader(text).pairs();
export const hstoreFromText = (text: string): string => hstoreText(pairsOf(text));
