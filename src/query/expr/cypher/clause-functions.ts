/** Functions that Cypher's clauses call implicitly: UNWIND's rows, SKIP and LIMIT, tests of values' labels. */
import { cypherError } from "../../../values/cypher-error.js";
import { BOOL, INT8, TEXT, VARIANT, type Value } from "../../../values/values.js";
import { Float, GraphNode, GraphRelationship, isIntegerValue, type Variant } from "../../../values/variant.js";
import type { ScalarFunction } from "../expr.js";
import { tableFn, valueRows } from "../table-function.js";

const immutable = { volatility: "immutable" } as const;

/** The elements of a list; any other value is one row, and null gives none. */
export const UNWIND = tableFn("unwind", [VARIANT], VARIANT, (value: Value) =>
  valueRows(Array.isArray(value) ? (value as readonly Value[]) : [value]),
);

function rowCount(clause: "SKIP" | "LIMIT"): ScalarFunction {
  return Object.freeze({
    ...immutable,
    name: clause.toLowerCase(),
    args: [VARIANT],
    returns: INT8,
    strict: false,
    apply: (value: Value) => {
      if (!isIntegerValue(value)) {
        throw cypherError("SyntaxError", "InvalidArgumentType", `${clause} must be an integer`);
      }
      if (value < 0) throw cypherError("SyntaxError", "NegativeIntegerArgument", `${clause} must not be negative`);
      return value;
    },
  });
}

/** Numbers of rows: integers from 0 on. */
export const SKIP_ROWS = rowCount("SKIP");
export const LIMIT_ROWS = rowCount("LIMIT");

/** Whether a node has the label, or a relationship is of the type. */
export const HAS_LABEL_VALUE: ScalarFunction = Object.freeze({
  ...immutable,
  name: "has_label",
  args: [VARIANT, TEXT],
  returns: BOOL,
  strict: true,
  apply: (value: Variant, label: string) => {
    if (value instanceof GraphNode) return value.labels.includes(label);
    if (value instanceof GraphRelationship) return value.type === label;
    throw cypherError("TypeError", "InvalidArgumentType", "only nodes and relationships have labels");
  },
});

/** A path's length, of its start's id and its parts: ids of relationships, and lists of relationships. */
export const PATH_LENGTH: ScalarFunction = Object.freeze({
  ...immutable,
  name: "path_length",
  args: [INT8],
  variadic: VARIANT,
  returns: INT8,
  strict: true,
  apply: (_start: number, ...parts: Value[]) =>
    parts.reduce((length: number, part) => length + (Array.isArray(part) ? part.length : 1), 0),
});

/** A path's relationships, of its start's id and its parts: relationships and lists of them. */
export const PATH_RELATIONSHIPS: ScalarFunction = Object.freeze({
  ...immutable,
  name: "path_relationships",
  args: [INT8],
  variadic: VARIANT,
  returns: VARIANT,
  strict: true,
  apply: (_start: number, ...parts: Value[]) => parts.flat() as Value,
});

/** A float that is a whole number as an integer; any other value as it is. */
export const WHOLE_AS_INTEGER: ScalarFunction = Object.freeze({
  ...immutable,
  name: "whole_as_integer",
  args: [VARIANT],
  returns: VARIANT,
  strict: true,
  apply: (value: Variant) => (value instanceof Float && Number.isSafeInteger(value.value) ? value.value + 0 : value),
});

/** The int8 that equals the value, if one does: what an id can be compared with. */
export const INTEGER_OF: ScalarFunction = Object.freeze({
  ...immutable,
  name: "integer",
  args: [VARIANT],
  returns: INT8,
  strict: true,
  apply: (value: Variant) => {
    if (isIntegerValue(value)) return value;
    return value instanceof Float && Number.isSafeInteger(value.value) ? value.value + 0 : null;
  },
});

/**
 * The entries of maps and entities (after the first argument, which, when it is null, makes all null), later ones
 * first.
 */
export const MERGE_MAPS: ScalarFunction = Object.freeze({
  ...immutable,
  name: "merge_maps",
  args: [VARIANT],
  variadic: VARIANT,
  returns: VARIANT,
  strict: false,
  apply: (target: Value, ...parts: Value[]) => {
    if (target === null) return null;
    const merged = new Map<string, Variant>();
    for (const part of parts) for (const [key, value] of entriesOf(part)) merged.set(key, value);
    return merged;
  },
});

function entriesOf(value: Value): Iterable<[string, Variant]> {
  if (value instanceof GraphNode || value instanceof GraphRelationship) return value.properties;
  if (value instanceof Map) return value;
  throw cypherError("TypeError", "InvalidArgumentType", "expected a map, a node or a relationship");
}
