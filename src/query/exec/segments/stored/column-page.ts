/**
 * The stored form of one column of one segment: a head, which the file's footer keeps with the zone map (least and
 * greatest value, NULLs), and a body of arrays. Numbers are stored as multiples of a step above a base, in the fewest
 * bytes that hold the largest (frame of reference: Goldstein, Ramakrishnan, Shaft 1998); texts that repeat as a
 * dictionary and codes; other texts as UTF-8 end to end. A body is read in place where its arrays have their form in
 * memory.
 */
import { encodeRecord, recordDecoder } from "../../../../storage/record-codec.js";
import type { SqlType, Value } from "../../../../values/values.js";
import {
  type DictionaryColumn,
  entryCount,
  isSegmentable,
  type NumberColumn,
  plainOf,
  type StoredForm,
  storedEntriesOf,
  TextDictionary,
} from "../column.js";
import { EncodedColumn, EncodedDictionary, holdsEncoded, payloadsOf } from "../encoded-column.js";
import { type TextColumn, textColumn, textsOf } from "../text-column.js";

/** Arrays begin at multiples of this, so that they can be read in place. */
const ALIGNMENT = 8;

/** Infinite and not-a-number as text: JSON has no other form of them. */
type StoredNumber = number | "Infinity" | "-Infinity" | "NaN";

export type PageHead =
  | {
      readonly kind: "number";
      /** The array in memory. */
      readonly form: "int32" | "float64";
      /** Bytes of each stored number; 0: the array is stored as it is. */
      readonly width: 0 | 1 | 2 | 4;
      readonly base: number;
      readonly step: number;
      readonly hasNulls: boolean;
      readonly min: StoredNumber;
      readonly max: StoredNumber;
      readonly hasNaN: boolean;
      readonly scale: number;
    }
  | {
      readonly kind: "dictionary";
      readonly width: 1 | 2;
      /** Of JSON; or of texts, as in a column of them. */
      readonly entryBytes: number;
      readonly texts?: { readonly count: number; readonly isAscii: boolean; readonly hasNulls: boolean };
    }
  /** Of a dictionary that segments of a file share (column-file.ts). */
  | { readonly kind: "codes"; readonly width: 1 | 2; readonly dictionary: number }
  | { readonly kind: "text"; readonly isAscii: boolean; readonly hasNulls: boolean; readonly textBytes: number }
  | { readonly kind: "plain"; readonly recordBytes: number };

export interface EncodedPage {
  readonly head: PageHead;
  readonly body: Uint8Array;
}

/**
 * Types whose columns have a stored form. Vectors and variants stay in records: their columns are made in memory.
 */
export function isStorable(type: SqlType): boolean {
  return isSegmentable(type) && type.name !== "vector" && type.name !== "variant" && type.user === undefined;
}

/** The codes of a column whose entries are stored elsewhere. */
export function encodeCodes(codes: Uint8Array | Uint16Array, dictionary: number): EncodedPage {
  const width = codes.BYTES_PER_ELEMENT as 1 | 2;
  return { head: { kind: "codes", width, dictionary }, body: bytesOf(codes) };
}

export function encodeColumn(type: SqlType, column: StoredForm, rows: number): EncodedPage {
  switch (column.kind) {
    case "number":
      return encodeNumbers(column, rows);
    case "dictionary":
      return encodeDictionary(type, column);
    case "text":
      return encodeTexts(column);
    case "encoded":
      return encodeTexts(column.payloads);
    case "plain":
      return encodePlain(type, column.values, rows);
  }
}

/**
 * `body` begins at a multiple of 8 of its buffer. Throws when the head and the body do not fit each other.
 * @param dictionaryOf the shared dictionary of that number; absent where there are none.
 */
export function decodeColumn(
  type: SqlType,
  head: PageHead,
  body: Uint8Array,
  rows: number,
  dictionaryOf: (number: number) => TextDictionary | EncodedDictionary = noDictionary,
): StoredForm {
  const reader = new BodyReader(body);
  switch (head.kind) {
    case "codes":
      return dictionaryOf(head.dictionary).withCodes(head.width === 1 ? reader.bytes(rows) : reader.uint16(rows));
    case "number":
      return decodeNumbers(head, reader, rows);
    case "dictionary": {
      const codes = head.width === 1 ? reader.bytes(rows) : reader.uint16(rows);
      if (head.texts !== undefined) {
        const { count, isAscii, hasNulls } = head.texts;
        const offsets = reader.uint32(count + 1);
        const nulls = hasNulls ? reader.bytes(count) : null;
        const entries = textColumn(reader.bytes(head.entryBytes), offsets, isAscii, nulls);
        return dictionaryOfEntries(type, codes, entries);
      }
      const values = JSON.parse(Buffer.from(reader.bytes(head.entryBytes)).toString()) as Value[];
      const texts = codes.buffer instanceof SharedArrayBuffer ? textsOf(values, values.length) : null;
      if (texts !== null) return new TextDictionary(codes, sharedTexts(texts));
      return { kind: "dictionary", codes, values, bytes: body.length + 16 * values.length };
    }
    case "text": {
      const offsets = reader.uint32(rows + 1);
      const nulls = head.hasNulls ? reader.bytes(rows) : null;
      const data = reader.bytes(head.textBytes);
      const texts: TextColumn = { kind: "text", data, offsets, isAscii: head.isAscii, nulls, bytes: body.length };
      return holdsEncoded(type) ? new EncodedColumn(type, texts) : texts;
    }
    case "plain":
      return decodePlain(type, head, reader, rows);
  }
}

/** Of entries in a file: what they are depends on the type. */
export function dictionaryOfEntries(
  type: SqlType,
  codes: Uint8Array | Uint16Array,
  entries: TextColumn,
  users = 1,
): TextDictionary | EncodedDictionary {
  if (!holdsEncoded(type)) return new TextDictionary(codes, entries, null, users);
  return new EncodedDictionary(codes, new EncodedColumn(type, entries), null, users);
}

function noDictionary(): never {
  throw new Error("a page refers to a dictionary of another file");
}

/** Of files that have them as JSON: so that each thread need not read that again. */
function sharedTexts({ data, offsets, isAscii, nulls }: TextColumn): TextColumn {
  const copy = (bytes: Uint8Array): Uint8Array => {
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    return shared;
  };
  const starts = new Uint32Array(copy(bytesOf(offsets)).buffer);
  return textColumn(copy(data), starts, isAscii, nulls === null ? null : copy(nulls));
}

function encodeTexts({ data, offsets, isAscii, nulls }: TextColumn): EncodedPage {
  const head = { kind: "text", isAscii, hasNulls: nulls !== null, textBytes: data.length } as const;
  return { head, body: joined([bytesOf(offsets), ...(nulls === null ? [] : [nulls]), data]) };
}

/** Values that are encoded, of which a statement has made a dictionary. */
function entriesToStore(type: SqlType, column: DictionaryColumn): TextColumn | null {
  if (column instanceof EncodedDictionary || !holdsEncoded(type)) return storedEntriesOf(column);
  return payloadsOf(type, column.values, column.values.length);
}

function encodeDictionary(type: SqlType, column: DictionaryColumn): EncodedPage {
  const { codes } = column;
  const width = codes.BYTES_PER_ELEMENT as 1 | 2;
  const count = entryCount(column);
  const texts = entriesToStore(type, column);
  if (texts === null) {
    const entries = Buffer.from(JSON.stringify(column.values));
    return { head: { kind: "dictionary", width, entryBytes: entries.length }, body: joined([bytesOf(codes), entries]) };
  }
  const { data, offsets, isAscii, nulls } = texts;
  const form = { count, isAscii, hasNulls: nulls !== null };
  return {
    head: { kind: "dictionary", width, entryBytes: data.length, texts: form },
    body: joined([bytesOf(codes), bytesOf(offsets), ...(nulls === null ? [] : [nulls]), data]),
  };
}

function encodeNumbers({ data, nulls, min, max, hasNaN, scale }: NumberColumn, rows: number): EncodedPage {
  const { width, base, step } = frameOf(data, rows);
  const head = {
    kind: "number",
    form: data instanceof Int32Array ? "int32" : "float64",
    ...{ width, base, step, hasNulls: nulls !== null, min: storedNumber(min), max: storedNumber(max), hasNaN, scale },
  } as const;
  const stored = width === 0 ? bytesOf(data.subarray(0, rows)) : bytesOf(codesOf(data, rows, width, base, step));
  return { head, body: joined(nulls === null ? [stored] : [stored, nulls]) };
}

interface Frame {
  readonly width: 0 | 1 | 2 | 4;
  readonly base: number;
  readonly step: number;
}

const NO_FRAME: Frame = { width: 0, base: 0, step: 1 };

/** How few bytes the numbers can be stored in; width 0 when that is no gain, or would lose something. */
function frameOf(data: Int32Array | Float64Array, rows: number): Frame {
  if (rows === 0 || !areWhole(data, rows)) return NO_FRAME;
  const least = leastOf(data, rows);
  const range = greatestOf(data, rows) - least;
  if (range > Number.MAX_SAFE_INTEGER) return NO_FRAME;
  const step = stepOf(data, rows, least);
  const largest = step === 0 ? 0 : range / step;
  const width = largest < 256 ? 1 : largest < 65_536 ? 2 : largest < 2 ** 32 ? 4 : 0;
  return width >= data.BYTES_PER_ELEMENT ? NO_FRAME : { width, base: least, step: step || 1 };
}

// One loop in each: V8 optimizes a loop while it runs, without knowing what comes after it.

function areWhole(data: Int32Array | Float64Array, rows: number): boolean {
  if (data instanceof Int32Array) return true;
  for (let i = 0; i < rows; i++) if (!Number.isSafeInteger(data[i]) || Object.is(data[i], -0)) return false;
  return true;
}

function leastOf(data: Int32Array | Float64Array, rows: number): number {
  let least = data[0]!;
  for (let i = 1; i < rows; i++) if (data[i]! < least) least = data[i]!;
  return least;
}

function greatestOf(data: Int32Array | Float64Array, rows: number): number {
  let greatest = data[0]!;
  for (let i = 1; i < rows; i++) if (data[i]! > greatest) greatest = data[i]!;
  return greatest;
}

/** The greatest divisor of all differences; 0: there is none. */
function stepOf(data: Int32Array | Float64Array, rows: number, least: number): number {
  let step = 0;
  for (let i = 0; i < rows && step !== 1; i++) step = greatestDivisor(data[i]! - least, step);
  return step;
}

function greatestDivisor(a: number, b: number): number {
  let [large, small] = [a, b];
  while (small !== 0) [large, small] = [small, large % small];
  return large;
}

function codesOf(
  data: Int32Array | Float64Array,
  rows: number,
  width: 1 | 2 | 4,
  base: number,
  step: number,
): Uint8Array | Uint16Array | Uint32Array {
  const codes = width === 1 ? new Uint8Array(rows) : width === 2 ? new Uint16Array(rows) : new Uint32Array(rows);
  for (let i = 0; i < rows; i++) codes[i] = (data[i]! - base) / step;
  return codes;
}

function decodeNumbers(head: PageHead & { readonly kind: "number" }, reader: BodyReader, rows: number): NumberColumn {
  const { form, width, base, step, scale, hasNaN } = head;
  let data: Int32Array | Float64Array;
  if (width === 0) data = form === "int32" ? reader.int32(rows) : reader.float64(rows);
  else {
    const codes = codesIn(reader, width, rows);
    // Whoever shares the page shares the numbers.
    const Buffers = codes.buffer instanceof SharedArrayBuffer ? SharedArrayBuffer : ArrayBuffer;
    data = form === "int32" ? new Int32Array(new Buffers(4 * rows)) : new Float64Array(new Buffers(8 * rows));
    expand(codes, base, step, data);
  }
  const nulls = head.hasNulls ? reader.bytes(rows) : null;
  const [min, max] = [Number(head.min), Number(head.max)];
  return { kind: "number", data, nulls, min, max, hasNaN, scale, bytes: data.byteLength + (nulls?.length ?? 0) };
}

/** By itself, so that V8 optimizes it within the first page. */
function expand(
  codes: Uint8Array | Uint16Array | Uint32Array,
  base: number,
  step: number,
  data: Int32Array | Float64Array,
): void {
  for (let i = 0; i < data.length; i++) data[i] = base + codes[i]! * step;
}

/** Only the numbers of some rows. */
export function numbersAt(
  head: PageHead & { readonly kind: "number" },
  body: Uint8Array,
  rows: number,
  wanted: readonly number[],
): NumberColumn {
  const { form, width, base, step, scale, hasNaN } = head;
  const reader = new BodyReader(body);
  const stored =
    width === 0 ? (form === "int32" ? reader.int32(rows) : reader.float64(rows)) : codesIn(reader, width, rows);
  const marks = head.hasNulls ? reader.bytes(rows) : null;
  const data = new Float64Array(wanted.length);
  const nulls = marks === null ? null : new Uint8Array(wanted.length);
  for (let i = 0; i < wanted.length; i++) {
    const row = wanted[i]!;
    data[i] = width === 0 ? stored[row]! : base + stored[row]! * step;
    if (nulls !== null) nulls[i] = marks![row]!;
  }
  const [min, max] = [Number(head.min), Number(head.max)];
  return { kind: "number", data, nulls, min, max, hasNaN, scale, bytes: data.byteLength + (nulls?.length ?? 0) };
}

const codesIn = (reader: BodyReader, width: 1 | 2 | 4, rows: number): Uint8Array | Uint16Array | Uint32Array =>
  width === 1 ? reader.bytes(rows) : width === 2 ? reader.uint16(rows) : reader.uint32(rows);

const NO_NUMBERS = new Float64Array(0);
const NO_MARKS = new Uint8Array(0);

/** What the head says of the numbers. */
export function knownNumbers(head: PageHead & { readonly kind: "number" }): NumberColumn {
  const nulls = head.hasNulls ? NO_MARKS : null;
  const [min, max] = [Number(head.min), Number(head.max)];
  return { kind: "number", data: NO_NUMBERS, nulls, min, max, hasNaN: head.hasNaN, scale: head.scale, bytes: 0 };
}

/** Each value as a record of one column. */
function encodePlain(type: SqlType, values: ArrayLike<Value>, rows: number): EncodedPage {
  const records: Buffer[] = [];
  const ends = new Uint32Array(rows);
  let bytes = 0;
  for (let i = 0; i < rows; i++) {
    const record = encodeRecord([type], [values[i]!]);
    records.push(record);
    bytes += record.length;
    ends[i] = bytes;
  }
  return { head: { kind: "plain", recordBytes: bytes }, body: joined([bytesOf(ends), Buffer.concat(records, bytes)]) };
}

function decodePlain(
  type: SqlType,
  { recordBytes }: PageHead & { readonly kind: "plain" },
  reader: BodyReader,
  rows: number,
): StoredForm {
  const ends = reader.uint32(rows);
  const records = reader.bytes(recordBytes);
  const values: Value[] = new Array<Value>(rows).fill(null);
  const decode = recordDecoder([type], [0], [null]);
  for (let i = 0; i < rows; i++) decode(records.subarray(i === 0 ? 0 : ends[i - 1], ends[i]), [values], i);
  return plainOf(values, rows);
}

const storedNumber = (value: number): StoredNumber =>
  Number.isFinite(value) ? value : (String(value) as "Infinity" | "-Infinity" | "NaN");

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** End to end, each part at a multiple of 8. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const body = new Uint8Array(parts.reduce((sum, part) => sum + aligned(part.length), 0));
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += aligned(part.length);
  }
  return body;
}

/** Takes one array after the other, where `joined` has put them. */
class BodyReader {
  private at: number;
  private readonly end: number;
  private readonly buffer: ArrayBufferLike;

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.buffer = buffer;
    this.at = byteOffset;
    this.end = byteOffset + length;
  }

  bytes(count: number): Uint8Array {
    return new Uint8Array(this.buffer, this.take(count), count);
  }

  uint16(count: number): Uint16Array {
    return new Uint16Array(this.buffer, this.take(2 * count), count);
  }

  uint32(count: number): Uint32Array {
    return new Uint32Array(this.buffer, this.take(4 * count), count);
  }

  int32(count: number): Int32Array {
    return new Int32Array(this.buffer, this.take(4 * count), count);
  }

  float64(count: number): Float64Array {
    return new Float64Array(this.buffer, this.take(8 * count), count);
  }

  private take(bytes: number): number {
    const { at } = this;
    if (at + bytes > this.end) throw new Error("a page of a column file is shorter than its head says");
    this.at += aligned(bytes);
    return at;
  }
}
