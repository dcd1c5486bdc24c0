/** `where` of POST /v1/history/undo: the rows for which the condition is true, now or then. */
import type { Request } from "../../actor/request.js";
import { quotedTable } from "../../catalog/ddl-outcome.js";
import { quotedIdentifier } from "../../catalog/relation-names.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { DbError } from "../../protocol/errors.js";
import type { CommitStamp } from "../../storage/operation.js";
import { toText } from "../../values/text-format.js";
import { rowsOf } from "../statements/run-alone.js";
import { type Row, shownRow } from "./row-changes.js";

/** Which table is to be what it was when. */
export interface Moment {
  readonly request: Request;
  readonly stamp: CommitStamp;
  readonly table: TableDef;
}

/** A row that is not as it was. */
export interface Difference {
  /** Of the table of now. */
  readonly key: Uint8Array;
  readonly now: Row | null;
  /** As of the moment; null: there was none. */
  readonly then: Row | null;
}

export type Condition = (differences: readonly Difference[]) => Promise<readonly Difference[]>;

/** Keys of rows that a condition is asked for at once. With no more matches than that, it is asked once for all. */
const MATCHES_MAX = 10_000;

/** Rows are told by their primary keys. */
export async function condition(undoing: Moment, where: string): Promise<Condition> {
  const { table } = undoing;
  if (table.primaryKey === null) {
    const advice = "Leave `where` out, or fork the moment with `as_of` and write what you want.";
    throw new DbError("invalid_request", `"where" needs a table with a primary key. ${advice}`, { field: "where" });
  }
  const columns = table.primaryKey.map((id) => table.columns.find((column) => column.id === id)!);
  const textOf = (row: Row): string => {
    const shown = shownRow(table, row)!;
    return JSON.stringify(columns.map(({ name }) => shown[name]));
  };
  const matches = await matchesOf(undoing, columns, `(${where}\n) LIMIT ${MATCHES_MAX + 1}`);
  const few = matches.size > MATCHES_MAX ? null : matches;
  return async (differences) => {
    const wanted = few ?? (await matchesOf(undoing, columns, `(${where}\n) AND ${isOneOf(columns, differences)}`));
    return differences.filter(({ now, then }) => [now, then].some((row) => row !== null && wanted.has(textOf(row))));
  };
}

/** Primary keys of the rows that satisfy the condition, now or then. */
async function matchesOf(
  { request, stamp, table }: Moment,
  columns: readonly ColumnDef[],
  condition: string,
): Promise<ReadonlySet<string>> {
  const names = columns.map(({ name }) => quotedIdentifier(name)).join(", ");
  const select = `SELECT ${names} FROM ${quotedTable(table)} WHERE ${condition}`;
  const found = new Set<string>();
  for (const sql of [select, `${select} AS OF SEQUENCE ${stamp.sequence}`]) {
    for (const values of await rowsOf(request, { sql, params: [], language: "sql" })) found.add(JSON.stringify(values));
  }
  return found;
}

function isOneOf(columns: readonly ColumnDef[], differences: readonly Difference[]): string {
  const constant = (row: Row, { id, type }: ColumnDef): string => `'${toText(type, row[id]!).replaceAll("'", "''")}'`;
  const keys = differences.map(({ now, then }) => {
    const values = columns.map((column) => constant((now ?? then)!, column));
    return columns.length === 1 ? values[0]! : `(${values.join(", ")})`;
  });
  const names = columns.map(({ name }) => quotedIdentifier(name)).join(", ");
  return `${columns.length === 1 ? names : `(${names})`} IN (${keys.join(", ")})`;
}
