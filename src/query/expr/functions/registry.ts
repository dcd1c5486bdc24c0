/**
 * All functions, operators and aggregates by name. resolve.ts looks overloads up here; nothing else does.
 */
import type { AggregateFunction, ScalarFunction, WindowFunction } from "../expr.js";
import { AGGREGATE_FAMILY_TABLE, AGGREGATE_TABLE } from "./aggregates.js";
import { ARITHMETIC } from "./arithmetic.js";
import { ARRAY_FAMILIES, ARRAY_OPERATOR_FAMILIES } from "./arrays.js";
import { BIT_FUNCTIONS, BIT_OPERATORS } from "./bit-strings.js";
import { BYTES_FUNCTIONS } from "./bytes.js";
import { COMPARISON_FAMILIES, COMPARISONS, DISTINCT_FAMILIES } from "./comparison.js";
import { CONDITIONAL_FAMILIES } from "./conditional.js";
import { DATETIME_FUNCTIONS, DATETIME_OPERATORS } from "./datetime.js";
import type { AggregateFamily, FunctionFamily } from "./define.js";
import { ENUM_FAMILIES } from "./enums.js";
import { FORMATTING } from "./formatting.js";
import { JSON_FAMILIES, JSON_FUNCTIONS, JSON_OPERATORS } from "./json.js";
import { JSON_CONSTRUCTORS } from "./json-constructors.js";
import { JSON_PATH_FUNCTIONS, JSON_PATH_OPERATORS } from "./json-path-functions.js";
import { JSON_RECORD_FAMILIES } from "./json-record.js";
import { MATH } from "./math.js";
import { MISC_FAMILIES, MISC_FUNCTIONS } from "./misc.js";
import { ORDERED_SET_FAMILIES, ORDERED_SETS } from "./ordered-sets.js";
import { PATTERN_FUNCTIONS, PATTERN_OPERATORS } from "./pattern.js";
import { STATISTICS } from "./statistics.js";
import { TEXT_FAMILIES, TEXT_FUNCTIONS, TEXT_OPERATOR_FAMILIES, TEXT_OPERATORS } from "./text.js";
import { VECTOR_FUNCTIONS, VECTOR_OPERATORS } from "./vector.js";
import { WINDOW_FAMILY_TABLE, WINDOW_FUNCTION_TABLE, type WindowFamily } from "./window.js";

function byName<T extends { readonly name: string }>(...tables: readonly (readonly T[])[]): ReadonlyMap<string, T[]> {
  const map = new Map<string, T[]>();
  for (const entry of tables.flat()) {
    const entries = map.get(entry.name);
    if (entries === undefined) map.set(entry.name, [entry]);
    else entries.push(entry);
  }
  return map;
}

export const OPERATORS: ReadonlyMap<string, readonly ScalarFunction[]> = byName(
  ARITHMETIC,
  COMPARISONS,
  TEXT_OPERATORS,
  PATTERN_OPERATORS,
  DATETIME_OPERATORS,
  JSON_OPERATORS,
  JSON_PATH_OPERATORS,
  VECTOR_OPERATORS,
  BIT_OPERATORS,
);

export const OPERATOR_FAMILIES: ReadonlyMap<string, readonly FunctionFamily[]> = byName(
  COMPARISON_FAMILIES,
  ARRAY_OPERATOR_FAMILIES,
  TEXT_OPERATOR_FAMILIES,
);

export const FUNCTIONS: ReadonlyMap<string, readonly ScalarFunction[]> = byName(
  MATH,
  TEXT_FUNCTIONS,
  BYTES_FUNCTIONS,
  PATTERN_FUNCTIONS,
  DATETIME_FUNCTIONS,
  FORMATTING,
  JSON_FUNCTIONS,
  JSON_PATH_FUNCTIONS,
  VECTOR_FUNCTIONS,
  MISC_FUNCTIONS,
  BIT_FUNCTIONS,
);

export const FUNCTION_FAMILIES: ReadonlyMap<string, readonly FunctionFamily[]> = byName(
  CONDITIONAL_FAMILIES,
  DISTINCT_FAMILIES,
  TEXT_FAMILIES,
  JSON_FAMILIES,
  JSON_CONSTRUCTORS,
  JSON_RECORD_FAMILIES,
  ARRAY_FAMILIES,
  MISC_FAMILIES,
  ENUM_FAMILIES,
);

export const AGGREGATES: ReadonlyMap<string, readonly AggregateFunction[]> = byName(
  AGGREGATE_TABLE,
  STATISTICS,
  ORDERED_SETS,
);
export const AGGREGATE_FAMILIES: ReadonlyMap<string, readonly AggregateFamily[]> = byName(
  AGGREGATE_FAMILY_TABLE,
  ORDERED_SET_FAMILIES,
);

export const WINDOW_FUNCTIONS: ReadonlyMap<string, readonly WindowFunction[]> = byName(WINDOW_FUNCTION_TABLE);
export const WINDOW_FAMILIES: ReadonlyMap<string, readonly WindowFamily[]> = byName(WINDOW_FAMILY_TABLE);
