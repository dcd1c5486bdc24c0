/** Cypher's functions of lists, and those that take lists and strings alike (openCypher 9, "List functions"). */

import { LIST_ITEMS_MAX } from "../../../protocol/limits.js";
import { spend } from "../../../protocol/stretch.js";
import type { Turns } from "../../../protocol/turns.js";
import { cypherError } from "../../../values/cypher-error.js";
import { CypherVector } from "../../../values/cypher-vector.js";
import { BOOL, VARIANT } from "../../../values/values.js";
import { isIntegerValue, type Variant } from "../../../values/variant.js";
import { isList } from "../../../values/variant-format.js";
import type { ScalarFunction } from "../expr.js";
import { listInTurns } from "../list-in-turns.js";
import { cypherFn, cypherFns, described, wrongArgument } from "./define.js";

/** Code points; the usual text has no others than UTF-16's units. */
export function charactersOf(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) length--;
  return length;
}

function size(value: Variant): number {
  if (isList(value) || value instanceof Uint8Array) return value.length;
  if (typeof value === "string") return charactersOf(value);
  if (value instanceof CypherVector) return value.dimension;
  throw wrongArgument("size()", "a list, a string, a vector or a byte array", value);
}

function isEmpty(value: Variant): boolean {
  if (isList(value) || typeof value === "string") return value.length === 0;
  if (value instanceof Map) return value.size === 0;
  throw wrongArgument("isEmpty()", "a list, a map or a string", value);
}

function listOf(name: string, value: Variant): readonly Variant[] {
  if (isList(value)) return value;
  throw wrongArgument(name, "a list", value);
}

/** From `start` to `end`, both included. */
function range(start: Variant, end: Variant, step: Variant = 1): readonly Variant[] {
  const { from, by, count } = boundsOf(start, end, step);
  spend(10 * count);
  const items = new Array<Variant>(count);
  for (let i = 0; i < count; i++) items[i] = from + i * by;
  return items;
}

function rangeInTurns(turns: Turns, start: Variant, end: Variant, step: Variant = 1): Promise<Variant> {
  const { from, by, count } = boundsOf(start, end, step);
  function* items(): Iterable<number> {
    for (let i = 0; i < count; i++) yield from + i * by;
  }
  return listInTurns(turns, items()) as Promise<Variant>;
}

/** Throws ArgumentError. */
function boundsOf(start: Variant, end: Variant, step: Variant) {
  const [from, to, by] = [start, end, step].map(bound) as [number, number, number];
  if (by === 0) throw cypherError("ArgumentError", "NumberOutOfRange", "the step of range() must not be 0");
  const count = Math.max(0, Math.floor((to - from) / by) + 1);
  if (count > LIST_ITEMS_MAX) {
    throw cypherError("ArgumentError", "NumberOutOfRange", `range() makes at most ${LIST_ITEMS_MAX} items`);
  }
  return { from, by, count };
}

function bound(value: Variant): number {
  if (!isIntegerValue(value)) {
    throw cypherError("ArgumentError", "InvalidArgumentType", `range() takes integers, not ${described(value)}`);
  }
  if (typeof value === "number") return value;
  throw cypherError("ArgumentError", "NumberOutOfRange", "range() takes integers up to 2^53");
}

function reverse(value: Variant): Variant {
  if (isList(value)) return value.toReversed();
  if (typeof value === "string") return Array.from(value).reverse().join("");
  throw wrongArgument("reverse()", "a list or a string", value);
}

export const LIST_FUNCTIONS: readonly ScalarFunction[] = [
  cypherFn("size", 1, size, { nanosPerUnit: 0 }),
  cypherFn("isEmpty", 1, isEmpty, { returns: BOOL, nanosPerUnit: 0 }),
  cypherFn("head", 1, (list) => listOf("head()", list)[0] ?? null, { nanosPerUnit: 0 }),
  cypherFn("last", 1, (list) => listOf("last()", list).at(-1) ?? null, { nanosPerUnit: 0 }),
  cypherFn("tail", 1, (list) => listOf("tail()", list).slice(1), { nanosPerUnit: 1 }),
  cypherFn("reverse", 1, reverse, { nanosPerUnit: 3 }),
  ...cypherFns("range", [2, 3], range, { applyInTurns: rangeInTurns }),
];

/** The first of its arguments that is not null. */
export const COALESCE: ScalarFunction = Object.freeze({
  name: "coalesce",
  args: [VARIANT],
  variadic: VARIANT,
  returns: VARIANT,
  volatility: "immutable",
  strict: false,
  lazy: true,
  apply: (...values: (() => Variant)[]) => {
    for (const value of values) {
      const found = value();
      if (found !== null) return found;
    }
    return null;
  },
});
