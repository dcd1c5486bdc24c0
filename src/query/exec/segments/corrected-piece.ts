/**
 * Rows of a segment that have corrections, as columns of their own: corrected rows are decoded and put in their places
 * among the others, so that kernels see all of them at once. Made and stepped by segment-scan.ts, a piece of a segment
 * at a time.
 */
import type { RecordDecoder } from "../../../storage/record-codec.js";
import type { Corrections } from "../../../storage/store.js";
import type { SqlType, Value } from "../../../values/values.js";
import { emptyColumns } from "../row-buffer.js";
import {
  type Column,
  columnOf,
  type DictionaryColumn,
  type NumberColumn,
  plainOf,
  type TextColumn,
  valueAt,
} from "./column.js";
import type { SegmentKeys } from "./segment.js";
import type { SegmentSizes } from "./segment-cache.js";
import { copyBytes, textColumn, textsOf } from "./text-column.js";

/** Corrections read, or records decoded, in one step. */
const STEP_CORRECTIONS = 128;
const CODES_MAX = 65_536;

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
  private readonly decoded: Value[][];
  private decodedCount = 0;
  private decodedRows = 0;
  /** Where each row comes from: the segment's row, or −1 − a decoded row. */
  private origins: Int32Array = new Int32Array(0);
  private readonly columns: Column[] = [];

  constructor(
    private readonly corrections: Corrections,
    /** The segment's end. */
    private readonly end: string,
    private readonly segmentKeys: SegmentKeys,
    /** Its first row. */
    readonly from: number,
    private readonly types: readonly SqlType[],
    private readonly decode: RecordDecoder,
    private readonly sizes: Pick<SegmentSizes, "correctionsFew" | "correctionsMax">,
  ) {
    this.decoded = emptyColumns(types.length);
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
    return this.origins.length;
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
      this.origins = this.originsOf();
    } else if (this.columns.length < base.length) {
      const slot = this.columns.length;
      const { origins, decoded, decodedRows } = this;
      this.columns.push(mergedColumn(this.types[slot]!, base[slot]!, decoded[slot]!, decodedRows, origins));
    }
    return this.columns.length === base.length ? this.columns : null;
  }

  private decodeSome(): void {
    const to = Math.min(this.count, this.decodedCount + STEP_CORRECTIONS);
    for (; this.decodedCount < to; this.decodedCount++) {
      const record = this.records[this.decodedCount]!;
      if (record !== null) this.decode(record, this.decoded, this.decodedRows++);
    }
  }

  private originsOf(): Int32Array {
    const { from, to, places, replaces, records } = this;
    const origins = new Int32Array(to - from + this.decodedRows);
    let length = 0;
    let row = from;
    let decoded = 0;
    for (let i = 0; i < places.length; i++) {
      for (const place = places[i]!; row < place; row++) origins[length++] = row;
      if (replaces[i]!) row++;
      if (records[i] !== null) origins[length++] = -1 - decoded++;
    }
    for (; row < to; row++) origins[length++] = row;
    return origins.subarray(0, length);
  }
}

/** The rows of `base` and of `values[0 … count)` that `origins` names, in that order. */
export function mergedColumn(
  type: SqlType,
  base: Column,
  values: readonly Value[],
  count: number,
  origins: Int32Array,
): Column {
  const merged =
    base.kind === "number"
      ? mergedNumbers(base, columnOf(type, values, count), origins)
      : base.kind === "dictionary"
        ? mergedCodes(base, values, count, origins)
        : base.kind === "text"
          ? mergedTexts(base, textsOf(values, count), origins)
          : null;
  if (merged !== null) return merged;
  const all: Value[] = [];
  for (const origin of origins) all.push(origin < 0 ? values[-1 - origin]! : valueAt(base, origin));
  return plainOf(all, all.length);
}

/** Null when there are values that are no numbers of the same scale. */
function mergedNumbers(base: NumberColumn, added: Column, origins: Int32Array): NumberColumn | null {
  if (added.kind !== "number") return null;
  const isEmpty = (column: NumberColumn) => column.min > column.max && !column.hasNaN;
  if (base.scale !== added.scale && !isEmpty(added)) return null;
  const areIntegers = base.data instanceof Int32Array && added.data instanceof Int32Array;
  const data = areIntegers ? new Int32Array(origins.length) : new Float64Array(origins.length);
  gather(base.data, added.data, origins, data);
  const nulls = mergedNulls(base.nulls, added.nulls, origins);
  const bytes = data.byteLength + (nulls?.byteLength ?? 0);
  return {
    ...{ kind: "number", data, nulls, scale: base.scale, bytes },
    ...{ min: Math.min(base.min, added.min), max: Math.max(base.max, added.max), hasNaN: base.hasNaN || added.hasNaN },
  };
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

/** Null when there are too many different values. */
function mergedCodes(
  base: DictionaryColumn,
  values: readonly Value[],
  count: number,
  origins: Int32Array,
): DictionaryColumn | null {
  const codeOf = new Map<Value, number>();
  for (let code = 0; code < base.values.length; code++) codeOf.set(base.values[code]!, code);
  const entries = [...base.values];
  const added = new Uint16Array(count);
  let addedBytes = 0;
  for (let i = 0; i < count; i++) {
    const value = values[i]!;
    let code = codeOf.get(value);
    if (code === undefined) {
      code = entries.length;
      if (code === CODES_MAX) return null;
      codeOf.set(value, code);
      entries.push(value);
      addedBytes += typeof value === "string" ? value.length : 0;
    }
    added[i] = code;
  }
  const codes = entries.length <= 256 ? new Uint8Array(origins.length) : new Uint16Array(origins.length);
  gather(base.codes, added, origins, codes);
  return { kind: "dictionary", codes, values: entries, bytes: base.bytes + addedBytes };
}

function mergedTexts(base: TextColumn, added: TextColumn | null, origins: Int32Array): TextColumn | null {
  if (added === null) return null;
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
