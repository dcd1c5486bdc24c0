/**
 * Order and equivalence of variants (openCypher 9, "Comparability, equality, orderability and equivalence"): what ORDER
 * BY, DISTINCT, grouping and indexes go by. Unlike Cypher's `=` and `<` they hold between any two values, and null and
 * NaN are equal to themselves. Called by compare.ts; Cypher's operators use the comparisons of single kinds.
 */

import { compareText } from "../../values/compare-text.js";
import { CypherVector, compareCypherVectors, cypherVectorKey } from "../../values/cypher-vector.js";
import { CypherPoint, comparePoints, pointKey } from "../../values/point.js";
import {
  CypherDate,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../../values/temporal.js";
import { compareTemporal, temporalKey } from "../../values/temporal-order.js";
import type { SqlType, Value } from "../../values/values.js";
import { Float, GraphNode, GraphPath, GraphRelationship, type Variant, type VariantMap } from "../../values/variant.js";
import { isList, tooDeep, VARIANT_DEPTH_MAX } from "../../values/variant-format.js";
import { KIND, type Kind } from "../../values/variant-kind.js";

export function kindOf(value: Variant): Kind {
  switch (typeof value) {
    case "number":
    case "bigint":
      return KIND.number;
    case "string":
      return KIND.text;
    case "boolean":
      return KIND.boolean;
    default:
      return value === null ? KIND.null : kindOfObject(value);
  }
}

function kindOfObject(value: object): Kind {
  if (value instanceof Float) return KIND.number;
  if (Array.isArray(value)) return KIND.list;
  if (value instanceof Map) return KIND.map;
  if (value instanceof GraphNode) return KIND.node;
  if (value instanceof GraphRelationship) return KIND.relationship;
  if (value instanceof GraphPath) return KIND.path;
  if (value instanceof CypherPoint) return KIND.point;
  if (value instanceof Uint8Array) return KIND.bytes;
  if (value instanceof CypherVector) return KIND.vector;
  if (value instanceof CypherDate) return KIND.date;
  if (value instanceof ZonedDateTime) return KIND.zonedDateTime;
  if (value instanceof LocalDateTime) return KIND.localDateTime;
  if (value instanceof LocalTime) return KIND.localTime;
  if (value instanceof ZonedTime) return KIND.zonedTime;
  return KIND.duration;
}

/** Negative, 0 or positive; null is the greatest. */
export function compareVariants(a: Value, b: Value): number {
  if (typeof a === "number" && typeof b === "number") return compareNumbers(a, b);
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  return compare(a as Variant, b as Variant, 0);
}

function compare(a: Variant, b: Variant, depth: number): number {
  const kind = kindOf(a);
  const other = kindOf(b);
  if (kind !== other) return kind - other;
  switch (kind) {
    case KIND.null:
      return 0;
    case KIND.number:
      return compareNumbers(numberOf(a), numberOf(b));
    case KIND.text:
      return compareText(a as string, b as string);
    case KIND.boolean:
      return Number(a) - Number(b);
    case KIND.list:
      return compareLists(a as readonly Variant[], b as readonly Variant[], depth);
    case KIND.map:
      return compareMaps(a as VariantMap, b as VariantMap, depth);
    case KIND.node:
    case KIND.relationship:
      return (a as GraphNode).id - (b as GraphNode).id;
    case KIND.path:
      return comparePaths(a as GraphPath, b as GraphPath);
    case KIND.point:
      return comparePoints(a as CypherPoint, b as CypherPoint);
    case KIND.bytes:
      return Buffer.compare(a as Uint8Array, b as Uint8Array);
    case KIND.vector:
      return compareCypherVectors(a as CypherVector, b as CypherVector);
    default:
      return compareTemporal(a as Temporal, b as Temporal);
  }
}

/** A number of a variant, without the box of a float. */
export function numberOf(value: Variant): number | bigint {
  return value instanceof Float ? value.value : (value as number | bigint);
}

/** By value, integers and floats alike; NaN is equal to itself and above all others. */
export function compareNumbers(a: number | bigint, b: number | bigint): number {
  if (a < b) return -1;
  if (a > b) return 1;
  // An equality of a number and a bigint.
  // biome-ignore lint/suspicious/noDoubleEquals: `===` is false between them
  if (a == b) return 0;
  return Number.isNaN(a) ? (Number.isNaN(b) ? 0 : 1) : -1;
}

function compareLists(a: readonly Variant[], b: readonly Variant[], depth: number): number {
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compare(a[i]!, b[i]!, depth + 1);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Smaller ones first, then by their keys, then by their values in the order of the keys. */
function compareMaps(a: VariantMap, b: VariantMap, depth: number): number {
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  if (a.size !== b.size) return a.size - b.size;
  const keys = sortedKeys(a);
  const others = sortedKeys(b);
  for (let i = 0; i < keys.length; i++) {
    const order = compareText(keys[i]!, others[i]!);
    if (order !== 0) return order;
  }
  for (const key of keys) {
    const order = compare(a.get(key)!, b.get(key)!, depth + 1);
    if (order !== 0) return order;
  }
  return 0;
}

export function sortedKeys(map: VariantMap): string[] {
  return [...map.keys()].sort(compareText);
}

/** Ids of nodes and relationships in turn. */
function comparePaths(a: GraphPath, b: GraphPath): number {
  const length = Math.min(a.nodes.length, b.nodes.length);
  for (let i = 0; i < length; i++) {
    const order = a.nodes[i]!.id - b.nodes[i]!.id || idAt(a, i) - idAt(b, i);
    if (order !== 0) return order;
  }
  return a.nodes.length - b.nodes.length;
}

const idAt = (path: GraphPath, i: number): number => path.relationships[i]?.id ?? 0;

/** Whether Cypher's `=` with the value is equivalence: it is neither NaN nor may it hold one, or null. */
export function isPlainScalar(value: Value): boolean {
  return typeof value === "object" ? value instanceof Float : !Number.isNaN(value);
}

/** Whether values of the type are variants as they are. */
export function isVariantAsIs({ name }: SqlType): boolean {
  return AS_IS.has(name);
}

const AS_IS = new Set(["variant", "bool", "int2", "int4", "int8", "text", "varchar"]);

/** Before a key that is made of parts, or of a text that begins with it: half a character, which no text has. */
export const COMPOSED = "\ud800";

/** A Map key: the same for values that are equivalent (1 and 1.0 are). Not for null. */
export function variantKey(value: Value): string | number | bigint | boolean {
  switch (typeof value) {
    case "number":
      return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : BigInt(value);
    case "string":
      return value.startsWith(COMPOSED) ? COMPOSED + value : value;
    case "boolean":
    case "bigint":
      return value;
    default:
      return value instanceof Float ? floatKey(value.value) : COMPOSED + variantKeyPart(value as Variant, 0);
  }
}

function floatKey(value: number): number | bigint {
  return Number.isSafeInteger(value) ? value : BigInt(value);
}

/** The key of a value within another's, delimited, so that parts can follow each other. */
export function variantKeyPart(value: Variant, depth: number): string {
  switch (typeof value) {
    case "string":
      return `s${value.length}:${value}`;
    case "number":
      return Object.is(value, -0) ? "0;" : `${Number.isInteger(value) ? floatKey(value) : value};`;
    case "bigint":
      return `${value};`;
    case "boolean":
      return value ? "t" : "f";
    default:
      return value === null ? "~" : objectKey(value, depth);
  }
}

function objectKey(value: Exclude<Variant, null | boolean | number | bigint | string>, depth: number): string {
  if (depth > VARIANT_DEPTH_MAX) throw tooDeep();
  if (value instanceof Float) return Object.is(value.value, -0) ? "0;" : `${floatKey(value.value)};`;
  if (isList(value)) return `[${value.map((item) => variantKeyPart(item, depth + 1)).join("")}]`;
  if (value instanceof Map) {
    const map: VariantMap = value;
    return `{${sortedKeys(map)
      .map((key) => `${key.length}:${key}${variantKeyPart(map.get(key)!, depth + 1)}`)
      .join("")}}`;
  }
  if (value instanceof GraphNode) return `N${value.id};`;
  if (value instanceof GraphRelationship) return `R${value.id};`;
  if (value instanceof GraphPath) {
    return `P${value.nodes.map((node) => node.id).join()}-${value.relationships.map(({ id }) => id).join()};`;
  }
  if (value instanceof CypherPoint) return `X${pointKey(value)};`;
  if (value instanceof Uint8Array) return `B${value.length}:${Buffer.from(value).toString("latin1")}`;
  if (value instanceof CypherVector) return `V${cypherVectorKey(value)};`;
  return `T${temporalKey(value as Temporal)};`;
}
