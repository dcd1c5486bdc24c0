/**
 * All functions, operators and aggregates: by name, where resolve.ts looks overloads up, and by chapter, as the manual
 * (sql/manual) prints them.
 */
import type { AggregateFunction, ScalarFunction, WindowFunction } from "../expr.js";
import { AGGREGATE_STATES } from "./aggregate-states.js";
import { AGGREGATE_FAMILY_TABLE, AGGREGATE_TABLE } from "./aggregates.js";
import { ARITHMETIC } from "./arithmetic.js";
import { ARRAY_FAMILIES, ARRAY_OPERATOR_FAMILIES } from "./arrays.js";
import { BIT_FUNCTIONS, BIT_OPERATORS } from "./bit-strings.js";
import { BYTES_FUNCTIONS } from "./bytes.js";
import { CITEXT_FUNCTIONS, CITEXT_OPERATORS } from "./citext.js";
import { CLAIM_AGGREGATES, CLAIM_FAMILIES } from "./claims.js";
import { COMPARISON_FAMILIES, COMPARISONS, DISTINCT_FAMILIES } from "./comparison.js";
import { CONDITIONAL_FAMILIES } from "./conditional.js";
import { CRYPTO_FUNCTIONS, UUID_FUNCTIONS } from "./crypto.js";
import { DATETIME_FUNCTIONS, DATETIME_OPERATORS } from "./datetime.js";
import { type AggregateFamily, type FunctionFamily, taking } from "./define.js";
import { DISTANCE_FUNCTIONS, DISTANCE_OPERATORS } from "./distances.js";
import { DOCUMENT_FUNCTIONS } from "./documents.js";
import { ENUM_FAMILIES } from "./enums.js";
import { FORMATTING } from "./formatting.js";
import { FUZZY_FUNCTIONS } from "./fuzzy-texts.js";
import { GENERATION_FUNCTIONS } from "./generation.js";
import { GEOMETRY_FUNCTIONS, GEOMETRY_OPERATORS } from "./geometry.js";
import { GRAPH_FUNCTIONS, VARIANT_OPERATORS } from "./graphs.js";
import { HASH_FUNCTIONS } from "./hashes.js";
import { HSTORE_FAMILIES, HSTORE_FUNCTIONS, HSTORE_OPERATOR_FAMILIES, HSTORE_OPERATORS } from "./hstore.js";
import { JSON_FUNCTIONS, JSON_OPERATORS } from "./json.js";
import { JSON_FAMILIES } from "./json-building.js";
import { JSON_CONSTRUCTORS } from "./json-constructors.js";
import { JSON_EXTRACT_FUNCTIONS } from "./json-extract.js";
import { JSON_PATH_FUNCTIONS, JSON_PATH_OPERATORS } from "./json-path-functions.js";
import { JSON_RECORD_FAMILIES } from "./json-record.js";
import { LTREE_FUNCTIONS, LTREE_OPERATORS } from "./ltree.js";
import { MATH } from "./math.js";
import { MISC_FAMILIES, MISC_FUNCTIONS } from "./misc.js";
import { MODEL_FUNCTIONS } from "./models.js";
import { MONEY_FUNCTIONS, MONEY_OPERATORS } from "./money.js";
import { NETWORK_FUNCTIONS, NETWORK_OPERATORS } from "./network.js";
import { OPERATOR_FUNCTIONS } from "./operator-functions.js";
import { ORDERED_SET_FAMILIES, ORDERED_SETS } from "./ordered-sets.js";
import { OVERLAPS } from "./overlaps.js";
import { OWN_RANGE_AGGREGATES, OWN_RANGE_FAMILIES, OWN_RANGE_OPERATORS } from "./own-ranges.js";
import { PATTERN_FUNCTIONS, PATTERN_OPERATORS } from "./pattern.js";
import { PRETTY_JSON } from "./pretty-json.js";
import { RANGE_OPERATOR_FUNCTIONS } from "./range-operator-functions.js";
import { RANGE_AGGREGATES, RANGE_FUNCTIONS, RANGE_OPERATORS } from "./ranges.js";
import { STATISTICS } from "./statistics.js";
import { TEXT_FAMILIES, TEXT_FUNCTIONS, TEXT_OPERATOR_FAMILIES, TEXT_OPERATORS } from "./text.js";
import { TEXT_SEARCH_FUNCTIONS } from "./text-search.js";
import { LOG_PLACE_OPERATORS, TRANSACTION_ID_FUNCTIONS } from "./transaction-ids.js";
import { TRIGRAM_FUNCTIONS, TRIGRAM_OPERATORS } from "./trigrams.js";
import { TS_FUNCTIONS, TS_OPERATORS } from "./ts-functions.js";
import { TS_HEADLINES } from "./ts-headlines.js";
import { UNACCENT_FUNCTIONS } from "./unaccent.js";
import { VECTOR_FUNCTIONS, VECTOR_OPERATOR_FAMILIES, VECTOR_OPERATORS } from "./vector.js";
import { VECTOR_STATE_FUNCTIONS } from "./vector-states.js";
import {
  BIT_DISTANCE_FUNCTIONS,
  BIT_DISTANCE_OPERATORS,
  VECTOR_COMPARISONS,
  VECTOR_TYPE_FUNCTIONS,
  VECTOR_TYPE_OPERATORS,
} from "./vector-types.js";
import { WINDOW_FAMILY_TABLE, WINDOW_FUNCTION_TABLE, type WindowFamily } from "./window.js";

/** Functions that belong together. */
export interface Chapter {
  readonly title: string;
  readonly functions?: readonly ScalarFunction[];
  readonly families?: readonly FunctionFamily[];
  readonly operators?: readonly ScalarFunction[];
  readonly operatorFamilies?: readonly FunctionFamily[];
  readonly aggregates?: readonly AggregateFunction[];
  readonly aggregateFamilies?: readonly AggregateFamily[];
  readonly windowFunctions?: readonly WindowFunction[];
  readonly windowFamilies?: readonly WindowFamily[];
}

/** Of overloads that fit equally well the one of the earlier chapter is taken. */
export const CHAPTERS: readonly Chapter[] = [
  { title: "Mathematical functions and operators", functions: MATH, operators: ARITHMETIC },
  {
    title: "Comparison",
    operators: COMPARISONS,
    operatorFamilies: COMPARISON_FAMILIES,
    families: [...CONDITIONAL_FAMILIES, ...DISTINCT_FAMILIES],
  },
  { title: "Array functions and operators", families: ARRAY_FAMILIES, operatorFamilies: ARRAY_OPERATOR_FAMILIES },
  {
    title: "String functions and operators",
    functions: TEXT_FUNCTIONS,
    families: TEXT_FAMILIES,
    operators: TEXT_OPERATORS,
    operatorFamilies: TEXT_OPERATOR_FAMILIES,
  },
  { title: "Binary string functions", functions: BYTES_FUNCTIONS },
  {
    title: "Pattern matching",
    functions: taking(200, PATTERN_FUNCTIONS),
    operators: PATTERN_OPERATORS,
  },
  {
    title: "Date and time functions and operators",
    functions: [...DATETIME_FUNCTIONS, ...OVERLAPS],
    operators: DATETIME_OPERATORS,
  },
  { title: "Formatting functions", functions: FORMATTING },
  {
    title: "JSON functions and operators",
    functions: [...JSON_FUNCTIONS, ...JSON_EXTRACT_FUNCTIONS],
    families: [...JSON_FAMILIES, ...PRETTY_JSON, ...JSON_CONSTRUCTORS, ...JSON_RECORD_FAMILIES],
    operators: JSON_OPERATORS,
  },
  {
    title: "JSON path functions and operators",
    functions: [...JSON_PATH_FUNCTIONS, ...DOCUMENT_FUNCTIONS],
    operators: JSON_PATH_OPERATORS,
  },
  {
    title: "Vector functions and operators",
    functions: [...VECTOR_FUNCTIONS, ...VECTOR_STATE_FUNCTIONS, ...VECTOR_COMPARISONS, ...BIT_DISTANCE_FUNCTIONS],
    families: VECTOR_TYPE_FUNCTIONS,
    operators: [...VECTOR_OPERATORS, ...BIT_DISTANCE_OPERATORS],
    operatorFamilies: [...VECTOR_OPERATOR_FAMILIES, ...VECTOR_TYPE_OPERATORS],
  },
  {
    title: "Text search functions and operators",
    functions: [...taking(300, TS_FUNCTIONS), ...taking(1200, TS_HEADLINES), ...TEXT_SEARCH_FUNCTIONS],
    operators: taking(200, TS_OPERATORS),
  },
  {
    title: "Model functions",
    functions: [...MODEL_FUNCTIONS, ...GENERATION_FUNCTIONS],
    families: CLAIM_FAMILIES,
    aggregates: CLAIM_AGGREGATES,
  },
  { title: "Graph functions and operators", functions: GRAPH_FUNCTIONS, operatorFamilies: VARIANT_OPERATORS },
  { title: "Bit string functions and operators", functions: BIT_FUNCTIONS, operators: BIT_OPERATORS },
  { title: "Functions and operators of money", functions: MONEY_FUNCTIONS, operators: MONEY_OPERATORS },
  { title: "Hash functions", functions: HASH_FUNCTIONS },
  {
    title: "Numbers of transactions, and places in a log",
    functions: TRANSACTION_ID_FUNCTIONS,
    operators: LOG_PLACE_OPERATORS,
  },
  { title: "Network address functions and operators", functions: NETWORK_FUNCTIONS, operators: NETWORK_OPERATORS },
  { title: "Trigram functions and operators (pg_trgm)", functions: TRIGRAM_FUNCTIONS, operators: TRIGRAM_OPERATORS },
  { title: "Distances (btree_gist)", functions: DISTANCE_FUNCTIONS, operators: DISTANCE_OPERATORS },
  { title: "Likeness of words (fuzzystrmatch)", functions: FUZZY_FUNCTIONS },
  { title: "Texts without accents (unaccent)", functions: UNACCENT_FUNCTIONS },
  { title: "Cryptographic functions (pgcrypto)", functions: CRYPTO_FUNCTIONS },
  { title: "UUID functions (uuid-ossp)", functions: UUID_FUNCTIONS },
  { title: "Functions and operators of citext", functions: CITEXT_FUNCTIONS, operators: CITEXT_OPERATORS },
  { title: "Geometric functions and operators", functions: GEOMETRY_FUNCTIONS, operators: GEOMETRY_OPERATORS },
  {
    title: "Functions and operators of hstore",
    functions: HSTORE_FUNCTIONS,
    families: HSTORE_FAMILIES,
    operators: HSTORE_OPERATORS,
    operatorFamilies: HSTORE_OPERATOR_FAMILIES,
  },
  { title: "Functions and operators of ltree", functions: LTREE_FUNCTIONS, operators: LTREE_OPERATORS },
  {
    title: "Range functions and operators",
    functions: RANGE_FUNCTIONS,
    families: OWN_RANGE_FAMILIES,
    operators: RANGE_OPERATORS,
    operatorFamilies: OWN_RANGE_OPERATORS,
  },
  { title: "Enum functions", families: ENUM_FAMILIES },
  { title: "Session and other functions", functions: MISC_FUNCTIONS, families: MISC_FAMILIES },
  {
    title: "Functions behind operators and aggregates",
    functions: [...OPERATOR_FUNCTIONS, ...RANGE_OPERATOR_FUNCTIONS, ...AGGREGATE_STATES],
  },
  { title: "Aggregate functions", aggregates: AGGREGATE_TABLE, aggregateFamilies: AGGREGATE_FAMILY_TABLE },
  { title: "Range aggregate functions", aggregates: RANGE_AGGREGATES, aggregateFamilies: OWN_RANGE_AGGREGATES },
  { title: "Statistical aggregate functions", aggregates: STATISTICS },
  { title: "Ordered-set aggregate functions", aggregates: ORDERED_SETS, aggregateFamilies: ORDERED_SET_FAMILIES },
  { title: "Window functions", windowFunctions: WINDOW_FUNCTION_TABLE, windowFamilies: WINDOW_FAMILY_TABLE },
];

/** Entries of one kind in the order of the chapters. */
function byName<T extends { readonly name: string }>(
  entriesOf: (chapter: Chapter) => readonly T[] | undefined,
): Map<string, T[]> {
  const map = new Map<string, T[]>();
  for (const entry of CHAPTERS.flatMap((chapter) => entriesOf(chapter) ?? [])) {
    const entries = map.get(entry.name);
    if (entries === undefined) map.set(entry.name, [entry]);
    else entries.push(entry);
  }
  return map;
}

type ByName<T> = ReadonlyMap<string, readonly T[]>;

const functions = byName((chapter) => chapter.functions);

export const OPERATORS: ByName<ScalarFunction> = byName((chapter) => chapter.operators);
export const OPERATOR_FAMILIES: ByName<FunctionFamily> = byName((chapter) => chapter.operatorFamilies);
export const FUNCTIONS: ByName<ScalarFunction> = functions;
export const FUNCTION_FAMILIES: ByName<FunctionFamily> = byName((chapter) => chapter.families);
export const AGGREGATES: ByName<AggregateFunction> = byName((chapter) => chapter.aggregates);
export const AGGREGATE_FAMILIES: ByName<AggregateFamily> = byName((chapter) => chapter.aggregateFamilies);
export const WINDOW_FUNCTIONS: ByName<WindowFunction> = byName((chapter) => chapter.windowFunctions);
export const WINDOW_FAMILIES: ByName<WindowFamily> = byName((chapter) => chapter.windowFamilies);

/** Overloads of rooms above this one; for the manual, which has no chapter of theirs. */
export const REGISTERED_FUNCTIONS: ScalarFunction[] = [];

/** Adds an overload for good: of rooms above this one, when the process starts. */
export function registerFunction(fn: ScalarFunction): void {
  REGISTERED_FUNCTIONS.push(fn);
  const overloads = functions.get(fn.name);
  if (overloads === undefined) functions.set(fn.name, [fn]);
  else overloads.push(fn);
}
