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

export function extreme(name: string, list: Variant, direction: 1 | -1): Variant {
  const items = listIn(name, list).filter((item) => item !== null);
  return items.reduce<Variant>(
    (best, item) => (best === null || direction * compareVariants(item, best) > 0 ? item : best),
    null,
  );
}
