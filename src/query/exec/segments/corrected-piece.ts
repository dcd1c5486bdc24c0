/**
 * Rows of a segment that have corrections, as columns of their own: corrected rows are decoded and put in their places
 * among the others, so that kernels see all of them at once. Made and stepped by segment-scan.ts, a piece of a segment
 * at a time.
 */
import type { RecordDecoder } from "../../../storage/record-codec.js";
import type { Corrections } from "../../../storage/store.js";
import type { SqlType, Value } from "../../../values/values.js";
import { emptyColumns } from "../row-buffer.js";
import { ALL_ROWS, type Chunk, type Selection } from "./chunk.js";
import {
  type Column,
  columnOf,
  type DictionaryColumn,
  entryCount,
  type NumberColumn,
  plainOf,
  type StoredForm,
  type TextColumn,
  TextDictionary,
  valueAt,
} from "./column.js";
import { NULLS } from "./column-buffer.js";
import { ENCODED_DICTIONARY_BYTES, EncodedColumn, EncodedDictionary, payloadsOf } from "./encoded-column.js";
import type { SegmentKeys } from "./segment.js";
import type { SegmentSizes } from "./segment-cache.js";
import { bytesKeyOf, copyBytes, GrowingTexts, isTextAt, textColumn, textsOf } from "./text-column.js";

/** Corrections read, or records decoded, in one step. */
const STEP_CORRECTIONS = 128;
const CODES_MAX = 65_536;

/** Some columns of the table by their slots, and what decodes them. */
interface DecodedPart {
  readonly slots: readonly number[];
  readonly decode: RecordDecoder;
}

/** How a scan makes columns of corrected rows (`pieceProgramOf`). */
export interface PieceProgram {
  /** By slot. */
  readonly types: readonly SqlType[];
  /** Columns that are made of all rows. */
  readonly first: DecodedPart;
  /** Columns that no test wants: they, and keys, are made of rows that pass. Null: there are none. */
  readonly rest: DecodedPart | null;
}

/** Rows that were decoded. */
interface DecodedRows {
  /** By slot. */
  readonly values: readonly Value[][];
  readonly keys: readonly Uint8Array[];
}

export class CorrectedPiece {
  readonly keys: Uint8Array[] = [];
  /** Records; null: the row is gone. */
  readonly records: (Uint8Array | null)[] = [];
  /** The segment's row that the correction stands for, or that it comes before. */
  readonly places: number[] = [];
  readonly replaces: boolean[] = [];
  /** The first row behind the piece, once it is gathered. */
  to = -1;
  /** Of the corrections, the one to be handed out next, where they are handed out one by one. */
  next = 0;
  private readonly decoded: DecodedRows & { readonly keys: Uint8Array[]; readonly records: Uint8Array[] };
  /** Values of the columns that are made of all rows. */
  private readonly first: Value[][];
  private decodedCount = 0;
  private rowsFrom: RowOrigins = NO_ROWS;
  private readonly columns: Column[] = [];

  constructor(
    private readonly corrections: Corrections,
    /** The segment's end. */
    private readonly end: string,
    private readonly segmentKeys: SegmentKeys,
    /** Its first row. */
    readonly from: number,
    private readonly program: PieceProgram,
    private readonly sizes: Pick<SegmentSizes, "correctionsFew" | "correctionsMax">,
  ) {
    const values = emptyColumns(program.types.length);
    this.decoded = { values, keys: [], records: [] };
    this.first = program.first.slots.map((slot) => values[slot]!);
  }

  get count(): number {
    return this.keys.length;
  }

  /** Runs of rows between its corrections cost less than columns made anew. */
  get isSmall(): boolean {
    return this.count <= this.sizes.correctionsFew;
  }

  /** Rows of `vectors`. */
  get rows(): number {
    return this.rowsFrom.origins.length;
  }

  /** Reads some corrections; true when all of the piece are there. */
  gather(): boolean {
    if (this.to >= 0) return true;
    const { corrections, segmentKeys } = this;
    let at = this.places.at(-1) ?? this.from;
    for (let i = 0; i < STEP_CORRECTIONS; i++) {
      const { text, key, value } = corrections;
      if (text === null || text >= this.end) {
        this.to = segmentKeys.length;
        return true;
      }
      at = segmentKeys.nextBound(key, at);
      if (this.count === this.sizes.correctionsMax) {
        this.to = at;
        return true;
      }
      this.keys.push(key);
      this.records.push(value);
      this.places.push(at);
      this.replaces.push(at < segmentKeys.length && segmentKeys.compare(at, key) === 0);
      corrections.advance();
    }
    return false;
  }

  /** Decodes some records, or makes one column from the segment's; null while it is not done. */
  merge(base: readonly Column[]): readonly Column[] | null {
    if (this.decodedCount < this.count) {
      this.decodeSome();
      if (this.decodedCount < this.count) return null;
      this.rowsFrom = originsOf(this.from, this.to, this, this.decoded.keys.length);
    } else if (this.columns.length < base.length) {
      const slot = this.columns.length;
      this.columns.push(this.isRest(slot) ? NULLS : this.column(base[slot]!, slot, this.decoded, this.rowsFrom));
    }
    return this.columns.length === base.length ? this.columns : null;
  }

  private column(base: Column, slot: number, { values, keys }: DecodedRows, rows: RowOrigins): Column {
    if (base.kind !== "key") return mergedColumn(this.program.types[slot]!, base, values[slot]!, rows);
    const { origins } = rows;
    const at = (row: number) => (origins[row]! < 0 ? keys[-1 - origins[row]!]! : base.at(origins[row]!));
    return { kind: "key", at, bytes: 0 };
  }

  private isRest(slot: number): boolean {
    return this.hasRest && !this.program.first.slots.includes(slot);
  }

  /** Some columns are made by `rest`. */
  get hasRest(): boolean {
    return this.program.rest !== null;
  }

  /**
   * Rows that have passed: these, or when `rows` is null those from `from` on. The columns that no test wanted are made
   * of them alone; they are the segment's own where no decoded row is among them.
   * @param base the segment's columns.
   */
  rest(
    base: readonly Column[],
    rows: Int32Array | null,
    from: number,
    length: number,
  ): Pick<Chunk, "vectors" | "selections"> {
    const passed: Selection = { rows, from };
    const own = this.passedOrigins(rows, from, length);
    const decoded = own.decoded.length === 0 ? null : this.decodeRest(own.decoded);
    const others: Selection = decoded === null ? { rows: own.origins, from: 0 } : ALL_ROWS;
    return {
      vectors: this.columns.map((column, slot) => {
        if (!this.isRest(slot)) return column;
        return decoded === null ? base[slot]! : this.column(base[slot]!, slot, decoded, own);
      }),
      selections: this.columns.map((_, slot) => (this.isRest(slot) ? others : passed)),
    };
  }

  /** As of `rowsFrom`, of these rows alone. `decoded`: the numbers of those that are decoded rows. */
  private passedOrigins(rows: Int32Array | null, from: number, length: number): RowOrigins & { decoded: number[] } {
    const { origins, replaced } = this.rowsFrom;
    const own = new Int32Array(length);
    const decoded: number[] = [];
    for (let i = 0; i < length; i++) {
      const origin = origins[rows === null ? from + i : rows[i]!]!;
      own[i] = origin < 0 ? -decoded.push(-1 - origin) : origin;
    }
    return { origins: own, replaced: Int32Array.from(decoded, (number) => replaced[number]!), decoded };
  }

  /** Of some decoded rows, the columns that no test wanted. */
  private decodeRest(numbers: readonly number[]): DecodedRows {
    const { decode, slots } = this.program.rest!;
    const { records, keys } = this.decoded;
    const values = emptyColumns(this.program.types.length);
    const columns = slots.map((slot) => values[slot]!);
    for (const [i, number] of numbers.entries()) decode(records[number]!, columns, i);
    return { values, keys: numbers.map((number) => keys[number]!) };
  }

  private decodeSome(): void {
    const { keys, records } = this.decoded;
    const to = Math.min(this.count, this.decodedCount + STEP_CORRECTIONS);
    for (; this.decodedCount < to; this.decodedCount++) {
      const record = this.records[this.decodedCount]!;
      if (record === null) continue;
      this.program.first.decode(record, this.first, keys.length);
      records.push(record);
      keys.push(this.keys[this.decodedCount]!);
    }
  }
}

/** Where the rows of a corrected piece come from. */
export interface RowOrigins {
  /** For each row: the segment's row, or −1 − a decoded row. */
  readonly origins: Int32Array;
  /** For each decoded row: the segment's row whose place it takes; −1: it comes between two. */
  readonly replaced: Int32Array;
}

const NO_ROWS: RowOrigins = { origins: new Int32Array(0), replaced: new Int32Array(0) };

/** Corrections of a segment's rows, in order of their keys. */
export interface PlacedCorrections {
  /** The segment's row that the correction stands for, or that it comes before. */
  readonly places: readonly number[];
  readonly replaces: readonly boolean[];
  /** Null: the row is gone. */
  readonly records: readonly (Uint8Array | null)[];
}

/** Of the segment's rows from one to another, with the corrections among them, `decodedRows` of which are rows. */
export function originsOf(
  from: number,
  to: number,
  { places, replaces, records }: PlacedCorrections,
  decodedRows: number,
): RowOrigins {
  const origins = new Int32Array(to - from + decodedRows);
  const replaced = new Int32Array(decodedRows);
  let length = 0;
  let row = from;
  let decoded = 0;
  for (let i = 0; i < places.length; i++) {
    for (const place = places[i]!; row < place; row++) origins[length++] = row;
    if (records[i] !== null) {
      replaced[decoded] = replaces[i]! ? row : -1;
      origins[length++] = -1 - decoded++;
    }
    if (replaces[i]!) row++;
  }
  for (; row < to; row++) origins[length++] = row;
  return { origins: origins.subarray(0, length), replaced };
}

/** The rows of `base` and of the decoded values that `origins` names, in that order. */
export function mergedColumn(type: SqlType, base: StoredForm, values: readonly Value[], rows: RowOrigins): StoredForm {
  const { origins, replaced } = rows;
  const count = replaced.length;
  if (base.kind === "number") {
    const added = columnOf(type, values, count);
    if (added.kind === "number" && haveOneScale(base, added)) return mergedNumbers(base, added, origins);
  } else if (base instanceof EncodedDictionary) {
    const payloads = payloadsOf(type, values, count);
    const added = addedEntries(base, payloads);
    if (added !== null) return mergedEntries(base, added, origins);
    return new EncodedColumn(type, mergedTexts(base.rows().payloads, payloads, origins));
  } else if (base.kind === "encoded") {
    return new EncodedColumn(type, mergedTexts(base.payloads, payloadsOf(type, values, count), origins));
  } else if (base.kind === "dictionary") {
    const added = addedCodes(base, values, rows);
    if (added !== null) return mergedCodes(base, added, origins);
  } else if (base.kind === "text") {
    const added = textsOf(values, count);
    if (added !== null) return mergedTexts(base, added, origins);
  }
  const all: Value[] = [];
  for (const origin of origins) all.push(origin < 0 ? values[-1 - origin]! : valueAt(base, origin));
  return plainOf(all, all.length);
}

function haveOneScale(base: NumberColumn, added: NumberColumn): boolean {
  return base.scale === added.scale || (added.min > added.max && !added.hasNaN);
}

function mergedNumbers(base: NumberColumn, added: NumberColumn, origins: Int32Array): NumberColumn {
  const areIntegers = base.data instanceof Int32Array && added.data instanceof Int32Array;
  const data = areIntegers ? new Int32Array(origins.length) : new Float64Array(origins.length);
  gather(base.data, added.data, origins, data);
  const nulls = mergedNulls(base.nulls, added.nulls, origins);
  const bytes = data.byteLength + (nulls?.byteLength ?? 0);
  const [min, max] = [Math.min(base.min, added.min), Math.max(base.max, added.max)];
  const hasNaN = base.hasNaN || added.hasNaN;
  return { kind: "number", data, nulls, min, max, hasNaN, scale: base.scale, bytes };
}

function mergedNulls(base: Uint8Array | null, added: Uint8Array | null, origins: Int32Array): Uint8Array | null {
  if (base === null && added === null) return null;
  const nulls = new Uint8Array(origins.length);
  for (let i = 0; i < origins.length; i++) {
    const origin = origins[i]!;
    nulls[i] = (origin < 0 ? added?.[-1 - origin] : base?.[origin]) ?? 0;
  }
  return nulls;
}

type Numbers = Int32Array | Float64Array | Uint8Array | Uint16Array;

function gather(base: Numbers, added: Numbers, origins: Int32Array, out: Numbers): void {
  for (let i = 0; i < origins.length; i++) {
    const origin = origins[i]!;
    out[i] = origin < 0 ? added[-1 - origin]! : base[origin]!;
  }
}

/** Codes of the decoded rows. */
interface AddedCodes {
  readonly codes: Uint16Array;
  /** Entries, with those that the segment does not have. */
  readonly count: number;
  /** Null: there are no others. */
  readonly values: readonly Value[] | null;
  readonly bytes: number;
}

/**
 * Null when there are too many different values. Most changed rows have the value that they had, so the other values
 * are only numbered when one of them is wanted.
 */
function addedCodes(base: DictionaryColumn, values: readonly Value[], { replaced }: RowOrigins): AddedCodes | null {
  const added = new Uint16Array(replaced.length);
  const known = entryCount(base);
  const more: Value[] = [];
  let codeOf: Map<Value, number> | null = null;
  let moreBytes = 0;
  for (let i = 0; i < replaced.length; i++) {
    const value = values[i]!;
    const before = replaced[i]! < 0 ? -1 : base.codes[replaced[i]!]!;
    if (before >= 0 && isEntry(base, before, value)) {
      added[i] = before;
      continue;
    }
    codeOf ??= codesOf(base);
    let code = codeOf.get(value);
    if (code === undefined) {
      code = known + more.length;
      if (code === CODES_MAX) return null;
      codeOf.set(value, code);
      more.push(value);
      moreBytes += typeof value === "string" ? value.length : 0;
    }
    added[i] = code;
  }
  const all = more.length === 0 ? null : [...base.values, ...more];
  return { codes: added, count: known + more.length, values: all, bytes: base.bytes + moreBytes };
}

function mergedCodes(base: DictionaryColumn, added: AddedCodes, origins: Int32Array): DictionaryColumn {
  const codes = added.count <= 256 ? new Uint8Array(origins.length) : new Uint16Array(origins.length);
  gather(base.codes, added.codes, origins, codes);
  if (added.values === null && base instanceof TextDictionary) return base.withCodes(codes);
  return { kind: "dictionary", codes, values: added.values ?? base.values, bytes: added.bytes };
}

interface AddedEntries {
  readonly codes: Uint16Array;
  /** All of them. */
  readonly encoded: EncodedColumn;
}

/** Null when there are too many different values. */
function addedEntries({ encoded, count }: EncodedDictionary, added: TextColumn): AddedEntries | null {
  const rows = added.offsets.length - 1;
  const codeOf = new Map<string | null, number>();
  for (let code = 0; code < count; code++) codeOf.set(bytesKeyOf(encoded.payloads, code), code);
  const codes = new Uint16Array(rows);
  const more: number[] = [];
  for (let row = 0; row < rows; row++) {
    const key = bytesKeyOf(added, row);
    let code = codeOf.get(key);
    if (code === undefined) {
      code = codeOf.size;
      if (code === CODES_MAX) return null;
      codeOf.set(key, code);
      more.push(row);
    }
    codes[row] = code;
  }
  if (more.length === 0) return { codes, encoded };
  const texts = new GrowingTexts();
  texts.append(encoded.payloads, null, 0, count);
  texts.append(added, Int32Array.from(more), 0, more.length);
  const all = texts.column();
  return all.data.length > ENCODED_DICTIONARY_BYTES ? null : { codes, encoded: new EncodedColumn(encoded.type, all) };
}

function mergedEntries(base: EncodedDictionary, added: AddedEntries, origins: Int32Array): EncodedDictionary {
  const count = added.encoded.payloads.offsets.length - 1;
  const codes = count <= 256 ? new Uint8Array(origins.length) : new Uint16Array(origins.length);
  gather(base.codes, added.codes, origins, codes);
  return added.encoded === base.encoded ? base.withCodes(codes) : new EncodedDictionary(codes, added.encoded);
}

function codesOf({ values }: DictionaryColumn): Map<Value, number> {
  const codes = new Map<Value, number>();
  for (let code = 0; code < values.length; code++) codes.set(values[code]!, code);
  return codes;
}

function isEntry(base: DictionaryColumn, code: number, value: Value): boolean {
  return base.entries === undefined ? base.values[code] === value : isTextAt(base.entries, code, value);
}

function mergedTexts(base: TextColumn, added: TextColumn, origins: Int32Array): TextColumn {
  const { length } = origins;
  const offsets = new Uint32Array(length + 1);
  let end = 0;
  for (let i = 0; i < length; i++) {
    const origin = origins[i]!;
    const from = origin < 0 ? added.offsets : base.offsets;
    const row = origin < 0 ? -1 - origin : origin;
    end += from[row + 1]! - from[row]!;
    offsets[i + 1] = end;
  }
  const data = new Uint8Array(end);
  for (let i = 0; i < length; ) {
    const origin = origins[i]!;
    const source = origin < 0 ? added : base;
    // Neighbours are copied together: decoded rows fall where the segment's rise.
    const step = origin < 0 ? -1 : 1;
    let count = 1;
    while (i + count < length && origins[i + count] === origin + step * count) count++;
    const row = origin < 0 ? -1 - origin : origin;
    copyBytes(source.data, source.offsets[row]!, source.offsets[row + count]!, data, offsets[i]!);
    i += count;
  }
  return textColumn(data, offsets, base.isAscii && added.isAscii, mergedNulls(base.nulls, added.nulls, origins));
}
