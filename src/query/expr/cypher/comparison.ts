/**
 * Cypher's comparisons (openCypher 9, "Comparability and equality"): three-valued, so that null is also the answer for
 * values that cannot be compared. Equality never fails; values of different kinds are not equal, except numbers by
 * value.
 */

import { compareText } from "../../../values/compare-text.js";
import { cypherError } from "../../../values/cypher-error.js";
import type { Temporal } from "../../../values/temporal.js";
import { compareTemporal } from "../../../values/temporal-order.js";
import type { GraphNode, Variant, VariantMap } from "../../../values/variant.js";
import { isList, tooDeep, VARIANT_DEPTH_MAX } from "../../../values/variant-format.js";
import { KIND } from "../../../values/variant-kind.js";
import { compareVariants, isPlainScalar, kindOf, numberOf, variantKey } from "../variant-order.js";
import { described } from "./define.js";

type Truth = boolean | null;

export function equals(a: Variant, b: Variant): Truth {
  if (typeof a === "number" && typeof b === "number") return a === b;
  if (typeof a === "string" && typeof b === "string") return a === b;
  return equal(a, b, 0);
}

export function differs(a: Variant, b: Variant): Truth {
  const same = equals(a, b);
  return same === null ? null : !same;
}

function equal(a: Variant, b: Variant, depth: number): Truth {
  if (a === null || b === null) return null;
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  switch (kind) {
    case KIND.text:
    case KIND.boolean:
      return a === b;
    case KIND.number:
      // biome-ignore lint/suspicious/noDoubleEquals: a number may be equal to a bigint
      return numberOf(a) == numberOf(b);
    case KIND.list:
      return equalLists(a as readonly Variant[], b as readonly Variant[], depth);
    case KIND.map:
      return equalMaps(a as VariantMap, b as VariantMap, depth);
    case KIND.node:
    case KIND.relationship:
      return (a as GraphNode).id === (b as GraphNode).id;
    case KIND.path:
    case KIND.point:
    case KIND.bytes:
    case KIND.vector:
      return compareVariants(a, b) === 0;
    default:
      return compareTemporal(a as Temporal, b as Temporal) === 0;
  }
}

/** False when two items are not equal, or the lengths; else null when two items may be. */
function equalLists(a: readonly Variant[], b: readonly Variant[], depth: number): Truth {
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  if (a.length !== b.length) return false;
  let result: Truth = true;
  for (let i = 0; i < a.length; i++) {
    const same = equal(a[i]!, b[i]!, depth + 1);
    if (same === false) return false;
    if (same === null) result = null;
  }
  return result;
}

function equalMaps(a: VariantMap, b: VariantMap, depth: number): Truth {
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  if (a.size !== b.size) return false;
  for (const key of a.keys()) if (!b.has(key)) return false;
  let result: Truth = true;
  for (const [key, value] of a) {
    const same = equal(value, b.get(key)!, depth + 1);
    if (same === false) return false;
    if (same === null) result = null;
  }
  return result;
}

/** The order of two values that have one in `<` and its like; undefined: NaN, which has none; null: not comparable. */
function order(a: Variant, b: Variant, depth: number): number | null | undefined {
  if (a === null || b === null) return null;
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return null;
  switch (kind) {
    case KIND.number: {
      const [x, y] = [numberOf(a), numberOf(b)];
      if (x < y) return -1;
      if (x > y) return 1;
      return Number.isNaN(x) || Number.isNaN(y) ? undefined : 0;
    }
    case KIND.text:
      return compareText(a as string, b as string);
    case KIND.boolean:
      return Number(a) - Number(b);
    case KIND.list:
      return orderOfLists(a as readonly Variant[], b as readonly Variant[], depth);
    case KIND.date:
    case KIND.localTime:
    case KIND.zonedTime:
    case KIND.localDateTime:
    case KIND.zonedDateTime:
      return compareTemporal(a as Temporal, b as Temporal);
    default:
      return null;
  }
}

/** By the first items that differ; what cannot be compared before these leaves it open. */
function orderOfLists(a: readonly Variant[], b: readonly Variant[], depth: number): number | null | undefined {
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const found = order(a[i]!, b[i]!, depth + 1);
    if (found !== 0) return found;
  }
  return a.length - b.length;
}

export function less(a: Variant, b: Variant): Truth {
  if (typeof a === "number" && typeof b === "number") return a < b;
  const found = order(a, b, 0);
  return found === null ? null : found !== undefined && found < 0;
}

export function lessOrEqual(a: Variant, b: Variant): Truth {
  if (typeof a === "number" && typeof b === "number") return a <= b;
  const found = order(a, b, 0);
  return found === null ? null : found !== undefined && found <= 0;
}

export function greater(a: Variant, b: Variant): Truth {
  if (typeof a === "number" && typeof b === "number") return a > b;
  const found = order(a, b, 0);
  return found === null ? null : found !== undefined && found > 0;
}

export function greaterOrEqual(a: Variant, b: Variant): Truth {
  if (typeof a === "number" && typeof b === "number") return a >= b;
  const found = order(a, b, 0);
  return found === null ? null : found !== undefined && found >= 0;
}

/** `item IN list`: null when the list has no equal item but one that may be. */
export function isIn(item: Variant, list: Variant): Truth {
  if (list === null) return null;
  if (!isList(list)) {
    throw cypherError("TypeError", "InvalidArgumentType", `IN takes a list, not ${described(list)}`);
  }
  const hashed = list.length < HASHED_MIN || typeof item === "object" || Number.isNaN(item) ? null : hashedItems(list);
  if (hashed !== null) return hashed.keys.has(variantKey(item)) ? true : hashed.withNull ? null : false;
  let result: Truth = false;
  for (const member of list) {
    const same = equals(item, member);
    if (same === true) return true;
    if (same === null) result = null;
  }
  return result;
}

/** Shorter lists are gone through. */
const HASHED_MIN = 8;

interface HashedItems {
  readonly keys: ReadonlySet<unknown>;
  readonly withNull: boolean;
}

/** Lists that IN was asked for; null: once, it may be another one for the next row. */
const hashedLists = new WeakMap<readonly Variant[], HashedItems | null>();

/** The items that a scalar can be equal to, which are scalars; null when the list is new. */
function hashedItems(list: readonly Variant[]): HashedItems | null {
  const known = hashedLists.get(list);
  if (known !== null && known !== undefined) return known;
  const hashed =
    known === undefined
      ? null
      : { keys: new Set(list.filter(isPlainScalar).map(variantKey)), withNull: list.includes(null) };
  hashedLists.set(list, hashed);
  return hashed;
}

export function startsWith(a: Variant, b: Variant): Truth {
  return typeof a === "string" && typeof b === "string" ? a.startsWith(b) : null;
}

export function endsWith(a: Variant, b: Variant): Truth {
  return typeof a === "string" && typeof b === "string" ? a.endsWith(b) : null;
}

export function contains(a: Variant, b: Variant): Truth {
  return typeof a === "string" && typeof b === "string" ? a.includes(b) : null;
}

/** A truth value as a condition takes it. Throws TypeError. */
export function truth(value: Variant): Truth {
  if (typeof value === "boolean" || value === null) return value;
  throw cypherError("TypeError", "InvalidArgumentType", `a condition must be a boolean, not ${described(value)}`);
}

export function exclusiveOr(a: boolean, b: boolean): boolean {
  return a !== b;
}
