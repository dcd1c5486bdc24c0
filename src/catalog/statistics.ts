/**
 * Statistics of a table's rows: made by ANALYZE (query/exec/analyze-table.ts), stored as a record of the tenant's
 * catalog, read by the optimizer's estimates. They are estimates; no result relies on them.
 */

import { catalogKey } from "../storage/keys.js";
import { Numeric } from "../values/numeric.js";
import type { Value } from "../values/values.js";
import type { TableDef } from "./table.js";

/** A value on the line of its type: numbers, dates and times as numbers, texts as they are. */
export type Mark = number | string;

export interface ColumnStatistics {
  /** Estimated number of different values in the table, NULL apart. */
  readonly distinct: number;
  /** Part of the rows with NULL, 0 to 1. */
  readonly nullFraction: number;
  /** Values that stand out, with the part of all rows that has each; most frequent first. */
  readonly common: readonly { readonly value: Mark; readonly fraction: number }[];
  /** Bounds of groups of about equally many rows without NULLs and common values, ascending; empty when unknown. */
  readonly histogram: readonly Mark[];
}

/** When a table was analyzed last, in microseconds since the epoch; absent: never, or before this was noted. */
export interface AnalyzedTimes {
  /** By a statement. */
  readonly statementMicros?: number;
  /** By the server, after changes. */
  readonly serverMicros?: number;
}

export interface TableStatistics extends AnalyzedTimes {
  readonly rows: number;
  /** By column id; a column of a type without order and text has no entry. */
  readonly columns: Readonly<Record<number, ColumnStatistics>>;
}

/** Where the optimizer asks. Null: nothing is known. */
export interface StatisticsSource {
  of(table: TableDef): TableStatistics | null;
}

/** Names of the records in the tenant's catalog space; the table's id follows. */
export const STATISTICS_RECORD = "statistics/";

export function statisticsKey(tenantNumber: number, tableId: number): Uint8Array {
  return catalogKey(tenantNumber, `${STATISTICS_RECORD}${tableId}`);
}

export function encodeStatistics(statistics: TableStatistics): Uint8Array {
  return Buffer.from(JSON.stringify(statistics));
}

export function decodeStatistics(record: Uint8Array): TableStatistics {
  return JSON.parse(Buffer.from(record).toString("utf8")) as TableStatistics;
}

/** Longer texts are cut: the estimate needs no more. */
const TEXT_CHARACTERS_MAX = 64;

/** A value's place on the line of its type; null for types without one. */
export function markOf(value: Value): Mark | null {
  if (typeof value === "string")
    return value.length > TEXT_CHARACTERS_MAX ? value.slice(0, TEXT_CHARACTERS_MAX) : value;
  if (typeof value === "number") return Number.isFinite(value) ? value : Math.sign(value) * Number.MAX_VALUE;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof Numeric) {
    const number = Number(value.toString());
    return Number.isFinite(number) ? number : null;
  }
  return null;
}
