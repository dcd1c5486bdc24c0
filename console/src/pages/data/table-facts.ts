/** A table as the server describes it, and statements that change its rows. */
import { relationOfId } from "../../lib/relation-names.js";
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
  /** Of a view whose rows are kept. */
  readonly isMaterialized?: boolean;
  readonly columns: readonly TableColumn[];
  readonly indexes: readonly TableIndex[];
  readonly constraints: readonly { readonly name: string; readonly type: string; readonly definition: string }[];
}

/** A view's columns and how it is dropped: the server describes tables alone. */
const VIEW = `SELECT c.relkind::text AS kind, a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS data_type
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.oid = $1::regclass
ORDER BY a.attnum`;

export async function loadView(name: string, signal: AbortSignal): Promise<TableFacts> {
  const rows = await client().query<{ kind: string; name: string; data_type: string }>(VIEW, [named(name)], { signal });
  const isPlain = { nullable: true, default_value: null, is_primary_key: false, is_unique: false };
  return {
    name,
    isMaterialized: rows[0]?.kind === "m",
    columns: [...rows].map((row) => ({ name: row.name, data_type: row.data_type, ...isPlain })),
    indexes: [],
    constraints: [],
  };
}

export function loadTable(name: string, signal: AbortSignal): Promise<TableFacts> {
  return client().request<TableFacts>("GET", `/v1/schema/tables/${encodeURIComponent(name)}`, { signal });
}

/** As the list names it: with its schema unless that is public. */
export function named(name: string): string {
  return tableName(relationOfId(name));
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
