/**
 * Functions of SQL on the tables of a graph: properties, labels, parts of variants, and comparisons of variants with
 * each other and with SQL's values.
 */

import { isOfType } from "../../../values/cypher-type.js";
import { BOOL, INT4, INT8, type SqlType, TEXT, VARIANT, type Value, VECTOR } from "../../../values/values.js";
import { doubleOf, GraphNode, GraphRelationship, type Variant, type VariantMap } from "../../../values/variant.js";
import { isList, variantToText } from "../../../values/variant-format.js";
import { itemsOfVector } from "../../../values/vector-list.js";
import { differs, equals, greater, greaterOrEqual, less, lessOrEqual } from "../cypher/comparison.js";
import { HAS_LABEL, PROPERTY } from "../cypher/entities.js";
import type { ScalarFunction } from "../expr.js";
import { toVariant } from "../variant-cast.js";
import { isVariantAsIs } from "../variant-order.js";
import { type FunctionFamily, family, fn, op } from "./define.js";

/** For entities that pass `isMeant`: a vector or a list of that many numbers; null for anything else. */
function graphVector(isMeant: boolean, properties: VariantMap, key: string, dimensions: number): Float32Array | null {
  const list = isMeant ? itemsOfVector(properties.get(key)) : undefined;
  if (list?.length !== dimensions) return null;
  const vector = Float32Array.from(list, doubleOf);
  return vector.every(Number.isFinite) ? vector : null;
}

/** For entities that pass `isMeant`: the texts among these properties, one per line; null if there are none. */
function graphText(isMeant: boolean, properties: VariantMap, ...keys: readonly string[]): string | null {
  const values = isMeant ? keys.map((key) => properties.get(key)) : [];
  const texts = values.flat().filter((value) => typeof value === "string");
  return texts.length === 0 ? null : texts.join("\n");
}

export const GRAPH_FUNCTIONS: readonly ScalarFunction[] = [
  PROPERTY,
  HAS_LABEL,
  fn("graph_vector", [BOOL, VARIANT, TEXT, INT4], VECTOR, graphVector),
  fn("graph_text", [BOOL, VARIANT], TEXT, graphText, { variadic: TEXT }),
  fn("graph_typed", [VARIANT, TEXT], BOOL, isOfType),
];

type Compare = (a: Variant, b: Variant) => boolean | null;

/** Cypher's comparison where one side is a variant; the other may be of any type that becomes one. */
function comparison(symbol: string, compare: Compare): FunctionFamily {
  return family(symbol, "(variant, any) → boolean", (types) => {
    if (types.length !== 2 || !types.includes(VARIANT)) return null;
    const args = types.map((type) => (type.name === "unknown" ? VARIANT : type)) as [SqlType, SqlType];
    if (args.every(isVariantAsIs)) return op(symbol, args, BOOL, compare);
    const [left, right] = args.map(toVariant);
    if (!left || !right) return null;
    return op(symbol, args, BOOL, (a: Value, b: Value) => compare(left(a), right(b)));
  });
}

/** What jsonb's operator of that name takes out of a JSON value: an entry of a map, an item of a list, else NULL. */
function memberOf(value: Variant, key: string | number): Variant {
  if (isList(value)) return typeof key === "number" ? (value.at(key) ?? null) : null;
  const map = value instanceof GraphNode || value instanceof GraphRelationship ? value.properties : value;
  return map instanceof Map && typeof key === "string" ? (map.get(key) ?? null) : null;
}

function member(symbol: string, returns: SqlType, result: (found: NonNullable<Variant>) => Value): FunctionFamily {
  return family(symbol, `(variant, text or integer) → ${returns.name}`, ([whole, key, ...rest]) => {
    if (whole !== VARIANT || key === undefined || rest.length > 0) return null;
    const by = key.name === "unknown" ? TEXT : key;
    if (by !== TEXT && by !== INT4 && by !== INT8) return null;
    return op(symbol, [VARIANT, by], returns, (value: Variant, name: string | number) => {
      const found = memberOf(value, name);
      return found === null ? null : result(found);
    });
  });
}

export const VARIANT_OPERATORS: readonly FunctionFamily[] = [
  member("->", VARIANT, (found) => found),
  member("->>", TEXT, variantToText),

  comparison("=", equals),
  comparison("<>", differs),
  comparison("<", less),
  comparison("<=", lessOrEqual),
  comparison(">", greater),
  comparison(">=", greaterOrEqual),
];
