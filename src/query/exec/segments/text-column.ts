/**
 * Texts that do not repeat, as one column: their UTF-8 end to end, and where each begins. No text is an object of its
 * own until somebody reads it, and kernels compare the bytes. Made by column.ts and column-buffer.ts.
 */
import type { Value } from "../../../values/values.js";

export interface TextColumn {
  readonly kind: "text";
  /** The texts' UTF-8, end to end. */
  readonly data: Uint8Array;
  /** Where each begins, and where the last one ends. */
  readonly offsets: Uint32Array;
  /** Each byte is a character. */
  readonly isAscii: boolean;
  /** 1 where the value is NULL (whose text is empty); null: there is no NULL. */
  readonly nulls: Uint8Array | null;
  readonly bytes: number;
}

type Slice = (start: number, end: number) => string;
type Write = (text: string, offset: number, length: number) => number;
/** Node's own coders, which work on any Uint8Array. */
const { utf8Slice, latin1Slice, utf8Write, latin1Write } = Buffer.prototype as unknown as Record<
  "utf8Slice" | "latin1Slice",
  Slice
> &
  Record<"utf8Write" | "latin1Write", Write>;

/** Up to here a loop beats the call into native code. */
const SHORT_TEXT = 16;
/** Characters of one column at most: more would take too long to encode at once. */
const CHARACTERS_MAX = 32 * 1024 * 1024;

/** Half of a character outside the Basic Multilingual Plane, which UTF-8 has no form for. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const isLowSurrogate = (unit: number) => (unit & 0xfc00) === 0xdc00;

/** The first `length` values. Null when one of them is no text, or would come back from UTF-8 as another. */
export function textsOf(values: ArrayLike<Value>, length: number): TextColumn | null {
  let nulls: Uint8Array | null = null;
  const texts = new Array<string>(length);
  const offsets = new Uint32Array(length + 1);
  let characters = 0;
  for (let i = 0; i < length; i++) {
    const value = values[i]!;
    if (value === null) {
      nulls ??= new Uint8Array(length);
      nulls[i] = 1;
      texts[i] = "";
    } else if (typeof value === "string") {
      if (isLowSurrogate(value.charCodeAt(0))) return null;
      texts[i] = value;
      characters += value.length;
    } else return null;
    offsets[i + 1] = characters;
  }
  if (characters > CHARACTERS_MAX) return null;
  const whole = texts.join("");
  const size = Buffer.byteLength(whole);
  const isAscii = size === characters;
  // What begins no text with a low surrogate has no lone one unless the whole has one.
  if (!isAscii && LONE_SURROGATE.test(whole)) return null;
  const data = new Uint8Array(size);
  if (isAscii) latin1Write.call(data, whole, 0, size);
  else {
    utf8Write.call(data, whole, 0, size);
    for (let i = 0, end = 0; i < length; i++) {
      end += Buffer.byteLength(texts[i]!);
      offsets[i + 1] = end;
    }
  }
  return textColumn(data, offsets, isAscii, nulls);
}

export function textColumn(
  data: Uint8Array,
  offsets: Uint32Array,
  isAscii: boolean,
  nulls: Uint8Array | null,
): TextColumn {
  const bytes = data.byteLength + offsets.byteLength + (nulls?.byteLength ?? 0);
  return { kind: "text", data, offsets, isAscii, nulls, bytes };
}

/** The text in these bytes. */
export function textOfBytes(data: Uint8Array, start: number, end: number, isAscii: boolean): string {
  if (!isAscii) return utf8Slice.call(data, start, end);
  if (end - start > SHORT_TEXT) return latin1Slice.call(data, start, end);
  let text = "";
  for (let i = start; i < end; i++) text += String.fromCharCode(data[i]!);
  return text;
}

export function textValueAt({ data, offsets, isAscii, nulls }: TextColumn, row: number): string | null {
  if (nulls !== null && nulls[row] === 1) return null;
  return textOfBytes(data, offsets[row]!, offsets[row + 1]!, isAscii);
}

/** Texts that come piece by piece. Owned by a column of rows that a statement holds in memory. */
export class GrowingTexts {
  length = 0;
  private data = new Uint8Array(0);
  private offsets = new Uint32Array(1);
  private nulls: Uint8Array | null = null;
  private isAscii = true;

  /** Answers by how many bytes it has grown. */
  append(column: TextColumn, rows: Int32Array | null, from: number, count: number): number {
    const { length } = this;
    const before = this.offsets[length]!;
    this.offsets = withRoom(this.offsets, length + count + 1);
    const { offsets } = this;
    let end = before;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      end += column.offsets[row + 1]! - column.offsets[row]!;
      offsets[length + i + 1] = end;
    }
    this.data = withRoom(this.data, end);
    if (rows === null)
      this.data.set(column.data.subarray(column.offsets[from]!, column.offsets[from + count]!), before);
    else copyTexts(column, rows, count, this.data, before);
    this.appendNulls(column.nulls, rows, from, count);
    this.isAscii &&= column.isAscii;
    this.length += count;
    return end - before + count * offsets.BYTES_PER_ELEMENT;
  }

  /** Forgets the texts, but keeps room for as many. */
  restart(): void {
    this.length = 0;
    this.nulls = null;
    this.isAscii = true;
  }

  /** All that came until now. */
  column(): TextColumn {
    const { data, offsets, isAscii, length } = this;
    const end = offsets[length]!;
    return textColumn(
      data.subarray(0, end),
      offsets.subarray(0, length + 1),
      isAscii,
      this.nulls?.subarray(0, length) ?? null,
    );
  }

  private appendNulls(marks: Uint8Array | null, rows: Int32Array | null, from: number, count: number): void {
    if (marks === null && this.nulls === null) return;
    const { length } = this;
    this.nulls = withRoom(this.nulls ?? new Uint8Array(length), length + count);
    for (let i = 0; i < count; i++) {
      this.nulls[length + i] = marks === null ? 0 : marks[rows === null ? from + i : rows[i]!]!;
    }
  }
}

/** Bytes up to which a loop beats `set`. */
const SHORT_COPY = 32;

function copyTexts(
  { data, offsets }: TextColumn,
  rows: Int32Array,
  count: number,
  out: Uint8Array,
  from: number,
): void {
  let to = from;
  for (let i = 0; i < count; i++) {
    const start = offsets[rows[i]!]!;
    const end = offsets[rows[i]! + 1]!;
    copyBytes(data, start, end, out, to);
    to += end - start;
  }
}

export function copyBytes(data: Uint8Array, start: number, end: number, out: Uint8Array, to: number): void {
  if (end - start > SHORT_COPY) out.set(data.subarray(start, end), to);
  else for (let from = start, at = to; from < end; ) out[at++] = data[from++]!;
}

const CAPACITY_MIN = 64;

function withRoom<A extends Uint8Array | Uint32Array>(array: A, length: number): A {
  if (array.length >= length) return array;
  const grown = new (array.constructor as new (length: number) => A)(Math.max(CAPACITY_MIN, length, 2 * array.length));
  grown.set(array);
  return grown;
}
