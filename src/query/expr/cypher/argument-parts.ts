/** Arguments of functions as they want them, and what several functions of lists compute. */
import { spend } from "../../../protocol/stretch.js";
import { GraphNode, GraphRelationship, isIntegerValue, type Variant } from "../../../values/variant.js";
import { isList } from "../../../values/variant-format.js";
import { compareVariants, variantKey } from "../variant-order.js";
import { wrongArgument } from "./define.js";

export function listIn(name: string, value: Variant): readonly Variant[] {
  if (!isList(value)) throw wrongArgument(`${name}()`, "a list", value);
  spend(value.length);
  return value;
}

export function mapIn(name: string, value: Variant): ReadonlyMap<string, Variant> {
  if (value instanceof Map) return value;
  if (value instanceof GraphNode || value instanceof GraphRelationship) return value.properties;
  throw wrongArgument(`${name}()`, "a map", value);
}

export function textIn(name: string, value: Variant): string {
  if (typeof value === "string") return value;
  throw wrongArgument(`${name}()`, "a string", value);
}

export function integerIn(name: string, value: Variant): number {
  if (isIntegerValue(value) && typeof value === "number") return value;
  throw wrongArgument(`${name}()`, "an integer", value);
}

export const keyOf = (value: Variant) => (value === null ? null : variantKey(value));

export function distinct(list: readonly Variant[]): Variant[] {
  const seen = new Set<unknown>();
  return list.filter((item) => {
    const key = keyOf(item);
    return !seen.has(key) && seen.add(key);
  });
}

/** Of one comparison; long texts and lists that begin alike take longer. */
const COMPARE_NANOS = 20;
const CHARACTERS_PER_NANO = 8;

const lengthOf = (value: Variant): number => {
  if (typeof value === "string") return value.length / CHARACTERS_PER_NANO;
  return isList(value) ? value.length * COMPARE_NANOS : 0;
};

/** In the order of what `of` gives of each item. */
export function sorted(
  list: readonly Variant[],
  direction: 1 | -1 = 1,
  of = (item: Variant): Variant => item,
): Variant {
  // A comparison may throw: the list is sorted elsewhere then.
  spend(list.length * Math.log2(list.length + 1) * COMPARE_NANOS);
  return list.toSorted((a, b) => {
    const [one, other] = [of(a), of(b)];
    spend(Math.min(lengthOf(one), lengthOf(other)));
    return direction * compareVariants(one, other);
  });
}

export function extreme(name: string, list: Variant, direction: 1 | -1): Variant {
  const items = listIn(name, list).filter((item) => item !== null);
  return items.reduce<Variant>(
    (best, item) => (best === null || direction * compareVariants(item, best) > 0 ? item : best),
    null,
  );
}
