/** Reads ranges and multiranges as people write them. Called by text-format.ts. */
import { sqlError } from "../protocol/errors.js";
import {
  type Bound,
  EMPTY,
  type MultirangeKey,
  makeRange,
  mergedRanges,
  multirangeKeyOf,
  multirangeText,
  type Range,
  type RangeKey,
  rangeKeyOf,
  rangeOfMultirange,
  rangeText,
  subtypeOf,
} from "./range.js";
import { type SqlType, typeOf } from "./values.js";

/** Reads a bound's text as a value of the range's subtype. */
type ReadBound = (text: string) => Bound;

/** A range or multirange of the type, as people write it; `read` reads a bound as a value of that type. */
export function rangeValueFromText(
  type: SqlType,
  text: string,
  read: (subtype: SqlType, bound: string) => Bound,
): string {
  const reader = (range: RangeKey): ReadBound => {
    const subtype = typeOf(subtypeOf(range));
    return (bound) => read(subtype, bound);
  };
  const [range, list] = [rangeKeyOf(type), multirangeKeyOf(type)];
  if (range !== null) return rangeFromText(range, text, reader(range));
  return multirangeFromText(list!, text, reader(rangeOfMultirange(list!)));
}

const BLANK = /\s/;

/** Throws 22P02 for what is no range, 22000 for bounds in the wrong order, and what `read` throws. */
function rangeFromText(name: RangeKey, text: string, read: ReadBound): string {
  return rangeText(name, new RangeReader(text).range(name, read));
}

/** The same for `{range, …}`. */
function multirangeFromText(name: MultirangeKey, text: string, read: ReadBound): string {
  const malformed = (detail: string) => sqlError("22P02", `malformed multirange literal: "${text}"`, { detail });
  const ranges: Range[] = [];
  let at = skipBlanks(text, 0);
  if (text[at] !== "{") throw malformed("Missing left brace.");
  at = skipBlanks(text, at + 1);
  while (text[at] !== "}") {
    const end = rangeEnd(text, at);
    if (end === null) throw malformed(at < text.length ? "Expected range start." : "Unexpected end of input.");
    if (end > text.length) throw malformed("Unexpected end of input.");
    ranges.push(new RangeReader(text.slice(at, end)).range(rangeOfMultirange(name), read));
    at = skipBlanks(text, end);
    if (text[at] === "}") break;
    if (at >= text.length) throw malformed("Unexpected end of input.");
    if (text[at] !== ",") throw malformed("Expected comma or end of multirange.");
    at = skipBlanks(text, at + 1);
    if (text[at] === "}") throw malformed("Expected range start.");
  }
  if (skipBlanks(text, at + 1) < text.length) throw malformed("Junk after closing right brace.");
  return multirangeText(name, mergedRanges(ranges));
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && BLANK.test(text[at]!)) at++;
  return at;
}

/** Behind the range that begins there; beyond the text where it does not end. Null: no range begins there. */
function rangeEnd(text: string, from: number): number | null {
  if (/^empty/i.test(text.slice(from, from + 5))) return from + 5;
  if (text[from] !== "[" && text[from] !== "(") return null;
  let inQuotes = false;
  for (let at = from + 1; at < text.length; at++) {
    const character = text[at]!;
    if (character === "\\") at++;
    else if (character === '"') inQuotes = !inQuotes;
    else if (!inQuotes && (character === "]" || character === ")")) return at + 1;
  }
  return text.length + 1;
}

class RangeReader {
  private at = 0;

  constructor(private readonly text: string) {}

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private malformed(detail: string): Error {
    return sqlError("22P02", `malformed range literal: "${this.text}"`, { detail });
  }

  range(name: RangeKey, read: ReadBound): Range {
    this.at = skipBlanks(this.text, 0);
    if (/^empty/i.test(this.text.slice(this.at, this.at + 5))) {
      this.at += 5;
      this.end('Junk after "empty" key word.');
      return EMPTY;
    }
    const lowerInc = this.take("[");
    if (!lowerInc && !this.take("(")) throw this.malformed("Missing left parenthesis or bracket.");
    const lower = this.bound();
    if (!this.take(",")) throw this.malformed("Missing comma after lower bound.");
    const upper = this.bound();
    const upperInc = this.take("]");
    if (!upperInc && !this.take(")")) throw this.malformed("Too many commas.");
    this.end("Junk after right parenthesis or bracket.");
    const value = (text: string | null) => (text === null ? null : read(text));
    return makeRange(name, value(lower), value(upper), lowerInc, upperInc);
  }

  private end(detail: string): void {
    if (skipBlanks(this.text, this.at) < this.text.length) throw this.malformed(detail);
  }

  /** Null: nothing is there. */
  private bound(): string | null {
    if (this.text[this.at] === "," || this.text[this.at] === ")" || this.text[this.at] === "]") return null;
    let value = "";
    let inQuotes = false;
    for (;;) {
      const character = this.text[this.at];
      if (character === undefined) throw this.malformed("Unexpected end of input.");
      if (!inQuotes && /[,)\]]/.test(character)) return value;
      this.at++;
      if (character === "\\") {
        if (this.at >= this.text.length) throw this.malformed("Unexpected end of input.");
        value += this.text[this.at++];
      } else if (character !== '"') value += character;
      else if (inQuotes && this.text[this.at] === '"') value += this.text[this.at++];
      else inQuotes = !inQuotes;
    }
  }
}
