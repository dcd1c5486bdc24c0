/**
 * Data sets that a tenant has named: a table, collection or query, or rows that were uploaded. Called by the handlers;
 * holds no state.
 */

import { randomUUID } from "node:crypto";
import type { Request } from "../../actor/request.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { AUTOML_DATASET_BYTES_MAX, AUTOML_DATASET_ROWS_MAX, AUTOML_DATASETS_MAX } from "../../protocol/limits.js";
import { rowsOf, timeOf } from "../statements/run-alone.js";
import { ownTogether } from "../statements/run-together.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { CREATE_TABLES, DATASET_ROWS, DATASETS, DATASETS_NAME } from "./tables.js";

/** The source of a data set, as clients write it; each training reads it again. */
export interface NamedSource {
  /** The field that is there. */
  readonly type: "table" | "collection" | "query";
  readonly table?: string;
  readonly collection?: string;
  readonly query?: string;
  /** Of the query. */
  readonly parameters?: readonly unknown[];
  readonly columns?: readonly string[];
}

export interface Dataset {
  readonly id: string;
  readonly name: string;
  /** Null: its rows were uploaded. */
  readonly source: NamedSource | null;
  readonly schema: unknown;
  /** Of uploaded rows. */
  readonly rows: number | null;
  readonly sizeBytes: number | null;
  readonly createdAt: string;
}

type Row = Readonly<Record<string, unknown>>;

const COLUMNS = "id, name, source, schema, row_count, size_bytes, created_at";
/** Uploaded rows in one record, and characters of their JSON, which is read at once. */
const ROWS_PER_RECORD = 500;
const RECORD_LENGTH = 32 * 1024;

export interface NewDataset {
  readonly name: string;
  readonly source?: NamedSource;
  readonly rows?: readonly Row[];
  readonly schema?: unknown;
}

/** Throws conflict, invalid_request and payload_too_large. `commit` commits it with the answer. */
export async function createDataset(
  request: Request,
  { name, source, rows, schema }: NewDataset,
  commit: (tx: Parameters<Request["commitPart"]>[0], dataset: Dataset) => void,
): Promise<Dataset> {
  if ((source === undefined) === (rows === undefined)) {
    throw new DbError("invalid_request", 'Send either "source" or "rows".', { field: "rows" });
  }
  const records = rows === undefined ? [] : await recordsOf(request, rows);
  const dataset: Dataset = {
    id: `ds_${randomUUID()}`,
    name,
    source: source ?? null,
    schema: schema ?? null,
    rows: rows?.length ?? null,
    sizeBytes: rows === undefined ? null : records.reduce((sum, { length }) => sum + length, 0),
    createdAt: new Date().toISOString(),
  };
  await ownTogether(
    request,
    request,
    async (run) => {
      for (const sql of CREATE_TABLES) await run(sql, []);
      const [counted] = (await run(`SELECT count(*) FROM ${DATASETS}`, [])).rows;
      if (Number(counted![0]) >= AUTOML_DATASETS_MAX) {
        throw new DbError(
          "rate_limited",
          `The tenant already has ${AUTOML_DATASETS_MAX} data sets, which is the limit. Delete one.`,
        );
      }
      const same = await run(`SELECT 1 FROM ${DATASETS} WHERE name = $1::text`, [name]);
      if (same.rows.length > 0)
        throw new DbError("conflict", `The data set "${name}" already exists.`, { field: "name" });
      const { id, sizeBytes, createdAt } = dataset;
      await run(
        `INSERT INTO ${DATASETS} VALUES ($1, $2, $3, $4::jsonb, $5::jsonb, $6::int8, $7::int8, $8::timestamptz)`,
        [
          id,
          name,
          request.head.userId,
          source === undefined ? null : JSON.stringify(source),
          schema === undefined ? null : JSON.stringify(schema),
          dataset.rows,
          sizeBytes,
          createdAt,
        ],
      );
      for (const [seq, json] of records.entries()) {
        await run(`INSERT INTO ${DATASET_ROWS} VALUES ($1, $2::int8, $3::jsonb)`, [id, seq, json]);
      }
    },
    (tx) => commit(tx, dataset),
  );
  return dataset;
}

async function recordsOf(request: Request, rows: readonly Row[]): Promise<string[]> {
  if (rows.length > AUTOML_DATASET_ROWS_MAX) {
    const why = `rows: a data set has at most ${AUTOML_DATASET_ROWS_MAX} uploaded rows; put more into a table`;
    throw new DbError("payload_too_large", why, { field: "rows" });
  }
  const records: string[] = [];
  let record: string[] = [];
  let length = 0;
  let bytes = 0;
  const finish = (): void => {
    records.push(`[${record.join(",")}]`);
    record = [];
    length = 0;
  };
  for (const row of rows) {
    const json = JSON.stringify(row);
    bytes += json.length + 1;
    if (bytes > AUTOML_DATASET_BYTES_MAX) {
      const why = `rows: a data set has at most ${AUTOML_DATASET_BYTES_MAX} bytes of uploaded rows; put more into a table`;
      throw new DbError("payload_too_large", why, { field: "rows" });
    }
    length += json.length;
    if (record.push(json) === ROWS_PER_RECORD || length > RECORD_LENGTH) finish();
    if (request.shouldYield()) await request.yieldTurn();
  }
  if (record.length > 0) finish();
  return records;
}

/** A statement that gives a data set's rows, in the order in which they were uploaded. */
export function uploadedRows(id: string): {
  readonly sql: string;
  readonly params: readonly [string];
  readonly expand: string;
} {
  const sql = `SELECT jsonb_array_elements(rows) AS cells FROM ${DATASET_ROWS} WHERE dataset_id = $1::text ORDER BY seq`;
  return { sql, params: [id], expand: "cells" };
}

function hasDatasets(request: Request): boolean {
  return withDefinitions(request, (catalog) => catalog.table(null, DATASETS_NAME)) !== null;
}

/** By id or name. Null: there is none. */
export async function datasetNamed(request: Request, idOrName: string): Promise<Dataset | null> {
  const [row] = hasDatasets(request)
    ? await rowsOf(request, {
        sql: `SELECT ${COLUMNS} FROM ${DATASETS} WHERE id = $1::text OR name = $1::text`,
        params: [idOrName],
      })
    : [];
  return row === undefined ? null : datasetOf(row);
}

/** By id or name. Throws not_found. */
export async function findDataset(request: Request, idOrName: string): Promise<Dataset> {
  const dataset = await datasetNamed(request, idOrName);
  if (dataset === null) throw noDataset(idOrName);
  return dataset;
}

export function noDataset(idOrName: string): DbError {
  return new DbError("not_found", `The data set "${idOrName.slice(0, 100)}" does not exist.`, {
    field: "dataset_id",
    hint: "POST /v1/automl/datasets creates one. Training also takes the name of a table or collection.",
  });
}

/** A page, and how many there are in all. */
export async function listDatasets(
  request: Request,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ datasets: Dataset[]; count: number }> {
  if (!hasDatasets(request)) return { datasets: [], count: 0 };
  // One statement, hence one snapshot. Beyond the end the page is empty, but the count is still given.
  const sql = `SELECT c.n, page.* FROM (SELECT count(*) AS n FROM ${DATASETS}) AS c LEFT JOIN
    (SELECT ${COLUMNS} FROM ${DATASETS} ORDER BY created_at, id LIMIT $1::int8 OFFSET $2::int8) AS page ON true
    ORDER BY page.created_at, page.id`;
  const rows = await rowsOf(request, { sql, params: [limit, offset] });
  const datasets = rows.map(([, ...row]) => row).filter(([id]) => id !== null);
  return { datasets: datasets.map(datasetOf), count: Number(rows[0]![0]) };
}

/** Throws not_found. */
export async function deleteDataset(
  request: Request,
  idOrName: string,
  commit: (tx: Parameters<Request["commitPart"]>[0]) => void,
): Promise<void> {
  const { id } = await findDataset(request, idOrName);
  await ownTogether(
    request,
    request,
    async (run) => {
      await run(`DELETE FROM ${DATASETS} WHERE id = $1::text`, [id]);
      await run(`DELETE FROM ${DATASET_ROWS} WHERE dataset_id = $1::text`, [id]);
    },
    commit,
  );
}

export function datasetView({
  id,
  name,
  source,
  schema,
  rows,
  sizeBytes,
  createdAt,
}: Dataset): ResponseOf<"automl.dataset"> {
  return { id, name, source, schema, row_count: rows, size_bytes: sizeBytes, created_at: createdAt };
}

function datasetOf(row: readonly unknown[]): Dataset {
  const [id, name, source, schema, rows, sizeBytes, createdAt] = row;
  return {
    id: id as string,
    name: name as string,
    source: source as Dataset["source"],
    schema,
    rows: rows === null ? null : Number(rows),
    sizeBytes: sizeBytes === null ? null : Number(sizeBytes),
    createdAt: timeOf(createdAt),
  };
}
