/**
 * A file of column segments: pages of columns and keys, and a footer that says where they are. Immutable: written by
 * build-columns.ts under another name, synced, and renamed; read a page at a time, on demand. Each page and the footer
 * carry a CRC-32, so what is damaged is noticed before anything of it is used.
 *
 *   "TESSCOL4" · pages, each at a multiple of 8 · footer (JSON) · its length u32 · its CRC-32 u32 · "TESSCOL4"
 *   (little-endian)
 *
 * Segments one after the other share the dictionary of a text column while they have its entries in common.
 */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  read,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { crc32 } from "node:zlib";
import { type SqlType, TEXT } from "../../../../values/values.js";
import { type Column, type StoredForm, storedEntriesOf, TextDictionary } from "../column.js";
import { ENCODED_DICTIONARY_BYTES, type EncodedDictionary, holdsEncoded } from "../encoded-column.js";
import { SegmentKeys, type SomeRows } from "../segment.js";
import type { TextColumn } from "../text-column.js";
import {
  decodeColumn,
  dictionaryOfEntries,
  type EncodedPage,
  encodeCodes,
  encodeColumn,
  numbersAt,
  type PageHead,
} from "./column-page.js";
import { ReadAhead } from "./read-ahead.js";
import { SharedEntries } from "./shared-entries.js";

const MAGIC = Buffer.from("TESSCOL4");
/**
 * The third had no columns of JSON and lists. Each segment had its own dictionaries in the second, and of JSON in the
 * first. An older program takes newer files for damaged, and makes them again.
 */
const OLDER_MAGICS = ["TESSCOL1", "TESSCOL2", "TESSCOL3"].map((magic) => Buffer.from(magic));
const TAIL_BYTES = 8 + MAGIC.length;
const ALIGNMENT = 8;
/** Written between two syncs: the disk is not flooded at once, so that others' syncs do not wait behind it. */
const SYNC_BYTES = 4 * 1024 * 1024;

interface Page {
  readonly offset: number;
  readonly length: number;
  readonly crc: number;
}

interface ColumnPage extends Page {
  readonly id: number;
  readonly head: PageHead;
}

/** Keys without the table's prefix: of one length each, or their offsets stand before them. */
interface KeyPage extends Page {
  readonly keyLength: number | null;
}

interface SegmentEntry {
  readonly rows: number;
  /** The range of keys that the segment has all rows of; without the table's prefix, latin-1. */
  readonly from: string;
  readonly to: string;
  readonly keys: KeyPage;
  readonly columns: readonly ColumnPage[];
}

/** Entries of a dictionary, and how many segments use them. */
interface DictionaryPage extends Page {
  readonly head: PageHead;
  readonly count: number;
  readonly segments: number;
}

interface Footer {
  readonly segments: readonly SegmentEntry[];
  readonly dictionaries?: readonly DictionaryPage[];
}

/** A file, a page or a footer is not what was written. */
export class DamagedColumns extends Error {}

/** A column, or its page in another file, which has the same rows. */
export type ColumnToWrite = { readonly type: SqlType; readonly column: StoredForm } | EncodedPage;

export class ColumnFileWriter {
  private readonly file: number;
  private readonly segments: SegmentEntry[] = [];
  private readonly dictionaries: DictionaryPage[] = [];
  /** Dictionaries that the next segments may share, by column. */
  private readonly shared = new Map<number, SharedEntries>();
  private dictionaryCount = 0;
  private at = 0;
  private unsynced = 0;
  private isOpen = true;

  constructor(private readonly path: string) {
    this.file = openSync(`${path}.new`, "w");
    this.append(MAGIC);
  }

  get bytes(): number {
    return this.at;
  }

  get count(): number {
    return this.segments.length;
  }

  add(
    range: { readonly from: string; readonly to: string },
    keys: SegmentKeys,
    columns: ReadonlyMap<number, ColumnToWrite>,
  ): void {
    const rows = keys.length;
    const keyPage = this.writeKeys(keys);
    const pages: ColumnPage[] = [];
    for (const [id, one] of columns) {
      const { head, body } = "column" in one ? this.encoded(id, one.type, one.column, rows) : one;
      pages.push({ id, head, ...this.writePage(body) });
    }
    this.segments.push({ ...range, rows, keys: keyPage, columns: pages });
  }

  private encoded(id: number, type: SqlType, column: StoredForm, rows: number): EncodedPage {
    const entries = column.kind === "dictionary" ? storedEntriesOf(column) : null;
    if (column.kind !== "dictionary" || entries === null) return encodeColumn(type, column, rows);
    let shared = this.shared.get(id);
    let codes = shared?.take(column.codes, entries) ?? null;
    if (shared === undefined || codes === null) {
      if (shared !== undefined) this.writeEntries(shared);
      shared = new SharedEntries(this.dictionaryCount++, holdsEncoded(type) ? ENCODED_DICTIONARY_BYTES : undefined);
      this.shared.set(id, shared);
      codes = shared.take(column.codes, entries)!;
    }
    return encodeCodes(codes, shared.number);
  }

  private writeEntries(shared: SharedEntries): void {
    const { count, number, segments } = shared;
    const { head, body } = encodeColumn(TEXT, shared.column(), count);
    this.dictionaries[number] = { head, count, segments, ...this.writePage(body) };
  }

  /** The file is there, whole and on disk, or it is not there. */
  finish(): void {
    for (const shared of this.shared.values()) this.writeEntries(shared);
    const { segments, dictionaries } = this;
    const footer = Buffer.from(JSON.stringify({ segments, dictionaries } satisfies Footer));
    const tail = Buffer.alloc(TAIL_BYTES);
    tail.writeUInt32LE(footer.length, 0);
    tail.writeUInt32LE(crc32(footer), 4);
    tail.set(MAGIC, 8);
    this.append(footer);
    this.append(tail);
    fsyncSync(this.file);
    this.close();
    renameSync(`${this.path}.new`, this.path);
  }

  /** Also after a failure of `finish`. */
  abandon(): void {
    this.close();
    rmSync(`${this.path}.new`, { force: true });
  }

  /** Once: afterwards the number may be another file's, maybe one of RocksDB's. */
  private close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    closeSync(this.file);
  }

  private writeKeys({ bytes, offsets, length }: SegmentKeys): KeyPage {
    const keyLength = commonLength(offsets);
    if (keyLength !== null) return { keyLength, ...this.writePage(bytes) };
    const body = new Uint8Array(4 * (length + 1) + bytes.length);
    body.set(new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength));
    body.set(bytes, 4 * (length + 1));
    return { keyLength, ...this.writePage(body) };
  }

  private writePage(body: Uint8Array): Page {
    const page = { offset: this.at, length: body.length, crc: crc32(body) };
    this.append(body);
    this.unsynced += body.length;
    if (this.unsynced >= SYNC_BYTES) {
      fdatasyncSync(this.file);
      this.unsynced = 0;
    }
    return page;
  }

  private append(bytes: Uint8Array): void {
    let written = 0;
    while (written < bytes.length) written += writeSync(this.file, bytes, written);
    const rest = bytes.length % ALIGNMENT;
    this.at += bytes.length;
    if (rest === 0) return;
    const padding = new Uint8Array(ALIGNMENT - rest);
    writeSync(this.file, padding);
    this.at += padding.length;
  }
}

/** Null when they differ. */
function commonLength(offsets: Uint32Array): number | null {
  const first = offsets[1]! - offsets[0]!;
  for (let i = 1; i < offsets.length; i++) if (offsets[i]! - offsets[i - 1]! !== first) return null;
  return first;
}

const NO_CODES = new Uint8Array(0);

/** Whatever is fetched goes here. */
const FETCHED_BYTES = 256 * 1024;
const fetched = new Uint8Array(FETCHED_BYTES);

type StoredDictionary = TextDictionary | EncodedDictionary;

const isInSharedMemory = (dictionary: StoredDictionary): boolean =>
  storedEntriesOf(dictionary)!.data.buffer instanceof SharedArrayBuffer;

/** Closes files that no segment refers to any more: scans may read on in a file that was replaced. */
const unused = new FinalizationRegistry<number>((file) => closeSync(file));

export class ColumnFile {
  readonly segments: readonly StoredSegment[];
  readonly bytes: number;
  /** Of the file system: another file under the same path has another one. */
  readonly id: number;
  private readonly file: number;
  private readonly dictionaryPages: readonly DictionaryPage[];
  /** Those that some column in memory has. */
  private readonly dictionaries = new Map<number, WeakRef<StoredDictionary>>();
  readonly ahead: ReadAhead;

  /** Throws DamagedColumns when it is not whole, and the system's error when it cannot be opened. */
  constructor(
    readonly path: string,
    readonly prefixLength: number,
  ) {
    this.file = openSync(path, "r");
    unused.register(this, this.file, this);
    const { size, ino } = fstatSync(this.file);
    this.bytes = size;
    this.id = ino;
    const { segments, dictionaries } = this.readFooter();
    this.segments = segments.map((entry, number) => new StoredSegment(this, number, entry));
    this.dictionaryPages = dictionaries ?? [];
    this.ahead = new ReadAhead(segments.length, (number, columnId) => this.segments[number]!.fetch(columnId));
  }

  /** A dictionary that segments share, without codes. Throws DamagedColumns. */
  dictionary(type: SqlType, number: number, isShared: boolean): StoredDictionary {
    const known = this.dictionaries.get(number)?.deref();
    if (known !== undefined && (!isShared || isInSharedMemory(known))) return known;
    const page = this.dictionaryPages[number]!;
    const entries = decodeColumn(TEXT, page.head, this.read(page, isShared), page.count) as TextColumn;
    return this.keep(type, number, entries);
  }

  /** The column with the entries that other columns in memory have, rather than with a copy of them. */
  sharing(number: number, { codes, entries }: TextDictionary): StoredDictionary {
    const known = this.dictionaries.get(number)?.deref();
    const origin = known !== undefined && isInSharedMemory(known) ? known : this.keep(TEXT, number, entries);
    return origin.withCodes(codes);
  }

  private keep(type: SqlType, number: number, entries: TextColumn): StoredDictionary {
    const made = dictionaryOfEntries(type, NO_CODES, entries, this.dictionaryPages[number]!.segments);
    this.dictionaries.set(number, new WeakRef(made));
    return made;
  }

  /** At once, where somebody knows that nobody reads it any more. */
  close(): void {
    unused.unregister(this);
    closeSync(this.file);
  }

  /** In a buffer of its own. */
  read(page: Page, isShared = false): Uint8Array {
    const { length } = page;
    return this.readInto(page, new Uint8Array(isShared ? new SharedArrayBuffer(length) : new ArrayBuffer(length)));
  }

  /** In memory that the next one of this kind is read into, whichever file it is of. */
  readForNow(page: Page): Uint8Array {
    if (forNow.length < page.length) forNow = new Uint8Array(page.length);
    return this.readInto(page, forNow.subarray(0, page.length));
  }

  private readInto({ offset, length, crc }: Page, bytes: Uint8Array): Uint8Array {
    let read = 0;
    while (read < length) {
      const count = readSync(this.file, bytes, read, length - read, offset + read);
      if (count === 0) throw new DamagedColumns(`${this.path} ends before a page does`);
      read += count;
    }
    if (crc32(bytes) !== crc) throw new DamagedColumns(`the checksum of a page of ${this.path} does not match`);
    return bytes;
  }

  /** Has the system read the page into its cache. */
  fetch({ offset, length }: Page): void {
    for (let at = 0; at < length; at += FETCHED_BYTES) {
      // What comes does not matter, nor that the file may be closed before: who reads the page finds out.
      read(this.file, fetched, 0, Math.min(FETCHED_BYTES, length - at), offset + at, () => undefined);
    }
  }

  private readFooter(): Footer {
    const start = this.bytes - TAIL_BYTES;
    if (start < MAGIC.length) throw new DamagedColumns(`${this.path} is not a column file`);
    const tail = Buffer.alloc(TAIL_BYTES);
    readSync(this.file, tail, 0, TAIL_BYTES, start);
    const length = tail.readUInt32LE(0);
    const magic = tail.subarray(8);
    const isKnown = [MAGIC, ...OLDER_MAGICS].some((one) => magic.equals(one));
    if (!isKnown || length > start) throw new DamagedColumns(`${this.path} is not a column file`);
    // The footer was padded like a page.
    const offset = start - Math.ceil(length / ALIGNMENT) * ALIGNMENT;
    const footer = this.read({ offset, length, crc: tail.readUInt32LE(4) });
    return JSON.parse(Buffer.from(footer).toString()) as Footer;
  }
}

/** See `ColumnFile.readForNow`. */
let forNow = new Uint8Array(0);

/** One segment in a file: what is known of it without reading pages, and its pages. */
export class StoredSegment {
  private readonly pages = new Map<number, ColumnPage>();

  constructor(
    readonly file: ColumnFile,
    /** Its place in the file. */
    readonly number: number,
    private readonly entry: SegmentEntry,
  ) {
    for (const page of entry.columns) this.pages.set(page.id, page);
  }

  get rows(): number {
    return this.entry.rows;
  }

  get from(): string {
    return this.entry.from;
  }

  get to(): string {
    return this.entry.to;
  }

  get columnIds(): readonly number[] {
    return [...this.pages.keys()];
  }

  /** Of its keys and these columns, in the file. */
  bytesOf(columnIds: readonly number[]): number {
    return columnIds.reduce((sum, id) => sum + (this.pages.get(id)?.length ?? 0), this.entry.keys.length);
  }

  /** Of the keys of its rows. */
  get keyBytes(): number {
    const { keys, rows } = this.entry;
    return keys.keyLength === null ? keys.length - 4 * (rows + 1) : rows * keys.keyLength;
  }

  columnBytes(columnId: number): number {
    return this.pages.get(columnId)?.length ?? 0;
  }

  has(columnId: number): boolean {
    return this.pages.has(columnId);
  }

  /** The zone map of a column that is stored. */
  headOf(columnId: number): PageHead {
    return this.pages.get(columnId)!.head;
  }

  /** Throws DamagedColumns, as `readColumn` does. */
  readKeys(): SegmentKeys {
    const { keys, rows } = this.entry;
    const { keyLength } = keys;
    const body = this.file.read(keys);
    if (keyLength === null) {
      const offsets = new Uint32Array(body.buffer, 0, rows + 1);
      return new SegmentKeys(body.subarray(4 * (rows + 1)), offsets, this.file.prefixLength);
    }
    const offsets = new Uint32Array(rows + 1);
    for (let i = 0; i <= rows; i++) offsets[i] = i * keyLength;
    return new SegmentKeys(body, offsets, this.file.prefixLength);
  }

  /** Its page as it is in the file; what it means may depend on a dictionary of the file. */
  readPage(columnId: number): EncodedPage {
    const page = this.pages.get(columnId)!;
    return { head: page.head, body: this.file.read(page) };
  }

  /** `isShared`: in memory that threads share. */
  readColumn(columnId: number, type: SqlType, isShared = false): StoredForm {
    const page = this.pages.get(columnId)!;
    const began = performance.now();
    const body = this.file.read(page, isShared);
    this.file.ahead.noteRead(this.number, columnId, page.length, performance.now() - began);
    return this.decoded(type, { head: page.head, body }, isShared);
  }

  /** As `StoredPages.someRows`. */
  someRows(columnId: number, type: SqlType, rows: readonly number[]): SomeRows {
    const page = this.pages.get(columnId)!;
    const { head } = page;
    const began = performance.now();
    const body = this.file.readForNow(page);
    this.file.ahead.noteRead(this.number, columnId, page.length, performance.now() - began);
    if (head.kind !== "number") return { column: this.decoded(type, { head, body }), places: rows };
    return { column: numbersAt(head, body, this.rows, rows), places: rows.map((_, i) => i) };
  }

  fetch(columnId: number): void {
    const page = this.pages.get(columnId);
    if (page !== undefined) this.file.fetch(page);
  }

  /** A page of the segment as a column. */
  decoded(type: SqlType, { head, body }: EncodedPage, isShared = false): StoredForm {
    return decodeColumn(type, head, body, this.rows, (number) => this.file.dictionary(type, number, isShared));
  }

  /** A column that a thread has read, with the file's own entries. */
  adopted(columnId: number, column: Column): Column {
    const { head } = this.pages.get(columnId)!;
    return head.kind === "codes" && column instanceof TextDictionary
      ? this.file.sharing(head.dictionary, column)
      : column;
  }
}
