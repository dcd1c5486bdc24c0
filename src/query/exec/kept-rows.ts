/**
 * Rows in the order of an index over numbers, for lookups of ranges (index-spool.ts). Where the first column of the key
 * is made of integers that lie close together, rows are put into groups by counting, and a group is sorted by the other
 * columns when it is first looked up. Else all rows are sorted by radix.
 */
import type { Value } from "../../values/values.js";
import type { KeyDirection } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { KeyRangesProgram } from "./key-ranges.js";
import type { Column, NumberColumn } from "./segments/column.js";
import { EMPTY_ROW } from "./slots.js";
import { sortInSteps } from "./sort-numbers.js";
import type { KeyLayout } from "./table-layout.js";

export interface KeptRowsProgram {
  readonly key: KeyLayout;
  /** Slots of its columns. */
  readonly keySlots: readonly number[];
  readonly ranges: KeyRangesProgram;
}

/** Places among which integers are counted, per row. */
const PLACES_PER_ROW = 8;
const PLACES_MIN = 4096;
/** Rows of a group that is sorted at once. */
const GROUP_ROWS_MAX = 4096;
/** Rows of one step. */
const STEP_ROWS = 32_768;
/** A group of fewer is sorted by insertion. */
const INSERTED = 64;

/** Some neighbours in the order of the key: places from … to − 1. */
export interface Places {
  readonly from: number;
  readonly to: number;
}

const NONE: Places = { from: 0, to: 0 };

/** In steps (in-steps.ts). `vectors`: the rows, by slot. Null: the key has other values than numbers. */
export function* keepRows(
  program: KeptRowsProgram,
  vectors: readonly Column[],
  count: number,
): Generator<undefined, KeptRows | null> {
  const keys: Float64Array[] = [];
  for (const [k, slot] of program.keySlots.entries()) {
    const column = vectors[slot]!;
    if (column.kind !== "number" || !areExact(column)) return null;
    keys.push(yield* standIns(column, program.key.columns[k]!));
  }
  const groups = program.ranges.prefix.length === 0 ? null : yield* groupedBy(keys[0]!, keys.length > 1);
  const sorted = keys.map((numbers) => ({ numbers, nulls: null, descending: false, nullsFirst: false }));
  return new KeptRows(program, vectors, keys, groups?.rows ?? (yield* sortInSteps(count, sorted)), groups);
}

/** Infinity is left to stand for NULL. */
function areExact({ min, max, hasNaN }: NumberColumn): boolean {
  return !hasNaN && (min > max || (min >= Number.MIN_SAFE_INTEGER && max <= Number.MAX_SAFE_INTEGER));
}

/** Numbers that rise where the order does, without −0. */
function* standIns(column: NumberColumn, direction: KeyDirection): Generator<undefined, Float64Array> {
  const { data, nulls } = column;
  const out = new Float64Array(data.length);
  const ofNull = direction.nullsFirst ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  for (let from = 0; from < data.length; from += STEP_ROWS) {
    const to = Math.min(from + STEP_ROWS, data.length);
    if (direction.descending) for (let i = from; i < to; i++) out[i] = 0 - data[i]!;
    else for (let i = from; i < to; i++) out[i] = data[i]! + 0;
    if (nulls !== null) for (let i = from; i < to; i++) if (nulls[i] === 1) out[i] = ofNull;
    yield;
  }
  return out;
}

/** Rows by their integers. */
interface Groups {
  readonly least: number;
  /** By distance from the least one: where its rows begin; and where the last one's end. */
  readonly starts: Int32Array;
  readonly rows: Int32Array;
  /** 1: its rows are in the order of the other columns, too; null: there are none. */
  readonly isSorted: Uint8Array | null;
}

/** Null: they do not lie close together, or there are long groups to sort. Rows of NULL are left out. */
function* groupedBy(numbers: Float64Array, isToSort: boolean): Generator<undefined, Groups | null> {
  const { length } = numbers;
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let from = 0; from < length; from += STEP_ROWS) {
    for (let i = from, to = Math.min(from + STEP_ROWS, length); i < to; i++) {
      const number = numbers[i]!;
      if (!Number.isFinite(number)) continue;
      if (!Number.isInteger(number)) return null;
      if (number < least) least = number;
      if (number > greatest) greatest = number;
    }
    yield;
  }
  const places = greatest - least + 1;
  if (!(places > 0 && places <= PLACES_PER_ROW * length + PLACES_MIN)) return null;
  const starts = new Int32Array(places + 1);
  for (let from = 0; from < length; from += STEP_ROWS) {
    countPlaces(numbers, from, Math.min(from + STEP_ROWS, length), least, starts);
    yield;
  }
  let longest = 0;
  for (let from = 0, sum = 0; from < places; from += STEP_ROWS) {
    for (let place = from, to = Math.min(from + STEP_ROWS, places); place < to; place++) {
      const rows = starts[place]!;
      if (rows > longest) longest = rows;
      starts[place] = sum;
      sum += rows;
    }
    starts[places] = sum;
    yield;
  }
  if (isToSort && longest > GROUP_ROWS_MAX) return null;
  const rows = new Int32Array(starts[places]!);
  const next = starts.slice();
  for (let from = 0; from < length; from += STEP_ROWS) {
    placeRows(numbers, from, Math.min(from + STEP_ROWS, length), least, next, rows);
    yield;
  }
  return { least, starts, rows, isSorted: isToSort ? new Uint8Array(places) : null };
}

function countPlaces(numbers: Float64Array, from: number, to: number, least: number, counts: Int32Array): void {
  for (let i = from; i < to; i++) {
    const number = numbers[i]!;
    if (Number.isFinite(number)) counts[number - least]!++;
  }
}

function placeRows(
  numbers: Float64Array,
  from: number,
  to: number,
  least: number,
  next: Int32Array,
  rows: Int32Array,
): void {
  for (let i = from; i < to; i++) {
    const number = numbers[i]!;
    if (Number.isFinite(number)) rows[next[number - least]!++] = i;
  }
}

export class KeptRows {
  constructor(
    private readonly program: KeptRowsProgram,
    /** By slot. */
    readonly vectors: readonly Column[],
    /** By column of the key, what stands for its values, by row. */
    private readonly keys: readonly Float64Array[],
    /** Row numbers, by place; those of groups may not be in their order yet. */
    readonly rows: Int32Array,
    private readonly groups: Groups | null,
  ) {}

  /** The rows of the range that the context's outer values give. */
  find(context: ExecContext): Places {
    const { ranges, key } = this.program;
    const { prefix, lower, upper } = ranges;
    let [from, to] = [0, this.rows.length];
    for (let k = 0; k < prefix.length; k++) {
      const number = this.standIn(prefix[k]!(EMPTY_ROW, 0, context), k);
      // Infinity stands for NULL.
      if (number === null || !Number.isFinite(number)) return NONE;
      if (k === 0 && this.groups !== null) ({ from, to } = this.groupOf(number, this.groups));
      else {
        from = this.firstBehind(k, number, true, from, to);
        to = this.firstBehind(k, number, false, from, to);
      }
      if (from === to) return NONE;
    }
    if (lower === null && upper === null) return { from, to };
    const k = prefix.length;
    // A descending column turns the two sides round. Open ends leave out NULLs.
    const [first, last] = key.columns[k]!.descending ? [upper, lower] : [lower, upper];
    const begin = first === null ? Number.NEGATIVE_INFINITY : this.standIn(first.value(EMPTY_ROW, 0, context), k);
    const end = last === null ? Number.POSITIVE_INFINITY : this.standIn(last.value(EMPTY_ROW, 0, context), k);
    if (begin === null || end === null) return NONE;
    from = this.firstBehind(k, begin, first?.inclusive === true && Number.isFinite(begin), from, to);
    to = this.firstBehind(k, end, last?.inclusive !== true || !Number.isFinite(end), from, to);
    return { from, to };
  }

  private groupOf(number: number, { least, starts, isSorted }: Groups): Places {
    const place = number - least;
    // What is no integer is no place.
    if (!(place >= 0 && place < starts.length - 1 && Number.isInteger(place))) return NONE;
    const [from, to] = [starts[place]!, starts[place + 1]!];
    if (isSorted !== null && isSorted[place] === 0) {
      this.sortGroup(from, to);
      isSorted[place] = 1;
    }
    return { from, to };
  }

  private sortGroup(from: number, to: number): void {
    const { rows } = this;
    if (to - from > INSERTED) {
      rows.subarray(from, to).sort((a, b) => this.compare(a, b) || a - b);
      return;
    }
    for (let i = from + 1; i < to; i++) {
      const row = rows[i]!;
      let at = i;
      for (; at > from && this.compare(rows[at - 1]!, row) > 0; at--) rows[at] = rows[at - 1]!;
      rows[at] = row;
    }
  }

  /** By all columns of the key but the first. */
  private compare(a: number, b: number): number {
    const { keys } = this;
    for (let k = 1; k < keys.length; k++) {
      const [x, y] = [keys[k]![a]!, keys[k]![b]!];
      if (x !== y) return x < y ? -1 : 1;
    }
    return 0;
  }

  /** What stands for the value, if a row may have it; null for NULL. */
  private standIn(value: Value, k: number): number | null {
    if (value === null) return null;
    const number = Number(value as number | bigint);
    // Only of floats, which count NaN as the greatest.
    const placed = Number.isNaN(number) ? Number.POSITIVE_INFINITY : number;
    return (this.program.key.columns[k]!.descending ? -placed : placed) + 0;
  }

  /** The first of the places whose number is greater than `number`, or is it, if `orSame`. */
  private firstBehind(k: number, number: number, orSame: boolean, from: number, to: number): number {
    const { rows } = this;
    const numbers = this.keys[k]!;
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = numbers[rows[middle]!]!;
      if (at < number || (!orSame && at === number)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
