/**
 * Parts of arrays: `a[i][j]`, `a[i:j]`, and an array with such a part replaced. As PostgreSQL's arrayfuncs.c has it:
 * reading outside of the bounds gives NULL or an empty array, writing there extends an array of one dimension.
 */

import { sqlError } from "../../../protocol/errors.js";
import type { Turns } from "../../../protocol/turns.js";
import { checkArraySize, EMPTY_ARRAY } from "../../../values/text-format-array.js";
import type { SqlArray, Value } from "../../../values/values.js";
import { joinedInTurns } from "../value-parts.js";

export const ARRAY_DIMENSIONS_MAX = 6;

const wrongSubscripts = () => sqlError("2202E", "wrong number of array subscripts");
const outOfRange = () => sqlError("2202E", "array subscript out of range");
const tooSmall = () => sqlError("2202E", "source array too small");

/** Throws 54000. */
export function checkDimensions(count: number): void {
  if (count <= ARRAY_DIMENSIONS_MAX) return;
  const message = `number of array dimensions (${count}) exceeds the maximum allowed (${ARRAY_DIMENSIONS_MAX})`;
  throw sqlError("54000", message);
}

/** NULL outside of the bounds, and when there are not as many subscripts as dimensions. */
export function elementAt(array: SqlArray, ...indexes: number[]): Value {
  const slot = slotOf(array, indexes);
  return slot < 0 ? null : array.elements[slot]!;
}

function slotOf(array: SqlArray, indexes: readonly number[]): number {
  if (indexes.length !== array.dimensions.length) return -1;
  let slot = 0;
  for (let d = 0; d < indexes.length; d++) {
    const offset = indexes[d]! - array.lowerBounds[d]!;
    if (offset < 0 || offset >= array.dimensions[d]!) return -1;
    slot = slot * array.dimensions[d]! + offset;
  }
  return slot;
}

/** Bounds of a slice in one dimension; null: as far as the array goes. */
export interface SliceBounds {
  readonly lower: number | null;
  readonly upper: number | null;
}

/**
 * Numbers of the elements within offsets `from[d]` to `from[d] + count[d] − 1` of each dimension, in row-major order.
 */
function* slotsWithin(dimensions: readonly number[], from: readonly number[], count: readonly number[]) {
  const at = count.map(() => 0);
  const total = count.reduce((product, size) => product * size, 1);
  for (let n = 0; n < total; n++) {
    let slot = 0;
    for (let d = 0; d < at.length; d++) slot = slot * dimensions[d]! + from[d]! + at[d]!;
    yield slot;
    for (let d = at.length - 1; d >= 0; d--) {
      if (++at[d]! < count[d]!) break;
      at[d] = 0;
    }
  }
}

/** The part within the bounds, all of any further dimension. The result's bounds start at 1. */
export function arraySlice(array: SqlArray, bounds: readonly SliceBounds[]): SqlArray {
  const { dimensions, lowerBounds } = array;
  if (dimensions.length === 0 || bounds.length > dimensions.length) return EMPTY_ARRAY;
  const ranges = dimensions.map((size, d) => {
    const lower = lowerBounds[d]!;
    const upper = lower + size - 1;
    const from = Math.max(bounds[d]?.lower ?? lower, lower);
    const to = Math.min(bounds[d]?.upper ?? upper, upper);
    return { from: from - lower, count: to - from + 1 };
  });
  if (ranges.some(({ count }) => count <= 0)) return EMPTY_ARRAY;
  const from = ranges.map((range) => range.from);
  const count = ranges.map((range) => range.count);
  const elements = Array.from(slotsWithin(dimensions, from, count), (slot) => array.elements[slot]!);
  return { elements, dimensions: count, lowerBounds: count.map(() => 1) };
}

/**
 * The array with one element replaced. Throws 2202E for a wrong number of subscripts or, beyond one dimension, range.
 */
export function withElement(array: SqlArray | null, indexes: readonly number[], value: Value): SqlArray {
  if (array === null || array.dimensions.length === 0) {
    return { elements: [value], dimensions: indexes.map(() => 1), lowerBounds: indexes };
  }
  if (indexes.length !== array.dimensions.length) throw wrongSubscripts();
  const base = indexes.length === 1 ? extended(array, indexes[0]!, indexes[0]!) : array;
  const slot = slotOf(base, indexes);
  if (slot < 0) throw outOfRange();
  return { ...base, elements: base.elements.with(slot, value) };
}

/** An array of one dimension, with NULLs up to new bounds. */
function extended(array: SqlArray, lower: number, upper: number): SqlArray {
  const first = array.lowerBounds[0]!;
  const last = first + array.dimensions[0]! - 1;
  const before = Math.max(0, first - lower);
  const after = Math.max(0, upper - last);
  if (before === 0 && after === 0) return array;
  const size = before + array.dimensions[0]! + after;
  checkArraySize(size);
  const nulls = (count: number) => new Array<Value>(count).fill(null);
  return {
    elements: [...nulls(before), ...array.elements, ...nulls(after)],
    dimensions: [size],
    lowerBounds: [first - before],
  };
}

/** The array with the part within the bounds replaced by the source's first elements. Throws 2202E. */
export function withSlice(array: SqlArray | null, bounds: readonly SliceBounds[], source: SqlArray): SqlArray {
  if (array === null || array.dimensions.length === 0) return newSlice(bounds, source);
  if (bounds.length > array.dimensions.length) throw wrongSubscripts();
  const ends = array.dimensions.map((size, d) => {
    const first = array.lowerBounds[d]!;
    const lower = bounds[d]?.lower ?? first;
    const upper = bounds[d]?.upper ?? first + size - 1;
    if (lower > upper) throw sqlError("2202E", "upper bound cannot be less than lower bound");
    return { lower, upper };
  });
  const base = ends.length === 1 ? extended(array, ends[0]!.lower, ends[0]!.upper) : array;
  const from = ends.map(({ lower }, d) => lower - base.lowerBounds[d]!);
  const count = ends.map(({ lower, upper }) => upper - lower + 1);
  if (from.some((offset, d) => offset < 0 || offset + count[d]! > base.dimensions[d]!)) throw outOfRange();
  const elements = base.elements.slice();
  let next = 0;
  for (const slot of slotsWithin(base.dimensions, from, count)) {
    if (next >= source.elements.length) throw tooSmall();
    elements[slot] = source.elements[next++]!;
  }
  return { ...base, elements };
}

function newSlice(bounds: readonly SliceBounds[], source: SqlArray): SqlArray {
  const sizes = bounds.map(({ lower, upper }) => {
    if (lower === null || upper === null) {
      throw sqlError("2202E", "array slice subscript must provide both boundaries", {
        detail: "When assigning to a slice of an empty array value, slice boundaries must be fully specified.",
      });
    }
    return Math.max(0, upper - lower + 1);
  });
  const total = sizes.reduce((product, size) => product * size, 1);
  checkArraySize(total);
  if (source.elements.length < total) throw tooSmall();
  if (total === 0) return EMPTY_ARRAY;
  return {
    elements: source.elements.slice(0, total),
    dimensions: sizes,
    lowerBounds: bounds.map(({ lower }) => lower!),
  };
}

/** Arrays of one shape as the members of an array of one dimension more; `ragged` makes the error for other shapes. */
export function stackedArrays(arrays: readonly SqlArray[], ragged: () => Error): SqlArray {
  const shape = stackedShape(arrays, ragged);
  if (shape === null) return EMPTY_ARRAY;
  const elements: Value[] = [];
  for (const array of arrays) for (const element of array.elements) elements.push(element);
  return { elements, ...shape };
}

/** The same, with turns for others in between. */
export async function stackedInTurns(
  arrays: readonly SqlArray[],
  ragged: () => Error,
  turns: Turns,
): Promise<SqlArray> {
  const shape = stackedShape(arrays, ragged);
  if (shape === null) return EMPTY_ARRAY;
  const lists = arrays.map(({ elements }) => elements);
  return { elements: await joinedInTurns(lists, turns), ...shape };
}

/** Null: the arrays are empty. */
function stackedShape(
  arrays: readonly SqlArray[],
  ragged: () => Error,
): Pick<SqlArray, "dimensions" | "lowerBounds"> | null {
  const first = arrays[0];
  if (first === undefined) return null;
  if (arrays.some((array) => !hasShapeOf(array, first))) throw ragged();
  if (first.dimensions.length === 0) return null;
  const dimensions = [arrays.length, ...first.dimensions];
  checkDimensions(dimensions.length);
  checkArraySize(arrays.length * first.elements.length);
  return { dimensions, lowerBounds: [1, ...first.lowerBounds] };
}

function hasShapeOf({ dimensions }: SqlArray, other: SqlArray): boolean {
  return (
    dimensions.length === other.dimensions.length && dimensions.every((length, i) => length === other.dimensions[i])
  );
}
