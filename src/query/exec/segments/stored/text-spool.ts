/**
 * Collects the texts of a column as bytes: in a dictionary while enough of them repeat, else one after the other. Used
 * by column-sinks.ts, whose texts are valid UTF-8.
 */
import type { PayloadReader } from "../../../../storage/record-reader.js";
import type { Value } from "../../../../values/values.js";
import { type DictionaryColumn, TextDictionary } from "../column.js";
import { copyBytes, type TextColumn, textColumn, textOfBytes } from "../text-column.js";

const BYTES_MIN = 64 * 1024;
const ROWS_MIN = 1024;
const PLACES_MIN = 2048;
/**
 * After rows that were too different for a dictionary: so many of the next ones are looked at, of which more entries
 * than these say that they are no better.
 */
const PROBED_ROWS = 1024;
const PROBED_ENTRIES_MAX = 1008;

export class TextSpool {
  /** Rows until now. */
  private rows = 0;
  /** Entries of the dictionary; without one, the rows. */
  private count = 0;
  /** Of these, end to end, and the same four at a time. */
  private bytes = new Uint8Array(BYTES_MIN);
  private words = viewOf(this.bytes);
  private used = 0;
  /** Of what the last text came in. */
  private view = this.words;
  /** Where each ends, and which are NULL (whose text is empty). */
  private ends = new Uint32Array(ROWS_MIN);
  private nulls: Uint8Array | null = null;
  private isAscii = true;
  /** By row; null: there is no dictionary. */
  private codes: Uint16Array | null = new Uint16Array(ROWS_MIN);
  private hashes = new Int32Array(ROWS_MIN);
  /** By hash, with open addressing: an entry's number plus one, 0 for none. */
  private places = new Int32Array(PLACES_MIN);
  private nullCode = -1;
  /** The rows before the last call of `restart` had no dictionary. */
  private hadNone = false;

  /** `codesMax`: entries that a dictionary may have at most. */
  constructor(private readonly codesMax: number) {}

  put(bytes: Uint8Array, start: number, end: number): void {
    const code = this.codes === null ? -1 : this.findIn(bytes, start, end);
    if (code >= 0) this.code(code);
    else this.append(bytes, start, end);
    this.rows++;
    if (this.rows === PROBED_ROWS && this.hadNone && this.count > PROBED_ENTRIES_MAX && this.codes !== null) {
      this.endDictionary();
    }
  }

  putNull(): void {
    if (this.codes === null) this.appendNull();
    else if (this.nullCode >= 0) this.code(this.nullCode);
    else if (this.mayAdd()) {
      this.nullCode = this.count;
      this.code(this.count);
      this.hash(0);
      this.appendNull();
    } else this.appendNull();
    this.rows++;
  }

  valueAt(row: number): Value {
    return this.entryAt(this.codes === null ? row : this.codes[row]!);
  }

  /** What `read` makes of a row's bytes. */
  payloadAt(row: number, read: PayloadReader): Value {
    const entry = this.codes === null ? row : this.codes[row]!;
    return this.nulls?.[entry] === 1 ? null : read(this.bytes, this.startOf(entry), this.ends[entry]!);
  }

  /** All rows. `codesMax`: entries that their dictionary may have. */
  column(codesMax: number): DictionaryColumn | TextColumn {
    if (this.codes !== null && this.count > codesMax) this.endDictionary();
    const { count, used, rows } = this;
    const offsets = new Uint32Array(count + 1);
    offsets.set(this.ends.subarray(0, count), 1);
    const nulls = this.nulls?.slice(0, count) ?? null;
    const texts = textColumn(this.bytes.slice(0, used), offsets, this.isAscii, nulls);
    if (this.codes === null) return texts;
    const codes = this.codes.subarray(0, rows);
    return new TextDictionary(count <= 256 ? Uint8Array.from(codes) : codes.slice(), texts);
  }

  restart(): void {
    this.rows = 0;
    this.count = 0;
    this.used = 0;
    this.nulls = null;
    this.isAscii = true;
    this.hadNone = this.codes === null;
    this.codes ??= new Uint16Array(ROWS_MIN);
    this.places.fill(0);
    this.nullCode = -1;
  }

  private entryAt(entry: number): string | null {
    if (this.nulls?.[entry] === 1) return null;
    return textOfBytes(this.bytes, this.startOf(entry), this.ends[entry]!, this.isAscii);
  }

  private startOf(entry: number): number {
    return entry === 0 ? 0 : this.ends[entry - 1]!;
  }

  /** The row has the entry. */
  private code(entry: number): void {
    if (this.rows === this.codes!.length) this.codes = twice(this.codes!);
    this.codes![this.rows] = entry;
  }

  /** Records come in buffers of many: a view of each would cost more than it saves. */
  private findIn({ buffer, byteOffset }: Uint8Array, start: number, end: number): number {
    if (buffer !== this.view.buffer) this.view = new DataView(buffer);
    return this.find(this.view, byteOffset + start, byteOffset + end);
  }

  /** The text's entry; −1: there is none, and the text is to be appended. */
  private find(view: DataView, start: number, end: number): number {
    const hash = hashOf(view, start, end);
    const mask = this.places.length - 1;
    let place = hash & mask;
    for (; this.places[place] !== 0; place = (place + 1) & mask) {
      const entry = this.places[place]! - 1;
      if (this.hashes[entry] === hash && this.equals(entry, view, start, end)) return entry;
    }
    if (!this.mayAdd()) return -1;
    this.code(this.count);
    this.hash(hash);
    if (2 * (this.count + 1) > this.places.length) this.spread();
    else this.places[place] = this.count + 1;
    return -1;
  }

  /** Of the entry that is about to come. */
  private hash(hash: number): void {
    if (this.count === this.hashes.length) this.hashes = twice(this.hashes);
    this.hashes[this.count] = hash;
  }

  private spread(): void {
    this.places = new Int32Array(2 * this.places.length);
    const mask = this.places.length - 1;
    for (let entry = 0; entry <= this.count; entry++) {
      if (entry === this.nullCode) continue;
      let place = this.hashes[entry]! & mask;
      while (this.places[place] !== 0) place = (place + 1) & mask;
      this.places[place] = entry + 1;
    }
  }

  private equals(entry: number, view: DataView, start: number, end: number): boolean {
    if (this.nulls?.[entry] === 1) return false;
    const from = this.startOf(entry);
    if (this.ends[entry]! - from !== end - start) return false;
    const { words } = this;
    const shift = from - start;
    let i = start;
    for (; i + 4 <= end; i += 4) if (words.getInt32(i + shift) !== view.getInt32(i)) return false;
    for (; i < end; i++) if (words.getUint8(i + shift) !== view.getUint8(i)) return false;
    return true;
  }

  /** False: the dictionary would get too large, and there is none any more. */
  private mayAdd(): boolean {
    if (this.count < this.codesMax) return true;
    this.endDictionary();
    return false;
  }

  /** From now on the rows' texts stand one after the other. */
  private endDictionary(): void {
    const { bytes, used, ends, nulls, rows } = this;
    const codes = this.codes!;
    this.codes = null;
    this.bytes = new Uint8Array(Math.max(BYTES_MIN, 2 * used));
    this.words = viewOf(this.bytes);
    this.ends = new Uint32Array(Math.max(ROWS_MIN, 2 * rows));
    this.nulls = null;
    this.used = 0;
    this.count = 0;
    for (let row = 0; row < rows; row++) {
      const entry = codes[row]!;
      if (nulls?.[entry] === 1) this.appendNull();
      else this.append(bytes, entry === 0 ? 0 : ends[entry - 1]!, ends[entry]!);
    }
  }

  private append(bytes: Uint8Array, start: number, end: number): void {
    const { used } = this;
    const to = used + end - start;
    if (to > this.bytes.length) {
      const grown = new Uint8Array(2 * to);
      grown.set(this.bytes.subarray(0, used));
      this.bytes = grown;
      this.words = viewOf(grown);
    }
    copyBytes(bytes, start, end, this.bytes, used);
    this.isAscii &&= areAscii(this.words, used, to);
    this.used = to;
    this.endEntry();
  }

  private appendNull(): void {
    this.nulls ??= new Uint8Array(this.ends.length);
    this.endEntry();
    this.nulls![this.count - 1] = 1;
  }

  private endEntry(): void {
    if (this.count === this.ends.length) {
      this.ends = twice(this.ends);
      if (this.nulls !== null) this.nulls = twice(this.nulls);
    }
    this.ends[this.count++] = this.used;
  }
}

/** The same with room for as much again. */
function twice<A extends Int32Array | Uint32Array | Uint16Array | Uint8Array>(array: A): A {
  const grown = new (array.constructor as new (length: number) => A)(2 * array.length);
  grown.set(array);
  return grown;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

function areAscii(view: DataView, start: number, end: number): boolean {
  let all = 0;
  let i = start;
  for (; i + 4 <= end; i += 4) all |= view.getInt32(i);
  for (; i < end; i++) all |= view.getUint8(i);
  return (all & 0x80808080) === 0;
}

/** Takes four bytes at a time; each step brings high bits down. */
function hashOf(view: DataView, start: number, end: number): number {
  let hash = end - start;
  let i = start;
  for (; i + 4 <= end; i += 4) {
    hash = Math.imul(hash ^ view.getInt32(i, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; i < end; i++) hash = Math.imul(hash ^ view.getUint8(i), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
