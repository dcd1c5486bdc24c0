/** A table as the server describes it, and statements that change its rows. */
import { client } from "../../lib/session.js";
import { quotedName, tableName } from "../query/sidebar.js";

export interface TableColumn {
  readonly name: string;
  readonly data_type: string;
  readonly nullable: boolean;
  readonly default_value: string | null;
  readonly is_primary_key: boolean;
  readonly is_unique: boolean;
}

interface IndexProgress {
  readonly state: string;
  readonly rows_read: number;
  readonly items: number;
  readonly items_waiting: number;
  readonly size_bytes: number;
}

export interface TableIndex {
  readonly name: string;
  readonly type: string;
  readonly columns: readonly string[];
  readonly is_unique: boolean;
  readonly is_primary: boolean;
  readonly progress?: IndexProgress;
}

export interface TableFacts {
  readonly name: string;
  readonly columns: readonly TableColumn[];
  readonly indexes: readonly TableIndex[];
  readonly constraints: readonly { readonly name: string; readonly type: string; readonly definition: string }[];
}

export function loadTable(name: string, signal: AbortSignal): Promise<TableFacts> {
  return client().request<TableFacts>("GET", `/v1/schema/tables/${encodeURIComponent(name)}`, { signal });
}

/** As the list names it: with its schema unless that is public. */
export function named(name: string): string {
  const dot = name.indexOf(".");
  if (dot < 0) return quotedName(name);
  return tableName({ schema: name.slice(0, dot), name: name.slice(dot + 1) });
}

/** A statement with the values of its parameters. */
export interface Change {
  readonly sql: string;
  readonly values: readonly unknown[];
}

type Cells = readonly (readonly [column: string, value: unknown])[];

function condition(key: Cells, from: number): string {
  return key.map(([name], i) => `${quotedName(name)} = $${from + i}`).join(" AND ");
}

export function updateOf(table: string, column: TableColumn, value: unknown, key: Cells): Change {
  // A cast to a text of a length would cut off what is too long; an assignment refuses it.
  const type = column.data_type.replace(/^(?:character varying|varchar|character|char|bpchar)\(\d+\)/, "text");
  const set = `${quotedName(column.name)} = $1::${type}`;
  return {
    sql: `UPDATE ${named(table)}\nSET ${set}\nWHERE ${condition(key, 2)}`,
    values: [value, ...key.map(([, each]) => each)],
  };
}

export function deletionOf(table: string, key: Cells): Change {
  return { sql: `DELETE FROM ${named(table)}\nWHERE ${condition(key, 1)}`, values: key.map(([, value]) => value) };
}

export function insertionOf(table: string, cells: Cells): Change {
  if (cells.length === 0) return { sql: `INSERT INTO ${named(table)} DEFAULT VALUES`, values: [] };
  const columns = cells.map(([name]) => quotedName(name)).join(", ");
  const places = cells.map((_, i) => `$${i + 1}`).join(", ");
  return {
    sql: `INSERT INTO ${named(table)} (${columns})\nVALUES (${places})`,
    values: cells.map(([, value]) => value),
  };
}

/** It has to be about exactly one row; otherwise nothing is changed. */
export async function applyChange({ sql, values }: Change): Promise<void> {
  await client().tx(async (transaction) => {
    const { rowsAffected = 0 } = await transaction.query(sql, values);
    if (rowsAffected !== 1) {
      throw new Error(`${rowsAffected} rows would change, not one: the row may be gone. Nothing was changed.`);
    }
  });
}
