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
const BARE_KEY = /((?:[^ \t\n\r\f=,"\\]|\\.|=(?!>))(?:[^ \t\n\r\f=,\\]|\\.|=(?!>))*)/sy;
const BARE_VALUE = /((?:[^ \t\n\r\f,"\\]|\\.)(?:[^ \t\n\r\f,\\]|\\.)*)/sy;
const BLANKS = /[ \t\n\r\f]*/y;

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

/** The bytes in which PostgreSQL keeps a map: how many pairs, where each key and value ends, and their characters. */
function storedForm(pairs: Pairs): { readonly head: Buffer; readonly characters: Buffer } {
  const head = Buffer.alloc(4 + 8 * pairs.size);
  head.writeUInt32LE((pairs.size | NEW_FORM) >>> 0);
  const parts: Buffer[] = [];
  let end = 0;
  let at = 4;
  const place = (part: string | null, mark: number) => {
    const bytes = Buffer.from(part ?? "");
    parts.push(bytes);
    end += bytes.length;
    head.writeUInt32LE((end | mark | (part === null ? WITHOUT_VALUE : 0)) >>> 0, at);
    at += 4;
  };
  for (const [key, value] of pairs) {
    place(key, parts.length === 0 ? FIRST_ENTRY : 0);
    place(value, 0);
  }
  return { head, characters: Buffer.concat(parts) };
}

const NEW_FORM = 0x80000000;
const FIRST_ENTRY = 0x80000000;
const WITHOUT_VALUE = 0x40000000;

/** What PostgreSQL's hash of a map is made of. */
export function hstoreBytes(text: string): Buffer {
  const { head, characters } = storedForm(pairsOf(text));
  return Buffer.concat([head, characters]);
}

/** The order of PostgreSQL's `#<#` and B-trees, which has no meaning. */
export function compareHstores(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [pairsOf(a), pairsOf(b)];
  if (left.size === 0 || right.size === 0) return left.size - right.size;
  const [ours, theirs] = [storedForm(left), storedForm(right)];
  const byCharacters = Buffer.compare(ours.characters, theirs.characters);
  if (byCharacters !== 0) return byCharacters;
  if (left.size !== right.size) return left.size - right.size;
  for (let at = 4; at < ours.head.length; at += 4) {
    const [one, other] = [ours.head.readUInt32LE(at), theirs.head.readUInt32LE(at)];
    const byEnd = (one & END_BITS) - (other & END_BITS);
    if (byEnd !== 0) return byEnd;
    const byValue = (one & WITHOUT_VALUE) - (other & WITHOUT_VALUE);
    if (byValue !== 0) return byValue;
  }
  return 0;
}

const END_BITS = 0x3fffffff;
