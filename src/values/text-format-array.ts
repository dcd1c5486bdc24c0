/**
 * The text of arrays: `{1,NULL,"a b"}`, `[0:1]={a,b}`. Called by text-format.ts, which knows
 * how to read and print the elements.
 */
import { sqlError } from "../protocol/errors.js";
import { ARRAY_ELEMENTS_MAX } from "../protocol/limits.js";
import type { SqlArray, Value } from "./values.js";

/** What stands between elements: a semicolon for boxes, whose texts have commas (pg_type's typdelim). */
export type ArrayDelimiter = "," | ";";

/** Blanks are those of ASCII, as PostgreSQL has them: others belong to the elements. */
const QUOTED = { ",": /^$|[ \t-\r{}",\\]|^null$/i, ";": /^$|[ \t-\r{}";\\]|^null$/i } as const;
const ENDS_ELEMENT = { ",": /[,{}"]/, ";": /[;{}"]/ } as const;
const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

export const EMPTY_ARRAY: SqlArray = Object.freeze({ elements: [], dimensions: [], lowerBounds: [] });

/** Throws 54000 for more elements than an array may have. */
export function checkArraySize(elements: number): void {
  if (elements > ARRAY_ELEMENTS_MAX) {
    throw sqlError("54000", `array size exceeds the maximum allowed (${ARRAY_ELEMENTS_MAX})`);
  }
}

/** A one-dimensional array with lower bound 1 (the empty array has no dimensions). Throws 54000. */
export function sqlArray(elements: readonly Value[]): SqlArray {
  checkArraySize(elements.length);
  return elements.length === 0 ? EMPTY_ARRAY : { elements, dimensions: [elements.length], lowerBounds: [1] };
}

export function arrayToText(array: SqlArray, print: (value: Value) => string, delimiter: ArrayDelimiter): string {
  const { elements, dimensions, lowerBounds } = array;
  if (dimensions.length === 0) return "{}";
  let next = 0;
  const level = (depth: number): string => {
    const parts: string[] = [];
    for (let i = 0; i < (dimensions[depth] as number); i++) {
      if (depth + 1 < dimensions.length) parts.push(level(depth + 1));
      else {
        const element = elements[next++] as Value;
        parts.push(element === null ? "NULL" : quoteElement(print(element), delimiter));
      }
    }
    return `{${parts.join(delimiter)}}`;
  };
  const body = level(0);
  if (lowerBounds.every((bound) => bound === 1)) return body;
  return `${dimensions.map((size, i) => `[${lowerBounds[i]}:${(lowerBounds[i] as number) + size - 1}]`).join("")}=${body}`;
}

function quoteElement(text: string, delimiter: ArrayDelimiter): string {
  return QUOTED[delimiter].test(text) ? `"${text.replace(/["\\]/g, "\\$&")}"` : text;
}

/** The members of an array by its dimensions: nested lists as JSON has them. */
export function nestArray<T>(array: SqlArray, convert: (value: Value) => T): unknown[] {
  let next = 0;
  const level = (depth: number): unknown[] => {
    const items: unknown[] = [];
    for (let i = 0; i < (array.dimensions[depth] ?? 0); i++) {
      items.push(depth + 1 < array.dimensions.length ? level(depth + 1) : convert(array.elements[next++] as Value));
    }
    return items;
  };
  return level(0);
}

const malformed = (text: string, detail: string) => sqlError("22P02", `malformed array literal: "${text}"`, { detail });

/** Reads an array literal; `read` turns one element's text into a value. Throws 22P02, 2202E, 54000. */
export function arrayFromText(text: string, read: (element: string) => Value, delimiter: ArrayDelimiter): SqlArray {
  let source = withoutBlanks(text);
  let bounds: RegExpExecArray | null = null;
  const declared: { lower: number; size: number }[] = [];
  // biome-ignore lint/suspicious/noAssignInExpressions: the loop eats the prefix [1:2][0:3]
  while ((bounds = /^[ \t-\r]*\[([+-]?\d+)(?::([+-]?\d+))?\][ \t-\r]*/.exec(source)) !== null) {
    const lower = bounds[2] === undefined ? 1 : Number(bounds[1]);
    const upper = Number(bounds[2] ?? bounds[1]);
    if (upper < lower) throw sqlError("2202E", "upper bound cannot be less than lower bound");
    declared.push({ lower, size: upper - lower + 1 });
    source = source.slice(bounds[0].length);
  }
  if (declared.length > 0) {
    if (!source.startsWith("=")) throw malformed(text, 'Missing "=" after array dimensions.');
    source = withoutBlanks(source.slice(1));
  }
  if (!source.startsWith("{")) {
    throw malformed(
      text,
      declared.length > 0
        ? 'Array contents must start with "{".'
        : 'Array value must start with "{" or dimension information.',
    );
  }
  const array = new ArrayReader(source, text, read, delimiter).read();
  if (declared.length === 0) return array;
  const sizes = declared.map(({ size }) => size);
  if (sizes.join() !== array.dimensions.join()) {
    throw malformed(text, "Specified array dimensions do not match array contents.");
  }
  return { ...array, lowerBounds: declared.map(({ lower }) => lower) };
}

class ArrayReader {
  private at = 0;
  private readonly elements: Value[] = [];
  private readonly dimensions: number[] = [];
  private leafDepth = -1;

  constructor(
    private readonly source: string,
    private readonly text: string,
    private readonly readElement: (element: string) => Value,
    private readonly delimiter: ArrayDelimiter,
  ) {}

  read(): SqlArray {
    this.level(0);
    this.skipSpaces();
    if (this.at < this.source.length) throw malformed(this.text, "Junk after closing right brace.");
    if (this.elements.length === 0) return EMPTY_ARRAY;
    return { elements: this.elements, dimensions: this.dimensions, lowerBounds: this.dimensions.map(() => 1) };
  }

  private skipSpaces(): void {
    while (isBlank(this.source.charCodeAt(this.at))) this.at++;
  }

  private level(depth: number): void {
    if (depth >= 6) {
      throw sqlError("54000", `number of array dimensions (${depth + 1}) exceeds the maximum allowed (6)`);
    }
    this.at++;
    let count = 0;
    for (;;) {
      this.skipSpaces();
      const next = this.source[this.at];
      if (next === undefined) throw malformed(this.text, "Unexpected end of input.");
      if (next === "}" && count === 0) {
        // Only the whole array may be empty.
        if (depth > 0) throw malformed(this.text, 'Unexpected "}" character.');
        break;
      }
      if (next === "{") {
        if (this.leafDepth === depth) throw this.ragged();
        this.level(depth + 1);
      } else this.leaf(depth);
      count++;
      this.skipSpaces();
      const separator = this.source[this.at];
      if (separator === "}") break;
      if (separator !== this.delimiter) {
        throw malformed(this.text, separator === undefined ? "Unexpected end of input." : "Unexpected array element.");
      }
      this.at++;
    }
    this.at++;
    if (this.dimensions[depth] === undefined) this.dimensions[depth] = count;
    else if (this.dimensions[depth] !== count) throw this.ragged();
  }

  private ragged() {
    return malformed(this.text, "Multidimensional arrays must have sub-arrays with matching dimensions.");
  }

  private leaf(depth: number): void {
    checkArraySize(this.elements.length + 1);
    if (this.leafDepth === -1) this.leafDepth = depth;
    else if (this.leafDepth !== depth) throw this.ragged();
    if (this.source[this.at] === '"') {
      this.elements.push(this.readElement(this.quoted()));
      return;
    }
    let item = "";
    while (this.at < this.source.length && !ENDS_ELEMENT[this.delimiter].test(this.source[this.at] as string)) {
      if (this.source[this.at] === "\\") this.at++;
      item += this.source[this.at++] ?? "";
    }
    const trimmed = withoutBlanks(item);
    if (trimmed === "") throw malformed(this.text, `Unexpected "${this.source[this.at] ?? ""}" character.`);
    this.elements.push(trimmed.toUpperCase() === "NULL" ? null : this.readElement(trimmed));
  }

  private quoted(): string {
    let item = "";
    for (this.at++; this.source[this.at] !== '"'; this.at++) {
      if (this.source[this.at] === "\\") this.at++;
      if (this.at >= this.source.length) throw malformed(this.text, "Unexpected end of input.");
      item += this.source[this.at];
    }
    this.at++;
    return item;
  }
}
