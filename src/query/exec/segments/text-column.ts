/**
 * Texts that do not repeat, as one column: their UTF-8 end to end, and where each begins. No text is an object of its
 * own until somebody reads it, and kernels compare the bytes. Made by column.ts and column-buffer.ts.
 */
import type { Value } from "../../../values/values.js";
import { GrowingArray } from "./growing-array.js";

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

/** Of the same bytes the same text, whatever they are in; null for NULL. */
export function bytesKeyOf({ data, offsets, nulls }: TextColumn, row: number): string | null {
  return nulls !== null && nulls[row] === 1 ? null : textOfBytes(data, offsets[row]!, offsets[row + 1]!, true);
}

/** Whether the value, a text or NULL, is that of the row. */
export function isTextAt(column: TextColumn, row: number, value: Value): boolean {
  const { data, offsets, isAscii, nulls } = column;
  const isNull = nulls !== null && nulls[row] === 1;
  if (isNull || typeof value !== "string") return isNull && value === null;
  if (!isAscii) return textValueAt(column, row) === value;
  const start = offsets[row]!;
  const { length } = value;
  if (offsets[row + 1]! - start !== length) return false;
  for (let i = 0; i < length; i++) if (data[start + i] !== value.charCodeAt(i)) return false;
  return true;
}

/** Texts that come piece by piece. Owned by a column of rows that a statement holds in memory. */
export class GrowingTexts {
  length = 0;
  private readonly data = new GrowingArray(Uint8Array);
  /** Where the first text begins, and where each ends. */
  private readonly offsets = new GrowingArray(Uint32Array);
  private hasStart = false;
  private end = 0;
  private nulls: GrowingArray<Uint8Array> | null = null;
  private isAscii = true;

  /** Answers by how many bytes it has grown. */
  append(column: TextColumn, rows: Int32Array | null, from: number, count: number): number {
    const { offsets } = column;
    this.start();
    const ends = this.offsets.room(count);
    const before = this.end;
    let end = before;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      end += offsets[row + 1]! - offsets[row]!;
      ends[i] = end;
    }
    const data = this.data.room(end - before);
    if (rows === null) data.set(column.data.subarray(offsets[from]!, offsets[from + count]!));
    else copyTexts(column, rows, count, data);
    this.end = end;
    this.appendNulls(column.nulls, rows, from, count);
    this.isAscii &&= column.isAscii;
    this.length += count;
    return end - before + count * ends.BYTES_PER_ELEMENT;
  }

  /** Forgets the texts, but keeps room for as many. */
  restart(): void {
    this.length = 0;
    this.end = 0;
    this.data.restart();
    this.offsets.restart();
    this.hasStart = false;
    this.nulls = null;
    this.isAscii = true;
  }

  /** Puts some of them together; true: all are. None may come between two steps. */
  settle(): boolean {
    return this.data.settle() && this.offsets.settle() && (this.nulls?.settle() ?? true);
  }

  /** All that came until now. */
  column(): TextColumn {
    this.start();
    return textColumn(this.data.all(), this.offsets.all(), this.isAscii, this.nulls?.all() ?? null);
  }

  private start(): void {
    if (this.hasStart) return;
    this.offsets.room(1)[0] = 0;
    this.hasStart = true;
  }

  private appendNulls(marks: Uint8Array | null, rows: Int32Array | null, from: number, count: number): void {
    if (marks === null && this.nulls === null) return;
    if (this.nulls === null) {
      this.nulls = new GrowingArray(Uint8Array);
      this.nulls.room(this.length).fill(0, 0, this.length);
    }
    const nulls = this.nulls.room(count);
    for (let i = 0; i < count; i++) {
      nulls[i] = marks === null ? 0 : marks[rows === null ? from + i : rows[i]!]!;
    }
  }
}

/** Bytes up to which a loop beats `set`. */
const SHORT_COPY = 32;

function copyTexts({ data, offsets }: TextColumn, rows: Int32Array, count: number, out: Uint8Array): void {
  let to = 0;
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
