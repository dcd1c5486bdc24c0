/**
 * Values as graphs store them, and entities inside of values. Called by the operator and the writer of graph writes.
 */
import { cypherError } from "../../values/cypher-error.js";
import { CypherVector } from "../../values/cypher-vector.js";
import type { Value } from "../../values/values.js";
import { Float, GraphNode, GraphPath, GraphRelationship, type Variant, type VariantMap } from "../../values/variant.js";

/** Throws TypeError InvalidPropertyType for what no property can hold: maps, nodes, relationships, paths. */
export function checkPropertyValue(value: Variant): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    checkAlike(value as readonly Variant[]);
    for (const item of value as readonly Variant[]) {
      if (item instanceof CypherVector) {
        throw cypherError("TypeError", "InvalidPropertyType", "a list of a property cannot hold vectors");
      }
      checkPropertyValue(item);
    }
  } else if (
    value instanceof Map ||
    value instanceof GraphNode ||
    value instanceof GraphRelationship ||
    value instanceof GraphPath
  ) {
    const message =
      "properties can only hold booleans, numbers, strings, byte arrays, points, vectors, temporal values and lists of these";
    throw cypherError("TypeError", "InvalidPropertyType", message);
  }
}

/** Throws InvalidPropertyType unless the items are of one kind; integers and floats are both numbers. */
function checkAlike(items: readonly Variant[]): void {
  let kind: unknown = null;
  for (const item of items) {
    if (item === null) continue;
    const own = kindOf(item);
    kind ??= own;
    if (own === kind) continue;
    const message = "a list of a property holds items of one type: store the others in a property of their own";
    throw cypherError("TypeError", "InvalidPropertyType", message);
  }
}

function kindOf(item: NonNullable<Variant>): unknown {
  if (typeof item === "bigint" || item instanceof Float) return "number";
  if (item instanceof Uint8Array) return "bytes";
  return typeof item === "object" ? item.constructor : typeof item;
}

/** The entries of a map that are not null, each fit to be stored. */
export function storedProperties(map: VariantMap): VariantMap {
  let hasNull = false;
  for (const value of map.values()) {
    if (value === null) hasNull = true;
    else checkPropertyValue(value);
  }
  return hasNull ? new Map([...map].filter(([, value]) => value !== null)) : map;
}

/** What SET takes properties from: a map, or those of a node or a relationship. Throws TypeError for anything else. */
export function propertiesIn(value: Value): VariantMap {
  if (value instanceof Map) return value as VariantMap;
  if (value instanceof GraphNode || value instanceof GraphRelationship) return value.properties;
  throw cypherError("TypeError", "InvalidArgumentType", "properties are set from a map, a node or a relationship");
}

/** How entities in a value look now. */
export interface Renewal {
  node(node: GraphNode): GraphNode;
  relationship(relationship: GraphRelationship): GraphRelationship;
}

/** The value with its entities renewed; itself when none of them changed. */
export function renewed(value: Variant, by: Renewal): Variant {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof GraphNode) return by.node(value);
  if (value instanceof GraphRelationship) return by.relationship(value);
  if (value instanceof GraphPath) {
    const nodes = renewedList(value.nodes, (node) => by.node(node));
    const relationships = renewedList(value.relationships, (relationship) => by.relationship(relationship));
    const isSame = nodes === value.nodes && relationships === value.relationships;
    return isSame ? value : new GraphPath(nodes, relationships);
  }
  if (Array.isArray(value)) return renewedList(value as readonly Variant[], (item) => renewed(item, by));
  if (!(value instanceof Map)) return value;
  let isSame = true;
  const entries = [...(value as VariantMap)].map(([key, item]): [string, Variant] => {
    const next = renewed(item, by);
    if (next !== item) isSame = false;
    return [key, next];
  });
  return isSame ? value : new Map(entries);
}

function renewedList<T>(list: readonly T[], renew: (item: T) => T): readonly T[] {
  const next = list.map(renew);
  return next.every((item, i) => item === list[i]) ? list : next;
}
