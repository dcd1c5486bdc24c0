/**
 * Keys of groups in typed arrays: numbers and truth values, or texts as their bytes. Rows are loaded some thousand at a
 * time, from columns of segments or from ordinary values; each can then be hashed, compared with the key of a group,
 * and become one. Owned by a KeyGroups (key-groups.ts).
 */
import type { SqlType, Value } from "../../values/values.js";
import { areNumbers, loadKeys, mixNumbers } from "./number-keys.js";
import type { Selection } from "./segments/chunk.js";
import { type Column, type DictionaryColumn, entriesOf, entryCount, loadNumbers, valuesOf } from "./segments/column.js";
import { type TextColumn, textColumn, textOfBytes, textsOf } from "./segments/text-column.js";

/** One part of the keys. NULL is a key, too, and equal to itself. */
export interface GroupKeys {
  /** Takes values of `count` rows; false when one of them has no place here. */
  loadValues(values: ArrayLike<Value>, count: number): boolean;
  /** The same of rows of a column. */
  loadColumn(column: Column, selection: Selection, count: number): boolean;
  /** Mixes the loaded rows into their hashes. */
  hash(hashes: Int32Array, count: number): void;
  equals(group: number, row: number): boolean;
  isNull(row: number): boolean;
  /** Keeps a loaded row as the key of the next group. Answers the bytes that it takes. */
  add(group: number, row: number): number;
  /** The keys of the groups `from … to − 1`. */
  valuesOf(from: number, to: number): Value[];
  columnOf(from: number, to: number): Column;
}

/** Types whose values are equal exactly if their texts are. */
const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "name", "uuid"]);

/** Whether keys of these types can be held so (int8 beyond 2^53 cannot, nor can texts that UTF-8 has no form for). */
export function haveGroupKeys(types: readonly SqlType[]): boolean {
  return types.every((type) => areNumbers([type]) || TEXTS.has(type.name) || type.name === "bool");
}

export function groupKeysOf({ name }: SqlType): GroupKeys {
  return TEXTS.has(name) ? new TextKeys() : new NumberKeys(name === "bool");
}

/** Numbers that are never NaN, which stands for NULL here. */
export class NumberKeys implements GroupKeys {
  /** By group. */
  keys = new Float64Array(32);
  /** By loaded row. */
  loaded = new Float64Array(0);

  constructor(private readonly areTruths: boolean) {}

  loadValues(values: ArrayLike<Value>, count: number): boolean {
    this.makeRoom(count);
    if (!this.areTruths) return loadKeys(values, count, this.loaded);
    for (let i = 0; i < count; i++) this.loaded[i] = values[i] === null ? Number.NaN : values[i] === true ? 1 : 0;
    return true;
  }

  loadColumn(column: Column, { rows, from }: Selection, count: number): boolean {
    if (column.kind !== "number" || column.scale >= 0)
      return this.loadValues(valuesOf(column, rows, from, count, []), count);
    this.makeRoom(count);
    const { loaded } = this;
    loadNumbers(column, rows, from, count, loaded);
    const { nulls } = column;
    if (nulls === null) return true;
    for (let i = 0; i < count; i++) if (nulls[rows === null ? from + i : rows[i]!] === 1) loaded[i] = Number.NaN;
    return true;
  }

  hash(hashes: Int32Array, count: number): void {
    mixNumbers(this.loaded, 0, count, hashes);
  }

  equals(group: number, row: number): boolean {
    const a = this.keys[group]!;
    const b = this.loaded[row]!;
    return a === b || (Number.isNaN(a) && Number.isNaN(b));
  }

  isNull(row: number): boolean {
    return Number.isNaN(this.loaded[row]!);
  }

  add(group: number, row: number): number {
    this.keys = withRoomFor(this.keys, group);
    this.keys[group] = this.loaded[row]!;
    return Float64Array.BYTES_PER_ELEMENT;
  }

  valuesOf(from: number, to: number): Value[] {
    const values = new Array<Value>(to - from);
    for (let group = from; group < to; group++) {
      const number = this.keys[group]!;
      values[group - from] = Number.isNaN(number) ? null : this.areTruths ? number === 1 : number;
    }
    return values;
  }

  columnOf(from: number, to: number): Column {
    if (this.areTruths) return { kind: "plain", values: this.valuesOf(from, to), bytes: 0 };
    const data = this.keys.slice(from, to);
    let nulls: Uint8Array | null = null;
    let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = 0; i < data.length; i++) {
      const number = data[i]!;
      if (number < min) min = number;
      if (number > max) max = number;
      if (!Number.isNaN(number)) continue;
      nulls ??= new Uint8Array(data.length);
      nulls[i] = 1;
      data[i] = 0;
    }
    return { kind: "number", data, nulls, min, max, hasNaN: false, scale: -1, bytes: 0 };
  }

  private makeRoom(count: number): void {
    if (this.loaded.length < count) this.loaded = new Float64Array(count);
  }
}

/** Bytes of a page that holds keys; a longer key has a page of its own. */
const PAGE_BYTES = 256 * 1024;
/** Length of a key that is NULL. */
const IS_NULL = 0xffffffff;
/** Numbers of a group's place, and which of them is what. */
const PLACE = 4;
const START = 1;
const LENGTH = 2;
const NO_VIEW = new DataView(new ArrayBuffer(0));

/** Pages instead of one array that grows: to copy that would take milliseconds. */
class TextKeys implements GroupKeys {
  private readonly pages: Uint8Array[] = [];
  private readonly views: DataView[] = [];
  /** Free bytes begin here in the last page. */
  private used = PAGE_BYTES;
  private isAscii = true;
  /** By group, side by side: its page, where it begins there, and its length. */
  private places = new Uint32Array(32 * PLACE);
  /** Loaded rows are these rows of the column; −1 for NULL. */
  private texts: TextColumn | null = null;
  private view: DataView = NO_VIEW;
  private rows = new Int32Array(0);
  /** Entries of the dictionary that came last, and their hashes. */
  private dictionary: DictionaryColumn["values"] | TextColumn | null = null;
  private entries: TextColumn | null = null;
  private entryHashes = new Int32Array(0);
  private isCoded = false;

  loadValues(values: ArrayLike<Value>, count: number): boolean {
    const texts = textsOf(values, count);
    if (texts === null) return false;
    this.loadTexts(texts, null, 0, count);
    return true;
  }

  loadColumn(column: Column, { rows, from }: Selection, count: number): boolean {
    if (column.kind === "text") {
      this.loadTexts(column, rows, from, count);
      return true;
    }
    if (column.kind !== "dictionary") return this.loadValues(valuesOf(column, rows, from, count, []), count);
    if (!this.isEntered(column) && !this.enter(column)) return false;
    this.makeRoom(count);
    this.use(this.entries!);
    this.isCoded = true;
    const { codes } = column;
    const { nulls } = this.entries!;
    for (let i = 0; i < count; i++) {
      const code = codes[rows === null ? from + i : rows[i]!]!;
      this.rows[i] = nulls !== null && nulls[code] === 1 ? -1 : code;
    }
    return true;
  }

  hash(hashes: Int32Array, count: number): void {
    const { rows, view, entryHashes, isCoded } = this;
    const { offsets } = this.texts!;
    for (let i = 0; i < count; i++) {
      const row = rows[i]!;
      const own =
        row < 0 ? 0x5bd1e995 : isCoded ? entryHashes[row]! : hashBytes(view, offsets[row]!, offsets[row + 1]!);
      const hash = Math.imul(hashes[i]! ^ own, 0x9e3779b1);
      hashes[i] = hash ^ (hash >>> 15);
    }
  }

  equals(group: number, row: number): boolean {
    const place = this.rows[row]!;
    const { places } = this;
    const at = PLACE * group;
    const length = places[at + LENGTH]!;
    if (place < 0 || length === IS_NULL) return place < 0 && length === IS_NULL;
    const { offsets } = this.texts!;
    const start = offsets[place]!;
    if (offsets[place + 1]! - start !== length) return false;
    return areSame(this.views[places[at]!]!, places[at + START]!, this.view, start, length);
  }

  isNull(row: number): boolean {
    return this.rows[row]! < 0;
  }

  add(group: number, row: number): number {
    this.places = withRoomFor(this.places, PLACE * group);
    const at = PLACE * group;
    const place = this.rows[row]!;
    if (place < 0) {
      this.places[at] = Math.max(0, this.pages.length - 1);
      this.places[at + LENGTH] = IS_NULL;
      return KEY_BYTES;
    }
    const { offsets, isAscii } = this.texts!;
    const start = offsets[place]!;
    const end = offsets[place + 1]!;
    this.makePage(end - start);
    this.places[at] = this.pages.length - 1;
    this.places[at + START] = this.used;
    this.places[at + LENGTH] = end - start;
    copy(this.view, start, this.views.at(-1)!, this.used, end - start);
    this.used += end - start;
    this.isAscii &&= isAscii;
    return KEY_BYTES + end - start;
  }

  valuesOf(from: number, to: number): Value[] {
    const values = new Array<Value>(to - from);
    for (let group = from; group < to; group++) {
      const length = this.lengthOf(group);
      const start = this.startOf(group);
      values[group - from] =
        length === IS_NULL ? null : textOfBytes(this.pages[this.pageOf(group)]!, start, start + length, this.isAscii);
    }
    return values;
  }

  columnOf(from: number, to: number): Column {
    const offsets = new Uint32Array(to - from + 1);
    let nulls: Uint8Array | null = null;
    let length = 0;
    for (let group = from; group < to; group++) {
      if (this.lengthOf(group) === IS_NULL) {
        nulls ??= new Uint8Array(to - from);
        nulls[group - from] = 1;
      } else length += this.lengthOf(group);
      offsets[group - from + 1] = length;
    }
    return textColumn(this.dataOf(from, to, length), offsets, this.isAscii, nulls);
  }

  /** The keys end to end, as they lie in one page already where they do not begin in one and end in another. */
  private dataOf(from: number, to: number, length: number): Uint8Array {
    const page = this.pages[this.pageOf(from)];
    if (page !== undefined && this.lengthOf(from) !== IS_NULL && this.pageOf(from) === this.pageOf(to - 1)) {
      const start = this.startOf(from);
      return page.subarray(start, start + length);
    }
    const data = new Uint8Array(length);
    const view = viewOf(data);
    let end = 0;
    for (let group = from; group < to; group++) {
      const own = this.lengthOf(group);
      if (own === IS_NULL) continue;
      copy(this.views[this.pageOf(group)]!, this.startOf(group), view, end, own);
      end += own;
    }
    return data;
  }

  private pageOf(group: number): number {
    return this.places[PLACE * group]!;
  }

  private startOf(group: number): number {
    return this.places[PLACE * group + START]!;
  }

  private lengthOf(group: number): number {
    return this.places[PLACE * group + LENGTH]!;
  }

  private loadTexts(texts: TextColumn, rows: Int32Array | null, from: number, count: number): void {
    this.makeRoom(count);
    this.use(texts);
    this.isCoded = false;
    const { nulls } = texts;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      this.rows[i] = nulls !== null && nulls[row] === 1 ? -1 : row;
    }
  }

  private makeRoom(count: number): void {
    if (this.rows.length < count) this.rows = new Int32Array(count);
  }

  private use(texts: TextColumn): void {
    if (texts === this.texts) return;
    this.texts = texts;
    this.view = viewOf(texts.data);
  }

  /** Lists of results grow, but do not change otherwise. */
  private isEntered(column: DictionaryColumn): boolean {
    return (column.entries ?? column.values) === this.dictionary && entryCount(column) === this.entryHashes.length;
  }

  private enter(column: DictionaryColumn): boolean {
    const count = entryCount(column);
    const entries = entriesOf(column);
    if (entries === null) return false;
    this.dictionary = column.entries ?? column.values;
    this.entries = entries;
    const { offsets } = entries;
    const view = viewOf(entries.data);
    this.entryHashes = new Int32Array(count);
    for (let code = 0; code < count; code++) {
      this.entryHashes[code] = hashBytes(view, offsets[code]!, offsets[code + 1]!);
    }
    return true;
  }

  private makePage(length: number): void {
    const page = this.pages.at(-1);
    if (page !== undefined && this.used + length <= page.length) return;
    const made = new Uint8Array(Math.max(PAGE_BYTES, length));
    this.pages.push(made);
    this.views.push(viewOf(made));
    this.used = 0;
  }
}

/** Of a text key beside its bytes. */
const KEY_BYTES = 16;

const viewOf = (data: Uint8Array) => new DataView(data.buffer, data.byteOffset, data.byteLength);

/** Another one in each process, so that nobody can make texts whose hashes are the same. */
const SEED = (Math.random() * 2 ** 32) | 0;

/** Four bytes at a time, as MurmurHash3 mixes them. */
function hashBytes(view: DataView, start: number, end: number): number {
  let hash = SEED ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word = Math.imul(view.getInt32(at, true), 0xcc9e2d51);
    hash ^= Math.imul((word << 15) | (word >>> 17), 0x1b873593);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ view.getUint8(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}

/** From here on a call into native code beats a loop. */
const LONG_KEY = 256;

const bytesAt = ({ buffer, byteOffset }: DataView, start: number, length: number) =>
  new Uint8Array(buffer, byteOffset + start, length);

function copy(from: DataView, start: number, to: DataView, at: number, length: number): void {
  if (length >= LONG_KEY) {
    bytesAt(to, at, length).set(bytesAt(from, start, length));
    return;
  }
  let i = 0;
  for (; i + 4 <= length; i += 4) to.setInt32(at + i, from.getInt32(start + i));
  for (; i < length; i++) to.setUint8(at + i, from.getUint8(start + i));
}

function areSame(a: DataView, aStart: number, b: DataView, bStart: number, length: number): boolean {
  if (length >= LONG_KEY) return Buffer.compare(bytesAt(a, aStart, length), bytesAt(b, bStart, length)) === 0;
  let i = 0;
  for (; i + 4 <= length; i += 4) if (a.getInt32(aStart + i) !== b.getInt32(bStart + i)) return false;
  for (; i < length; i++) if (a.getUint8(aStart + i) !== b.getUint8(bStart + i)) return false;
  return true;
}

function withRoomFor<A extends Float64Array | Int32Array | Uint32Array>(array: A, index: number): A {
  if (index < array.length) return array;
  const grown = new (array.constructor as new (length: number) => A)(2 * array.length);
  grown.set(array);
  return grown;
}
