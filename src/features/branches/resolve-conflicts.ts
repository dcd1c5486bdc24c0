/**
 * `resolve` of a merge: a query of the caller says what rows in conflict are to be. It reads them as a table
 * `conflict`, in the transaction of the merge, and gives a row for each that it resolves.
 */
import type { TableDef } from "../../catalog/table.js";
import { DbError } from "../../protocol/errors.js";
import { jsonField } from "../../query/exec/bulk-insert.js";
import type { TableWriter } from "../../query/exec/table-writer.js";
import { fromParameter } from "../../values/json-format.js";
import { parseJson } from "../../values/json-text.js";
import type { Ask } from "../statements/run-alone.js";
import { type Row, shownName, shownRow } from "./row-changes.js";

export interface OpenConflict {
  readonly table: TableDef;
  /** Of the origin. */
  readonly key: Uint8Array;
  readonly before: Row | null;
  readonly ours: Row | null;
  readonly theirs: Row | null;
}

/** Conflicts that the query is asked for at a time. */
export const RESOLVED_AT_ONCE = 256;
/** Of the rows of those: a turn has time for it. */
export const RESOLVED_BYTES = 128 * 1024;

const CONFLICT_COLUMNS = "number integer, table_name text, base jsonb, ours jsonb, theirs jsonb";
const FIELD = "resolve.sql";

/**
 * What the query says, by the place of the conflict; null: no row. Throws invalid_request, and what the query throws.
 */
export async function resolvedRows(
  sql: string,
  conflicts: readonly OpenConflict[],
  ask: Ask,
  writerOf: (conflict: OpenConflict) => TableWriter,
): Promise<ReadonlyMap<number, Row | null>> {
  const shown = conflicts.map(({ table, before, ours, theirs }, number) => ({
    ...{ number, table_name: shownName(table), base: shownRow(table, before) },
    ...{ ours: shownRow(table, ours), theirs: shownRow(table, theirs) },
  }));
  const resolved = new Map<number, Row | null>();
  for (const [number, text] of await answersOf(sql, JSON.stringify(shown), ask)) {
    const conflict = typeof number === "number" ? conflicts[number] : undefined;
    if (conflict === undefined) throw wrong(`It gives a row for the conflict number ${String(number)}, which is none.`);
    if (resolved.has(number as number)) throw wrong(`It gives more than one row for the conflict number ${number}.`);
    const json = text === null ? null : parseJson(text as string);
    // NULL as a value of jsonb.
    resolved.set(number as number, json === null ? null : rowOf(conflict, json, shown[number as number]!, writerOf));
  }
  return resolved;
}

async function answersOf(sql: string, conflicts: string, ask: Ask): Promise<readonly (readonly unknown[])[]> {
  const given = `SELECT * FROM jsonb_to_recordset($1::jsonb) AS given (${CONFLICT_COLUMNS})`;
  const query = sql.trim().replace(/;$/, "");
  const resolved = `SELECT number::integer, "row"::jsonb::text FROM (${query}\n) AS resolved (number, "row")`;
  try {
    return await ask({ sql: `WITH conflict AS (${given}) ${resolved}`, params: [conflicts], language: "sql" });
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    // It counts from the beginning of more than the caller has sent.
    const { position: _, ...details } = error.details ?? {};
    throw new DbError(error.code, error.message, { ...details, field: FIELD });
  }
}

type Shown = Readonly<Record<"ours" | "theirs", Readonly<Record<string, unknown>> | null>>;

function rowOf(
  conflict: OpenConflict,
  json: unknown,
  shown: Shown,
  writerOf: (conflict: OpenConflict) => TableWriter,
): Row {
  const { table, key } = conflict;
  const name = shownName(table);
  if (typeof json !== "object" || Array.isArray(json)) throw wrong(`The row for "${name}" is no JSON object.`);
  const given = new Map(Object.entries(json as object));
  const row: Row = new Array(table.nextColumnId).fill(null);
  for (const { id, name: column, type, generatedSql } of table.columns) {
    if (!given.has(column) && generatedSql === undefined) {
      throw wrong(
        `The row for "${name}" lacks the column "${column}". Begin with \`ours\`: ours || jsonb_build_object(…).`,
      );
    }
    const value = given.get(column) ?? null;
    given.delete(column);
    // What was not touched stays as it is stored, whatever JSON makes of it.
    const side = (["ours", "theirs"] as const).find((each) => isSameJson(shown[each]?.[column], value));
    if (side !== undefined) row[id] = conflict[side]![id] ?? null;
    else row[id] = fromParameter(type, jsonField(type, value));
  }
  for (const column of given.keys()) throw wrong(`The table "${name}" has no column "${column}".`);
  const writer = writerOf(conflict);
  writer.generate(row);
  if (table.primaryKey === null || Buffer.compare(writer.keyOfNewRow(row), key) === 0) return row;
  throw wrong(`The row for "${name}" has another primary key than the rows in conflict.`);
}

function isSameJson(a: unknown, b: unknown): boolean {
  return a !== undefined && (a === b || (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b)));
}

function wrong(what: string): DbError {
  return new DbError("invalid_request", what, { field: FIELD });
}
