/**
 * Which rows of a chunk may be among the first n by their first sort key, told by the arrays of segments before any
 * value is made: rows that come behind the last of n kept rows are passed over, and of a chunk in which many come
 * before it, only the first n are left. Used by top-n.ts, one per run.
 */
import { Numeric } from "../../../values/numeric.js";
import type { SqlType, Value } from "../../../values/values.js";
import { type Comparator, sortComparator } from "../../expr/compare.js";
import { ALL_ROWS, type Chunk, type Selection } from "./chunk.js";
import type { Column, DictionaryColumn, NumberColumn } from "./column.js";
import type { TextColumn } from "./text-column.js";
import { orderOfBytes } from "./text-kernels.js";

export interface FirstKeyProgram {
  /** Of the column that the first key is. */
  readonly slot: number;
  readonly type: SqlType;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
  /** There is no other key: of rows that are equal in it, the later ones come last. */
  readonly isOnly: boolean;
}

/** Types whose order is that of their texts' bytes. */
const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "name", "uuid"]);
/** Rows for which their first keys are looked at before. */
const FORESEEN_MAX = 4096;
/** A chunk of so many times as many rows as are wanted is thinned out. */
const THINNED_FROM = 4;

export class FirstKey {
  /** Places in the chunk of the rows that are left. */
  places = new Int32Array(0);
  private readonly compare: Comparator;
  /** What `bound` was when the other fields of this kind were made. */
  private bytesOf: Value = null;
  private bytes: Uint8Array = new Uint8Array(0);
  private answersOf: Value = null;
  private dictionary: DictionaryColumn | null = null;
  /** By code: 0 for not asked yet, 1 for rows that stay, 2 for others. */
  private answers = new Uint8Array(0);
  private numbers = new Float64Array(0);
  /**
   * The first numbers of rows that will come, with the sign that puts them into ascending order, and the last of them.
   */
  private foreseen: { numbers: Float64Array; count: number; limit: number | null; readonly scale: number } | null =
    null;

  constructor(private readonly program: FirstKeyProgram) {
    this.compare = sortComparator(program.type, program.descending, program.nullsFirst);
  }

  /**
   * Writes into `places` and answers how many; null: all. `bound` is the first key of the last of the kept rows;
   * undefined: fewer than `wanted` rows are kept.
   */
  candidates(chunk: Chunk, bound: Value | undefined, wanted: number): number | null {
    const { slot } = this.program;
    return this.among(chunk.vectors[slot]!, chunk.selections[slot]!, chunk.length, bound, wanted);
  }

  /** Whether no row of a segment is a candidate; `rows` 0: by what is known beside the numbers. */
  excludes(column: Column, rows: number, bound: Value | undefined): boolean {
    if (rows > 0) return this.among(column, ALL_ROWS, rows, bound, rows) === 0;
    return column.kind === "number" && !column.hasNaN && this.areBehind(column, bound);
  }

  /**
   * Takes the numbers of rows that will come, so that rows behind `wanted` of them are none from the start. False:
   * there is no use in more.
   */
  foresee(column: Column, rows: number, wanted: number): boolean {
    if (column.kind !== "number" || column.hasNaN || wanted > FORESEEN_MAX) return false;
    const sign = this.program.descending ? -1 : 1;
    this.foreseen ??= { numbers: new Float64Array(wanted + rows), count: 0, limit: null, scale: column.scale };
    const { foreseen } = this;
    if (foreseen.scale !== column.scale) return false;
    if (foreseen.numbers.length < foreseen.count + rows) {
      const grown = new Float64Array(wanted + rows);
      grown.set(foreseen.numbers.subarray(0, foreseen.count));
      foreseen.numbers = grown;
    }
    const { numbers, limit } = foreseen;
    const { data, nulls } = column;
    let { count } = foreseen;
    for (let row = 0; row < rows; row++) {
      const x = sign * data[row]!;
      if ((limit === null || x < limit) && (nulls === null || nulls[row] === 0)) numbers[count++] = x;
    }
    if (count >= wanted) {
      foreseen.limit = nthSmallest(numbers, count, wanted - 1);
      count = wanted;
    }
    foreseen.count = count;
    return true;
  }

  private among(
    column: Column,
    selection: Selection,
    length: number,
    bound: Value | undefined,
    wanted: number,
  ): number | null {
    if (this.places.length < length) this.places = new Int32Array(length);
    switch (column.kind) {
      case "number":
        return this.byNumbers(column, selection, length, bound, wanted);
      case "text":
        return bound === undefined || !TEXTS.has(this.program.type.name)
          ? null
          : this.byTexts(column, selection, length, bound);
      case "dictionary":
        return bound === undefined ? null : this.byCodes(column, selection, length, bound);
      default:
        return null;
    }
  }

  /** By the least and greatest number alone. */
  private areBehind({ min, max, nulls, scale }: NumberColumn, bound: Value | undefined): boolean {
    const { descending, nullsFirst, isOnly } = this.program;
    const limit = this.limitOf(bound, scale);
    if (limit === null || (nulls !== null && nullsFirst)) return false;
    const best = descending ? max : min;
    return (descending ? best < limit : best > limit) || (bound !== undefined && isOnly && best === limit);
  }

  /** The number behind which no row is a candidate; null: there is none, or not of this scale. */
  private limitOf(bound: Value | undefined, scale: number): number | null {
    if (bound !== undefined) return bound === null ? null : numberOf(bound, scale);
    const { foreseen } = this;
    if (foreseen === null || foreseen.limit === null || foreseen.scale !== scale) return null;
    return this.program.descending ? -foreseen.limit : foreseen.limit;
  }

  private byNumbers(
    column: NumberColumn,
    selection: Selection,
    length: number,
    bound: Value | undefined,
    wanted: number,
  ): number | null {
    const { descending, nullsFirst, isOnly } = this.program;
    if (column.hasNaN) return null;
    const last = descending ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    const number = this.limitOf(bound, column.scale);
    // Of another scale, or too large.
    if (number === null && bound !== undefined && bound !== null) return null;
    if (number !== null && this.areBehind(column, bound)) return 0;
    const nullsStay = number === null || nullsFirst;
    const limit = number ?? (bound === null && nullsFirst ? -last : last);
    const isStrict = isOnly && bound !== undefined && bound !== null;
    if (number === null && bound === undefined && (column.nulls !== null || length <= THINNED_FROM * wanted))
      return null;
    const found = this.within(column, selection, length, limit, isStrict, nullsStay);
    if (found <= THINNED_FROM * wanted || column.nulls !== null) return found;
    return this.thinned(column, selection, found, wanted);
  }

  /** The rows whose numbers come before the limit, or are it. */
  private within(
    { data, nulls }: NumberColumn,
    { rows, from }: Selection,
    length: number,
    limit: number,
    isStrict: boolean,
    nullsStay: boolean,
  ): number {
    const { places } = this;
    const isDescending = this.program.descending;
    let found = 0;
    for (let i = 0; i < length; i++) {
      const row = rows === null ? from + i : rows[i]!;
      places[found] = i;
      if (nulls !== null && nulls[row] === 1) {
        if (nullsStay) found++;
        continue;
      }
      const x = data[row]!;
      const isBefore = isDescending ? x > limit : x < limit;
      if (isBefore || (!isStrict && x === limit)) found++;
    }
    return found;
  }

  /**
   * Of the rows that are left, those that are among the first `wanted`, and others that are equal to the last of them.
   */
  private thinned({ data }: NumberColumn, { rows, from }: Selection, count: number, wanted: number): number {
    const { places } = this;
    const sign = this.program.descending ? -1 : 1;
    if (this.numbers.length < count) this.numbers = new Float64Array(Math.max(count, places.length));
    const { numbers } = this;
    for (let i = 0; i < count; i++) numbers[i] = sign * data[rows === null ? from + places[i]! : rows[places[i]!]!]!;
    const limit = nthSmallest(numbers, count, wanted - 1);
    let found = 0;
    for (let i = 0; i < count; i++) {
      const place = places[i]!;
      if (sign * data[rows === null ? from + place : rows[place]!]! <= limit) places[found++] = place;
    }
    return found;
  }

  private byTexts(
    { data, offsets, nulls }: TextColumn,
    { rows, from }: Selection,
    length: number,
    bound: Value,
  ): number | null {
    const { descending, nullsFirst } = this.program;
    const { places } = this;
    if (bound === null) return null;
    if (bound !== this.bytesOf) {
      this.bytesOf = bound;
      this.bytes = Buffer.from(bound as string);
    }
    const { bytes } = this;
    let found = 0;
    for (let i = 0; i < length; i++) {
      const row = rows === null ? from + i : rows[i]!;
      places[found] = i;
      if (nulls !== null && nulls[row] === 1) {
        if (nullsFirst) found++;
        continue;
      }
      const order = orderOfBytes(data, offsets[row]!, offsets[row + 1]!, bytes);
      if (descending ? order >= 0 : order <= 0) found++;
    }
    return found;
  }

  /** Asks once for each entry of the dictionary as long as the bound is the same. */
  private byCodes(column: DictionaryColumn, { rows, from }: Selection, length: number, bound: Value): number {
    if (column !== this.dictionary || bound !== this.answersOf) {
      this.dictionary = column;
      this.answersOf = bound;
      this.answers = new Uint8Array(column.values.length);
    }
    const { answers, places } = this;
    const { codes, values } = column;
    let found = 0;
    for (let i = 0; i < length; i++) {
      const code = codes[rows === null ? from + i : rows[i]!]!;
      if (answers[code] === 0) answers[code] = this.compare(values[code]!, bound) <= 0 ? 1 : 2;
      places[found] = i;
      found += answers[code] === 1 ? 1 : 0;
    }
    return found;
  }
}

/** The bound as the numbers of a column of this scale are; null: it is of another one. */
function numberOf(bound: NonNullable<Value>, scale: number): number | null {
  if (typeof bound === "number") return scale < 0 ? bound : null;
  if (!(bound instanceof Numeric) || bound.special !== null || bound.scale !== scale) return null;
  const number = Number(bound.unscaled);
  return Number.isSafeInteger(number) ? number : null;
}

/** Number n of the first `count` numbers when they are in order, which they are not afterwards (Hoare's FIND, 1961). */
function nthSmallest(numbers: Float64Array, count: number, n: number): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const pivot = numbers[(low + high) >>> 1]!;
    let i = low;
    let j = high;
    while (i <= j) {
      while (numbers[i]! < pivot) i++;
      while (numbers[j]! > pivot) j--;
      if (i > j) break;
      const swapped = numbers[i]!;
      numbers[i++] = numbers[j]!;
      numbers[j--] = swapped;
    }
    if (n <= j) high = j;
    else if (n >= i) low = i;
    else break;
  }
  return numbers[n]!;
}
