/**
 * One column of one segment: its values in typed arrays where the type allows, with what filters ask of the whole
 * (smallest and largest value, NULLs). Immutable; made by segment-builder.ts, read by the scan and by vector kernels.
 *
 * | types                                              | held as                                                |
 * |----------------------------------------------------|--------------------------------------------------------|
 * | int2 int4 int8 oid date time timestamp(tz)         | numbers: Int32Array if all fit, else Float64Array      |
 * | float4 float8                                      | numbers: Float64Array                                  |
 * | numeric                                            | numbers: unscaled integers, if all have one scale      |
 * | bool, text, varchar, bpchar, name, uuid            | dictionary, if values repeat                           |
 * | the same but bool, of few repeated values          | texts: UTF-8 end to end                                |
 * | json, jsonb, lists: in files                       | encoded (encoded-column.ts), or dictionary             |
 * | the same in memory; vector(n), variant; what does  | an ordinary array                                      |
 * | not fit (bigints of int8 and timestamps)           |                                                        |
 */
import { Numeric } from "../../../values/numeric.js";
import type { SqlType, Value } from "../../../values/values.js";
import { sumOfBytes } from "../value-bytes.js";
import { type EncodedColumn, EncodedDictionary, holdsEncoded } from "./encoded-column.js";
import { type TextColumn, textsOf, textValueAt } from "./text-column.js";

export interface NumberColumn {
  readonly kind: "number";
  readonly data: Int32Array | Float64Array;
  /** 1 where the value is NULL (whose number is 0); null: there is no NULL. */
  readonly nulls: Uint8Array | null;
  /** Of the numbers that are neither NULL nor NaN; min > max when there is none. */
  readonly min: number;
  readonly max: number;
  readonly hasNaN: boolean;
  /** Of numeric: digits after the point of every value. −1: the numbers are the values. */
  readonly scale: number;
  readonly bytes: number;
}

export interface DictionaryColumn {
  readonly kind: "dictionary";
  readonly codes: Uint8Array | Uint16Array;
  /** By code; one of them may be NULL. */
  readonly values: readonly Value[];
  /** The same as texts, where they were stored so: then `values` are made when somebody asks for them. */
  readonly entries?: TextColumn;
  readonly bytes: number;
}

/** A dictionary of texts, none of which is an object of its own until somebody reads one. */
export class TextDictionary implements DictionaryColumn {
  readonly kind = "dictionary";
  readonly bytes: number;
  private made: readonly Value[] | null = null;

  constructor(
    readonly codes: Uint8Array | Uint16Array,
    readonly entries: TextColumn,
    /** Has made the values, or will. */
    private readonly origin: TextDictionary | null = null,
    /** Columns that have these entries, and share their memory. */
    private readonly users = 1,
  ) {
    // Values that are made stay as long as the column.
    this.bytes = codes.byteLength + Math.ceil((entries.bytes + entries.data.length) / users);
  }

  /** Other rows of the same entries, of which none is made twice. */
  withCodes(codes: Uint8Array | Uint16Array): TextDictionary {
    return new TextDictionary(codes, this.entries, this.origin ?? this, this.users);
  }

  get values(): readonly Value[] {
    if (this.origin !== null) return this.origin.values;
    this.made ??= Array.from({ length: this.entries.offsets.length - 1 }, (_, code) => textValueAt(this.entries, code));
    return this.made;
  }
}

/** How many entries a dictionary has. */
export function entryCount(column: DictionaryColumn): number {
  if (column instanceof EncodedDictionary) return column.count;
  return column.entries === undefined ? column.values.length : column.entries.offsets.length - 1;
}

/** The bytes of the entries as records have them, which are their UTF-8 where they are texts; null: of other values. */
export function storedEntriesOf(column: DictionaryColumn): TextColumn | null {
  return column instanceof EncodedDictionary ? column.encoded.payloads : entriesOf(column);
}

/** The entries as texts; null: they have no such form. */
export function entriesOf(column: DictionaryColumn): TextColumn | null {
  if (column instanceof EncodedDictionary) return null;
  return column.entries ?? textsOf(column.values, column.values.length);
}

export interface PlainColumn {
  readonly kind: "plain";
  readonly values: ArrayLike<Value>;
  readonly bytes: number;
}

export type { EncodedColumn, TextColumn };

/** What a column of the table is held as. */
export type StoredForm = NumberColumn | DictionaryColumn | TextColumn | EncodedColumn | PlainColumn;

/** The rows' keys, whole; each is made when somebody asks for it. */
export interface KeyColumn {
  readonly kind: "key";
  at(row: number): Uint8Array;
  readonly bytes: 0;
}

export type Column = StoredForm | KeyColumn;

const NUMBERS = new Set([
  "int2",
  "int4",
  "int8",
  "oid",
  "float4",
  "float8",
  "date",
  "time",
  "timestamp",
  "timestamptz",
]);
const REPEATING = new Set(["bool", "text", "varchar", "bpchar", "name", "uuid"]);

/** Types that segments hold; a scan that wants another one reads records. */
export function isSegmentable(type: SqlType): boolean {
  if (type.name === "vector") return type.modifier !== null;
  if (type.name === "variant") return true;
  return holdsNumbers(type) || REPEATING.has(type.name) || holdsEncoded(type);
}

/** Whether rows are looked up by their keys in segments with a column of the type: not for one value of many. */
export function isLookedUp(type: SqlType): boolean {
  return isSegmentable(type) && !holdsEncoded(type);
}

/** Whether a column of the type is held as numbers, if its values allow it. */
export function holdsNumbers(type: SqlType): boolean {
  return NUMBERS.has(type.name) || type.name === "numeric";
}

/** Whether a column of the type is held as texts when its values do not repeat. */
export function holdsTexts(type: SqlType): boolean {
  return REPEATING.has(type.name) && type.name !== "bool";
}

/** Takes the first `length` values. */
export function columnOf(type: SqlType, values: readonly Value[], length: number): StoredForm {
  if (type.name === "vector" || type.name === "variant" || holdsEncoded(type)) return plainOf(values, length);
  const column = NUMBERS.has(type.name)
    ? numbersOf(values, length, -1)
    : type.name === "numeric"
      ? numericsOf(values, length)
      : (dictionaryOf(values, length) ?? (holdsTexts(type) ? textsOf(values, length) : null));
  return column ?? plainOf(values, length);
}

export function plainOf(values: readonly Value[], length: number): PlainColumn {
  return { kind: "plain", values: values.slice(0, length), bytes: sumOfBytes(values, length) };
}

/** Null when one of them is a bigint. */
function numbersOf(values: readonly Value[], length: number, scale: number): NumberColumn | null {
  let nulls: Uint8Array | null = null;
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let hasNaN = false;
  let isInt32 = true;
  for (let i = 0; i < length; i++) {
    const value = values[i];
    if (value === null) {
      nulls ??= new Uint8Array(length);
      nulls[i] = 1;
      continue;
    }
    if (typeof value !== "number") return null;
    if ((value | 0) !== value || Object.is(value, -0)) isInt32 = false;
    if (value < min) min = value;
    if (value > max) max = value;
    if (Number.isNaN(value)) hasNaN = true;
  }
  const data = isInt32 ? new Int32Array(length) : new Float64Array(length);
  for (let i = 0; i < length; i++) data[i] = (values[i] as number | null) ?? 0;
  return { kind: "number", data, nulls, min, max, hasNaN, scale, bytes: data.byteLength + (nulls?.byteLength ?? 0) };
}

/** Null unless all are finite, of one scale, and within 2^53 when unscaled. */
function numericsOf(values: readonly Value[], length: number): NumberColumn | null {
  let scale = -1;
  const unscaled = new Array<number | null>(length);
  for (let i = 0; i < length; i++) {
    const value = values[i] as Numeric | null;
    if (value === null) {
      unscaled[i] = null;
      continue;
    }
    const number = Number(value.unscaled);
    if (scale === -1) scale = value.scale;
    if (value.special !== null || value.scale !== scale || !Number.isSafeInteger(number)) return null;
    unscaled[i] = number;
  }
  return numbersOf(unscaled, length, Math.max(scale, 0));
}

const CODES_MAX = 65_536;

/** Entries that the dictionary of so many rows may have: with more, fewer than half of the values repeat. */
export function codesMax(rows: number): number {
  return Math.min(CODES_MAX, Math.max(2, rows >> 1));
}

/** Null when fewer than half of the values repeat. */
function dictionaryOf(values: readonly Value[], length: number): DictionaryColumn | null {
  const max = codesMax(length);
  const codeOf = new Map<Value, number>();
  const wide = new Uint16Array(length);
  for (let i = 0; i < length; i++) {
    const value = values[i]!;
    let code = codeOf.get(value);
    if (code === undefined) {
      code = codeOf.size;
      if (code === max) return null;
      codeOf.set(value, code);
    }
    wide[i] = code;
  }
  const codes = codeOf.size <= 256 ? Uint8Array.from(wide) : wide;
  const entries = [...codeOf.keys()];
  return { kind: "dictionary", codes, values: entries, bytes: codes.byteLength + sumOfBytes(entries, entries.length) };
}

/** Whether its arrays are in memory that threads share, so that nothing is copied when it is sent. */
export function isShared(column: Column): boolean {
  switch (column.kind) {
    case "number":
      return column.data.buffer instanceof SharedArrayBuffer;
    case "text":
      return column.data.buffer instanceof SharedArrayBuffer;
    case "dictionary":
      return column.entries !== undefined && column.codes.buffer instanceof SharedArrayBuffer;
    case "plain":
    case "key":
    case "encoded":
      return false;
  }
}

/** A column as it is sent to a thread, which makes no class of it. */
export type SentSegmentColumn =
  | NumberColumn
  | TextColumn
  | { readonly kind: "coded"; readonly codes: Uint8Array | Uint16Array; readonly entries: TextColumn };

/** Of a column that is shared. */
export function sentColumn(column: Column): SentSegmentColumn {
  if (column.kind === "plain" || column.kind === "key" || column.kind === "encoded")
    throw new Error("a column of values is not shared");
  return column.kind === "dictionary" ? { kind: "coded", codes: column.codes, entries: column.entries! } : column;
}

export function receivedColumn(sent: SentSegmentColumn): Column {
  return sent.kind === "coded" ? new TextDictionary(sent.codes, sent.entries) : sent;
}

export function valueAt(column: Column, row: number): Value {
  switch (column.kind) {
    case "plain":
      return column.values[row]!;
    case "key":
    case "encoded":
      return column.at(row);
    case "dictionary":
      return column.values[column.codes[row]!]!;
    case "text":
      return textValueAt(column, row);
    case "number": {
      if (column.nulls !== null && column.nulls[row] === 1) return null;
      const number = column.data[row]!;
      return column.scale < 0 ? number : Numeric.of(BigInt(number), column.scale);
    }
  }
}

/**
 * Values for a batch: of `rows[0 … count)`, or of the `count` rows after `from` when `rows` is null. Numbers without
 * NULLs stay in typed arrays; anything else is written into `out`.
 */
export function valuesOf(
  column: Column,
  rows: Int32Array | null,
  from: number,
  count: number,
  out: Value[],
): ArrayLike<Value> {
  if (column.kind === "number" && column.scale < 0 && column.nulls === null) {
    const { data } = column;
    if (rows === null) return data.subarray(from, from + count);
    const gathered = data instanceof Int32Array ? new Int32Array(count) : new Float64Array(count);
    for (let i = 0; i < count; i++) gathered[i] = data[rows[i]!]!;
    return gathered;
  }
  if (column.kind === "dictionary") {
    const { codes, values } = column;
    if (rows === null) for (let i = 0; i < count; i++) out[i] = values[codes[from + i]!]!;
    else for (let i = 0; i < count; i++) out[i] = values[codes[rows[i]!]!]!;
    return out;
  }
  if (column.kind === "plain") {
    const { values } = column;
    if (rows === null) for (let i = 0; i < count; i++) out[i] = values[from + i]!;
    else for (let i = 0; i < count; i++) out[i] = values[rows[i]!]!;
    return out;
  }
  if (column.kind === "text") {
    for (let i = 0; i < count; i++) out[i] = textValueAt(column, rows === null ? from + i : rows[i]!);
    return out;
  }
  for (let i = 0; i < count; i++) out[i] = valueAt(column, rows === null ? from + i : rows[i]!);
  return out;
}

/** The numbers of a column in double precision, for kernels: NULLs come as 0. */
export function loadNumbers(
  { data }: NumberColumn,
  rows: Int32Array | null,
  from: number,
  count: number,
  out: Float64Array,
): void {
  // One loop per array type, so that each stays monomorphic.
  if (data instanceof Int32Array) {
    if (rows === null) for (let i = 0; i < count; i++) out[i] = data[from + i]!;
    else for (let i = 0; i < count; i++) out[i] = data[rows[i]!]!;
  } else if (rows === null) {
    for (let i = 0; i < count; i++) out[i] = data[from + i]!;
  } else {
    for (let i = 0; i < count; i++) out[i] = data[rows[i]!]!;
  }
}

/** Sets `out[i]` where the value is NULL. */
export function markNulls(
  nulls: Uint8Array,
  rows: Int32Array | null,
  from: number,
  count: number,
  out: Uint8Array,
): void {
  if (rows === null) for (let i = 0; i < count; i++) out[i]! |= nulls[from + i]!;
  else for (let i = 0; i < count; i++) out[i]! |= nulls[rows[i]!]!;
}
