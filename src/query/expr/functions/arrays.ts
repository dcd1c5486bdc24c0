/** Array functions and operators (chapter 9.19) that need no set-returning support. */
import { sqlError } from "../../../protocol/errors.js";
import { spend } from "../../../protocol/stretch.js";
import { giveWay, type Turns } from "../../../protocol/turns.js";
import { toText } from "../../../values/text-format.js";
import { checkArraySize, EMPTY_ARRAY, sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, BOOL, INT4, type SqlArray, type SqlType, TEXT, type Value } from "../../../values/values.js";
import { comparatorOf, hashKeyOf } from "../compare.js";
import type { ScalarFunction } from "../expr.js";
import { arraySlice, checkDimensions } from "./array-parts.js";
import { type FunctionFamily, type Pattern, polymorphic } from "./define.js";
import { joinedTexts } from "./text-length.js";

function appendElement(array: SqlArray | null, element: Value): SqlArray {
  if (array === null || array.dimensions.length === 0) return sqlArray([element]);
  requireRoom(array);
  return {
    elements: [...array.elements, element],
    dimensions: [array.elements.length + 1],
    lowerBounds: array.lowerBounds,
  };
}

function prependElement(element: Value, array: SqlArray | null): SqlArray {
  if (array === null || array.dimensions.length === 0) return sqlArray([element]);
  requireRoom(array);
  return {
    elements: [element, ...array.elements],
    dimensions: [array.elements.length + 1],
    lowerBounds: array.lowerBounds,
  };
}

/** Throws 22000, 54000. */
function requireRoom(array: SqlArray): void {
  if (array.dimensions.length > 1) throw sqlError("22000", "argument must be empty or one-dimensional array");
  checkArraySize(array.elements.length + 1);
}

/** Arrays of the same depth join along their first dimension; one of less depth is a member of the other. */
function concatArrays(a: SqlArray | null, b: SqlArray | null): SqlArray | null {
  if (a === null || b === null) return a ?? b;
  if (a.dimensions.length === 0) return b;
  if (b.dimensions.length === 0) return a;
  const depth = a.dimensions.length - b.dimensions.length;
  const inner = (array: SqlArray, from: number) => array.dimensions.slice(from).join();
  const fits =
    depth === 0
      ? inner(a, 1) === inner(b, 1)
      : depth === 1
        ? inner(a, 1) === inner(b, 0)
        : depth === -1 && inner(a, 0) === inner(b, 1);
  if (!fits) throw sqlError("2202E", "cannot concatenate incompatible arrays");
  checkArraySize(a.elements.length + b.elements.length);
  const base = depth >= 0 ? a : b;
  const count =
    depth === 0 ? (a.dimensions[0] as number) + (b.dimensions[0] as number) : (base.dimensions[0] as number) + 1;
  return {
    elements: [...a.elements, ...b.elements],
    dimensions: [count, ...base.dimensions.slice(1)],
    lowerBounds: base.lowerBounds,
  };
}

function bound(array: SqlArray, dimension: number, upper: boolean): number | null {
  const size = array.dimensions[dimension - 1];
  const lower = array.lowerBounds[dimension - 1];
  if (size === undefined || lower === undefined) return null;
  return upper ? lower + size - 1 : lower;
}

function dimensionsText(array: SqlArray): string | null {
  if (array.dimensions.length === 0) return null;
  return array.dimensions.map((_, i) => `[${bound(array, i + 1, false)}:${bound(array, i + 1, true)}]`).join("");
}

type SameElement = (a: Value, b: Value) => boolean;

/** NULL equals NULL here: array_position, array_remove and array_replace look for it. */
function sameElement(element: SqlType): SameElement {
  const compare = comparatorOf(element);
  return (a, b) => (a === null || b === null ? a === b : compare(a, b) === 0);
}

function keysOf(element: SqlType, array: SqlArray): Set<unknown> {
  const key = hashKeyOf(element);
  return new Set(array.elements.filter((value) => value !== null).map((value) => key(value)));
}

const contains = (element: SqlType) => (a: SqlArray, b: SqlArray) => {
  const keys = keysOf(element, a);
  const key = hashKeyOf(element);
  return b.elements.every((value) => value !== null && keys.has(key(value)));
};

const overlaps = (element: SqlType) => (a: SqlArray, b: SqlArray) => {
  const keys = keysOf(element, a);
  const key = hashKeyOf(element);
  return b.elements.some((value) => value !== null && keys.has(key(value)));
};

function positions(element: SqlType) {
  const same = sameElement(element);
  return (array: SqlArray, value: Value, start?: number | null): number[] => {
    if (array.dimensions.length > 1) {
      throw sqlError("0A000", "searching for elements in multidimensional arrays is not supported");
    }
    const lower = array.lowerBounds[0] ?? 1;
    return array.elements.flatMap((member, i) =>
      i + lower >= (start ?? lower) && same(member, value) ? [i + lower] : [],
    );
  };
}

function removeElement(element: SqlType) {
  const same = sameElement(element);
  return (array: SqlArray | null, value: Value) => {
    if (array === null) return null;
    if (array.dimensions.length > 1) {
      throw sqlError("0A000", "removing elements from multidimensional arrays is not supported");
    }
    const kept = array.elements.filter((member) => !same(member, value));
    // Without a change the lower bound stays as well.
    if (kept.length === array.elements.length) return array;
    return kept.length === 0
      ? EMPTY_ARRAY
      : { elements: kept, dimensions: [kept.length], lowerBounds: array.lowerBounds };
  };
}

function replaceElement(element: SqlType) {
  const same = sameElement(element);
  return (array: SqlArray | null, from: Value, to: Value) =>
    array === null ? null : { ...array, elements: array.elements.map((member) => (same(member, from) ? to : member)) };
}

function toJoinedText(element: SqlType) {
  return (array: SqlArray | null, separator: string | null, nullText: string | null = null) => {
    if (array === null || separator === null) return null;
    const texts = array.elements.flatMap((member) => {
      if (member !== null) return [toText(element, member)];
      return nullText === null ? [] : [nullText];
    });
    return joinedTexts(texts, separator);
  };
}

/** Elements that are filled in at once. */
const FILLED_AT_ONCE = 256 * 1024;
/** The system's time for the memory of one element included. */
const NANOS_PER_FILLED = 8;

function fill(value: Value, sizes: SqlArray | null, lower?: SqlArray | null): SqlArray {
  const shape = filledShape(sizes, lower);
  if (shape === null) return EMPTY_ARRAY;
  const { total, ...rest } = shape;
  // What is said before a call counts its arguments, not what they ask for.
  spend(total * NANOS_PER_FILLED);
  return { elements: new Array<Value>(total).fill(value), ...rest };
}

async function fillInTurns(
  turns: Turns,
  value: Value,
  sizes: SqlArray | null,
  lower?: SqlArray | null,
): Promise<SqlArray> {
  const shape = filledShape(sizes, lower);
  if (shape === null) return EMPTY_ARRAY;
  const { total, ...rest } = shape;
  const elements = new Array<Value>(total);
  for (let from = 0; from < total; from += FILLED_AT_ONCE) {
    await giveWay(turns);
    elements.fill(value, from, from + FILLED_AT_ONCE);
  }
  return { elements, ...rest };
}

/** Null: there are no elements. Throws 54000, 22004, 2202E. */
function filledShape(sizes: SqlArray | null, lower?: SqlArray | null) {
  if (sizes === null || lower === null) {
    throw sqlError("22004", "dimension array or low bound array cannot be null");
  }
  for (const [what, array] of Object.entries({ Dimension: sizes, "Low bound": lower })) {
    if (array !== undefined && array.dimensions.length > 1) {
      throw sqlError("2202E", "wrong number of array subscripts", { detail: `${what} array must be one dimensional.` });
    }
  }
  const dimensions = sizes.elements as readonly (number | null)[];
  if (dimensions.includes(null)) throw sqlError("22004", "dimension values cannot be null");
  const counts = dimensions as readonly number[];
  const total = counts.reduce((product, size) => product * size, 1);
  if (counts.length === 0 || total === 0) return null;
  checkDimensions(counts.length);
  checkArraySize(total < 0 ? Number.POSITIVE_INFINITY : total);
  if (lower !== undefined && lower.elements.length !== counts.length) {
    throw sqlError("2202E", "wrong number of array subscripts");
  }
  return {
    total,
    dimensions: counts,
    lowerBounds: (lower?.elements as readonly number[] | undefined) ?? counts.map(() => 1),
  };
}

function trimArray(array: SqlArray, count: number): SqlArray {
  const length = array.dimensions[0] ?? 0;
  if (count < 0 || count > length) {
    throw sqlError("2202E", `number of elements to trim must be between 0 and ${length}`);
  }
  if (length === 0) return array;
  const lower = array.lowerBounds[0] as number;
  return arraySlice(array, [{ lower, upper: lower + length - 1 - count }]);
}

/** Functions that see NULL arguments. */
const open = { strict: false } as const;
const FILL = { ...open, applyInTurns: fillInTurns };
/** Of the functions that PostgreSQL declares with anycompatible: literals alone are text. */
const compatible = { strict: false, whenUnknown: TEXT } as const;

const ARRAY_PAIR: readonly Pattern[] = ["anyarray", "anyarray"];

const operator = (symbol: string, make: (element: SqlType) => (a: SqlArray, b: SqlArray) => Value): FunctionFamily =>
  polymorphic(symbol, ARRAY_PAIR, BOOL, make, { operator: symbol });

export const ARRAY_OPERATOR_FAMILIES: readonly FunctionFamily[] = [
  operator("@>", contains),
  operator("<@", (element) => (a, b) => contains(element)(b, a)),
  operator("&&", overlaps),
  polymorphic("||", ARRAY_PAIR, "anyarray", () => concatArrays, { ...open, operator: "||" }),
  polymorphic("||", ["anyarray", "anynonarray"], "anyarray", () => appendElement, { ...open, operator: "||" }),
  polymorphic("||", ["anynonarray", "anyarray"], "anyarray", () => prependElement, { ...open, operator: "||" }),
];

/** Functions of an array of any type with a fixed result. */
const measure = (name: string, more: readonly SqlType[], returns: SqlType, apply: ScalarFunction["apply"]) =>
  polymorphic(name, ["anyarray", ...more], returns, () => apply, { nanosPerUnit: 0 });

export const ARRAY_FAMILIES: readonly FunctionFamily[] = [
  polymorphic("array_append", ["anyarray", "anyelement"], "anyarray", () => appendElement, compatible),
  polymorphic("array_prepend", ["anyelement", "anyarray"], "anyarray", () => prependElement, compatible),
  polymorphic("array_cat", ARRAY_PAIR, "anyarray", () => concatArrays, compatible),
  polymorphic("array_remove", ["anyarray", "anyelement"], "anyarray", removeElement, compatible),
  polymorphic("array_replace", ["anyarray", "anyelement", "anyelement"], "anyarray", replaceElement, compatible),
  ...[[], [INT4]].map((more) =>
    polymorphic(
      "array_position",
      ["anyarray", "anyelement", ...more],
      INT4,
      (element) => (array: SqlArray | null, value: Value, start?: number | null) =>
        array === null ? null : (positions(element)(array, value, start)[0] ?? null),
      compatible,
    ),
  ),
  polymorphic(
    "array_positions",
    ["anyarray", "anyelement"],
    arrayOf(INT4),
    (element) => (array: SqlArray | null, value: Value) =>
      array === null ? null : sqlArray(positions(element)(array, value)),
    compatible,
  ),
  measure(
    "array_length",
    [INT4],
    INT4,
    (array: SqlArray, dimension: number) => array.dimensions[dimension - 1] ?? null,
  ),
  measure("array_ndims", [], INT4, (array: SqlArray) => array.dimensions.length || null),
  measure("array_dims", [], TEXT, dimensionsText),
  measure("array_lower", [INT4], INT4, (array: SqlArray, dimension: number) => bound(array, dimension, false)),
  measure("array_upper", [INT4], INT4, (array: SqlArray, dimension: number) => bound(array, dimension, true)),
  measure("cardinality", [], INT4, (array: SqlArray) => array.elements.length),
  polymorphic("trim_array", ["anyarray", INT4], "anyarray", () => trimArray),
  polymorphic("array_to_string", ["anyarray", TEXT], TEXT, toJoinedText, open),
  polymorphic("array_to_string", ["anyarray", TEXT, TEXT], TEXT, toJoinedText, open),
  polymorphic("array_fill", ["anyelement", arrayOf(INT4)], "anyarray", () => fill, FILL),
  polymorphic("array_fill", ["anyelement", arrayOf(INT4), arrayOf(INT4)], "anyarray", () => fill, FILL),
];
