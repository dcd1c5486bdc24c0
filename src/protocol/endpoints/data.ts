/** Bulk data: files of rows into tables and out of them, as streams. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { boundText, Strict, textOptions } from "./schemas.js";

const character = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1, description }));
const flag = (description: string) => Type.Optional(Type.String({ pattern: "^(true|false)$", description }));
const Name = Type.String({ minLength: 1, maxLength: 63 });

const target = {
  table: Type.String({ minLength: 1, maxLength: 63, description: "Name of the table, as in the catalog." }),
  schema: Type.Optional(Name),
  columns: Type.Optional(
    Type.String({ minLength: 1, description: "Column names separated by commas. Other columns get their defaults." }),
  ),
  encoding: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 40,
      description: "The body's encoding: utf-8 (the default), latin1, utf-16le, …",
    }),
  ),
  on_conflict: Type.Optional(
    Type.String({
      pattern: "^(error|ignore|update)$",
      description:
        "What to do with a row whose key already exists: fail the import (the default), ignore the row, or replace the stored row.",
    }),
  ),
  create: flag(
    "Create the table if it does not exist, with columns from the header or the keys, and types from the first rows (256 KiB of the file).",
  ),
  conflict_columns: Type.Optional(
    Type.String({ minLength: 1, description: "The unique columns that identify a row. Default: the primary key." }),
  ),
};

const { encoding: _encoding, ...columnarTarget } = target;

const csv = {
  delimiter: character("Separator between fields. Default: a comma."),
  quote: character("Quote around fields. Default: a double quote. Write it twice inside a field."),
  header: flag("The first line has the column names. Default: true."),
  null: Type.Optional(
    Type.String({ maxLength: 100, description: "The unquoted text that means NULL. Default: empty." }),
  ),
};

const ImportResult = Type.Object({
  created: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), type: Type.String() }), {
      description: "The columns of the table, if create=true created it.",
    }),
  ),
  rows: Type.Integer({ description: "Number of stored rows." }),
  rows_skipped: Type.Integer({ description: "Number of rows that on_conflict=ignore skipped." }),
  bytes: Type.Integer({ description: "Bytes of the body as sent." }),
  execution_time_ms: Type.Number(),
});

const replies = ["application/x-ndjson", "text/event-stream"] as const;

export const dataEndpoints = [
  {
    name: "data.importCsv",
    door: "statements",
    method: "POST",
    path: "/v1/data/import/csv",
    summary:
      "Import the rows of a CSV file into a table, all or none. Errors name line, column and value. With Accept: application/x-ndjson or text/event-stream the answer is a stream of progress whose last object is the result or the error. The body may have Content-Encoding: gzip, or be a .gz file.",
    tag: "data",
    access: "writer",
    home: "tenant",
    slow: true,
    query: Strict({ ...target, ...csv }),
    streamedBody: ["text/csv"],
    example: { query: { table: "ships", create: "true" }, body: "name,length_m\nAurora,42\nBoreas,57\n" },
    streamedReply: replies,
    response: ImportResult,
  },
  {
    name: "data.importNdjson",
    door: "statements",
    method: "POST",
    path: "/v1/data/import/ndjson",
    summary:
      "Import JSON rows, one per line, into a table, all or none. A row is an object by column name, or an array in column order. Otherwise like the CSV import.",
    tag: "data",
    access: "writer",
    home: "tenant",
    slow: true,
    query: Strict(target),
    streamedBody: ["application/x-ndjson"],
    example: {
      query: { table: "crew", create: "true" },
      body: '{"name":"Ann","ship":"Aurora"}\n{"name":"Ben","ship":"Boreas"}\n',
    },
    streamedReply: replies,
    response: ImportResult,
  },
  {
    name: "data.importParquet",
    door: "statements",
    method: "POST",
    path: "/v1/data/import/parquet",
    summary:
      "Import the rows of a Parquet file into a table, all or none. The file names the columns and their types; `columns` renames them. The line that an error names is the number of the row. Otherwise like the CSV import.",
    tag: "data",
    access: "writer",
    home: "tenant",
    slow: true,
    query: Strict(columnarTarget),
    streamedBody: ["application/vnd.apache.parquet"],
    streamedReply: replies,
    response: ImportResult,
  },
  {
    name: "data.importArrow",
    door: "statements",
    method: "POST",
    path: "/v1/data/import/arrow",
    summary: "Import the rows of a stream or file of Arrow's IPC format. Otherwise like the import of Parquet.",
    tag: "data",
    access: "writer",
    home: "tenant",
    slow: true,
    query: Strict(columnarTarget),
    streamedBody: ["application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file"],
    streamedReply: replies,
    response: ImportResult,
  },
  {
    name: "data.export",
    door: "statements",
    method: "GET",
    path: "/v1/data/export",
    summary:
      "Export a table, or the rows of a query that changes nothing, as a file: CSV (the default), one JSON object per line, Parquet, or a stream of Arrow's IPC format. It is streamed as fast as the client reads. gzip=true compresses CSV and JSON.",
    tag: "data",
    access: "member",
    home: "tenant",
    slow: true,
    query: Strict({
      table: Type.Optional(target.table),
      schema: target.schema,
      columns: target.columns,
      sql: Type.Optional(Type.String({ minLength: 1, description: "Instead of a table." })),
      ...boundText,
      ...textOptions,
      format: Type.Optional(Type.String({ pattern: "^(csv|ndjson|parquet|arrow)$" })),
      ...csv,
      filename: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9._ -]{1,200}$" })),
      gzip: flag("Compress the file."),
      max_rows: Type.Optional(Type.String({ pattern: "^[0-9]{1,15}$", description: "Default: no limit." })),
    }),
    streamedReply: [
      "text/csv",
      "application/x-ndjson",
      "application/vnd.apache.parquet",
      "application/vnd.apache.arrow.stream",
    ],
  },
] as const satisfies readonly EndpointSpec[];
