/**
 * `value IN (subquery)` by a set: the rows of a subquery that runs once are the same list for every row of the outer
 * query, so they are hashed when the list is seen a second time (PostgreSQL's hashed SubPlan). Likewise the elements of
 * `= ANY (array)` and `<> ALL (array)`. Called by compile.ts and by the binder that makes those operators.
 */

import { spend } from "../../protocol/stretch.js";
import type { Turns } from "../../protocol/turns.js";
import type { Value } from "../../values/values.js";
import type { HashKey } from "./compare.js";
import type { ScalarFunction } from "./expr.js";

/** Fewer are compared one by one. */
const ITEMS_MIN = 8;

const INTEGERS: ReadonlySet<string> = new Set(["int2", "int4", "int8"]);

/**
 * Whether equality (`operator` "<>": inequality) by this overload is equality of the hash keys of its left argument's
 * type.
 */
export function comparesByHash(equals: ScalarFunction, operator: "=" | "<>" = "="): boolean {
  const [a, b] = equals.args;
  if (equals.operator !== operator || !equals.strict || a === undefined || b === undefined) return false;
  if (a.name === "record" || a.name === "variant" || a.element !== null) return false;
  return a.name === b.name || (INTEGERS.has(a.name) && INTEGERS.has(b.name));
}

interface HashedItems {
  readonly keys: ReadonlySet<HashKey>;
  readonly withNull: boolean;
}

/** By the list; null: seen once. A list belongs to one run of one subquery, and goes with it. */
const hashedLists = new WeakMap<readonly Value[], HashedItems | null>();

/**
 * Whether the list has the value, as IN answers: NULL when a NULL leaves it open. Undefined: not hashed, compare it
 * with the items.
 */
export function hashedHas(
  items: readonly Value[],
  value: Value,
  keyOf: (value: Value) => HashKey,
): boolean | null | undefined {
  if (items.length < ITEMS_MIN) return undefined;
  let hashed = hashedLists.get(items);
  if (hashed === undefined) {
    hashedLists.set(items, null);
    return undefined;
  }
  if (hashed === null) {
    hashed = hash(items, keyOf);
    hashedLists.set(items, hashed);
  }
  if (value === null) return null;
  return hashed.keys.has(keyOf(value)) || (hashed.withNull ? null : false);
}

/** About how long it takes to hash an item, and to compare with it. */
const HASH_NANOS = 100;

/** Says what the next call of `hashedHas` does, where it goes through the list. Throws Overrun. */
export function announceItems(items: readonly Value[]): void {
  const hashed = items.length < ITEMS_MIN ? undefined : hashedLists.get(items);
  if (hashed === undefined || hashed === null) spend(items.length * HASH_NANOS);
}

/** Items between two looks at the clock. */
const ITEMS_PER_LOOK = 4_096;

/** As `hashedHas` of a list that is seen again; it is hashed with turns for others in between. */
export async function hashedHasInTurns(
  items: readonly Value[],
  value: Value,
  keyOf: (value: Value) => HashKey,
  turns: Turns,
): Promise<boolean | null | undefined> {
  if (items.length >= ITEMS_MIN && (hashedLists.get(items) ?? null) === null) {
    const keys = new Set<HashKey>();
    let withNull = false;
    for (let at = 0; at < items.length; at++) {
      const item = items[at]!;
      if (item === null) withNull = true;
      else keys.add(keyOf(item));
      if (at % ITEMS_PER_LOOK === 0 && turns.shouldYield()) await turns.yieldTurn();
    }
    hashedLists.set(items, { keys, withNull });
  }
  return hashedHas(items, value, keyOf);
}

function hash(items: readonly Value[], keyOf: (value: Value) => HashKey): HashedItems {
  const keys = new Set<HashKey>();
  let withNull = false;
  for (const item of items) {
    if (item === null) withNull = true;
    else keys.add(keyOf(item));
  }
  return { keys, withNull };
}
