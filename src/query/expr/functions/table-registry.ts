/**
 * All functions that return rows, by name. resolve.ts looks overloads up here. It grows: rooms above
 * this one (graph, vector search, memory) add theirs once, before the first statement is bound.
 */
import type { TableFunction } from "../table-function.js";
import { CITEXT_TABLES } from "./citext.js";
import type { Family } from "./define.js";
import { HSTORE_TABLES } from "./hstore.js";
import { JSON_PATH_SETS } from "./json-path-functions.js";
import { LIST_MODELS } from "./models.js";
import { OWN_RANGE_TABLES } from "./own-ranges.js";
import { RANGE_TABLES } from "./ranges.js";
import { EXPANDED_ARRAYS, SERIES, SUBSCRIPTS } from "./series.js";
import { SET_FAMILIES, SETS } from "./sets.js";
import { SNAPSHOT_TABLE_FUNCTIONS } from "./transaction-ids.js";
import { TS_TABLES } from "./ts-tables.js";

const functions = new Map<string, TableFunction[]>();
const families = new Map<string, Family<TableFunction>[]>();

function add<T extends { readonly name: string }>(map: Map<string, T[]>, entry: T): void {
  const entries = map.get(entry.name);
  if (entries === undefined) map.set(entry.name, [entry]);
  else entries.push(entry);
}

for (const fn of [
  ...SERIES,
  ...SETS,
  ...JSON_PATH_SETS,
  LIST_MODELS,
  ...TS_TABLES,
  ...RANGE_TABLES,
  ...CITEXT_TABLES,
  ...HSTORE_TABLES,
  ...SNAPSHOT_TABLE_FUNCTIONS,
])
  add(functions, fn);
for (const family of [SUBSCRIPTS, EXPANDED_ARRAYS, ...SET_FAMILIES, ...OWN_RANGE_TABLES]) add(families, family);

export const TABLE_FUNCTIONS: ReadonlyMap<string, readonly TableFunction[]> = functions;
export const TABLE_FUNCTION_FAMILIES: ReadonlyMap<string, readonly Family<TableFunction>[]> = families;

/** Adds an overload for good. Call it while the process starts. */
export function registerTableFunction(fn: TableFunction): void {
  add(functions, fn);
}
