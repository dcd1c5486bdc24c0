/** `coll.*`: the functions of lists that Cypher 25 added. */
import { LIST_ITEMS_MAX } from "../../../protocol/limits.js";
import { spend } from "../../../protocol/stretch.js";
import { cypherError } from "../../../values/cypher-error.js";
import type { Variant } from "../../../values/variant.js";
import { isList } from "../../../values/variant-format.js";
import type { ScalarFunction } from "../expr.js";
import { distinct, extreme, integerIn, listIn, sorted } from "./argument-parts.js";
import { equals } from "./comparison.js";
import { cypherFn, cypherFns } from "./define.js";

/** A place in a list, from 0 to `last`. */
function placeIn(name: string, value: Variant, last: number): number {
  const place = integerIn(name, value);
  if (place >= 0 && place <= last) return place;
  const message = `${name}() takes a place from 0 to ${last} of this list, not ${place}`;
  throw cypherError("ArgumentError", "NumberOutOfRange", message);
}

/** The items of lists in the list, and of lists in those, that many levels deep. */
function flattened(list: readonly Variant[], depth: number): readonly Variant[] {
  if (depth === 0 || !list.some(isList)) return list;
  const items = list.flatMap((item) => (isList(item) ? item : [item])) as Variant[];
  spend(items.length);
  return flattened(items, depth - 1);
}

function flatten(value: Variant, levels: Variant = 1): Variant {
  const depth = integerIn("coll.flatten", levels);
  if (depth >= 0) return flattened(listIn("coll.flatten", value), depth);
  throw cypherError("ArgumentError", "NumberOutOfRange", "coll.flatten() takes a depth of 0 or more");
}

function insert(value: Variant, at: Variant, item: Variant): Variant {
  if (value === null || at === null) return null;
  const list = listIn("coll.insert", value);
  if (list.length >= LIST_ITEMS_MAX) {
    throw cypherError("ArgumentError", "NumberOutOfRange", `a list has at most ${LIST_ITEMS_MAX} items`);
  }
  return list.toSpliced(placeIn("coll.insert", at, list.length), 0, item);
}

function remove(value: Variant, at: Variant): Variant {
  const list = listIn("coll.remove", value);
  return list.toSpliced(placeIn("coll.remove", at, list.length - 1), 1);
}

export const COLL_FUNCTIONS: readonly ScalarFunction[] = [
  cypherFn("coll.distinct", 1, (list) => distinct(listIn("coll.distinct", list))),
  ...cypherFns("coll.flatten", [1, 2], flatten),
  cypherFn("coll.indexOf", 2, (list, item) =>
    listIn("coll.indexOf", list).findIndex((each) => equals(each, item) === true),
  ),
  cypherFn("coll.insert", 3, insert, { strict: false }),
  cypherFn("coll.max", 1, (list) => extreme("coll.max", list, 1)),
  cypherFn("coll.min", 1, (list) => extreme("coll.min", list, -1)),
  cypherFn("coll.remove", 2, remove),
  cypherFn("coll.sort", 1, (list) => sorted(listIn("coll.sort", list))),
];
