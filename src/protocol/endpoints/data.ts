/** Bulk data: files of rows into tables and out of them, as streams. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { Strict } from "./schemas.js";

const character = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1, description }));
const flag = (description: string) => Type.Optional(Type.String({ pattern: "^(true|false)$", description }));
const Name = Type.String({ minLength: 1, maxLength: 63 });

const target = {
  table: Type.String({ minLength: 1, maxLength: 63, description: "Name of the table, as it stands in the catalog." }),
  schema: Type.Optional(Name),
  columns: Type.Optional(
    Type.String({ minLength: 1, description: "Column names with commas between; the others get their defaults." }),
  ),
  encoding: Type.Optional(
    Type.String({ minLength: 1, maxLength: 40, description: "Of the body: utf-8 (the default), latin1, utf-16le, …" }),
  ),
  on_conflict: Type.Optional(
    Type.String({
      pattern: "^(error|ignore|update)$",
      description:
        "What happens to a row whose key is taken: the import fails (the default), or the row is passed over, or it replaces the stored one.",
    }),
  ),
  create: flag(
    "Make the table if it does not exist: columns by the header or the keys, types by the first rows (256 KiB of the file).",
  ),
  conflict_columns: Type.Optional(
    Type.String({ minLength: 1, description: "The unique columns that decide; the primary key when absent." }),
  ),
};

const csv = {
  delimiter: character("Between fields; a comma when absent."),
  quote: character("Around fields; a double quote when absent. Doubled it stands for itself."),
  header: flag("The first line has the column names; true when absent."),
  null: Type.Optional(
    Type.String({ maxLength: 100, description: "The unquoted text that stands for NULL; empty when absent." }),
  ),
};

const ImportResult = Type.Object({
  created: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), type: Type.String() }), {
      description: "The columns of the table, where create=true made it.",
    }),
  ),
  rows: Type.Integer({ description: "Rows that were stored." }),
  rows_skipped: Type.Integer({ description: "Rows that on_conflict=ignore passed over." }),
  bytes: Type.Integer({ description: "Of the body, as it was sent." }),
  execution_time_ms: Type.Number(),
});

const replies = ["application/x-ndjson", "text/event-stream"] as const;

export const dataEndpoints = [
  {
    name: "data.importCsv",
    method: "POST",
    path: "/v1/data/import/csv",
    summary:
      "Stores the rows of a CSV file in a table, all or none. Errors name line, column and value. With Accept: application/x-ndjson or text/event-stream the answer is a stream of progress, whose last object is the result or the error. A body may have Content-Encoding: gzip, or be a .gz file.",
    tag: "data",
    access: "writer",
    home: "tenant",
    slow: true,
    query: Strict({ ...target, ...csv }),
    streamedBody: ["text/csv"],
    streamedReply: replies,
    response: ImportResult,
  },
  {
    name: "data.importNdjson",
    method: "POST",
    path: "/v1/data/import/ndjson",
    summary:
      "Stores rows that are JSON, one a line (an object by column name, or an array in the order of the columns), in a table, all or none; otherwise like the import of CSV.",
    tag: "data",
    access: "writer",
    home: "tenant",
    slow: true,
    query: Strict(target),
    streamedBody: ["application/x-ndjson"],
    streamedReply: replies,
    response: ImportResult,
  },
  {
    name: "data.export",
    method: "GET",
    path: "/v1/data/export",
    summary:
      "A table, or the rows of a query that changes nothing, as a file: CSV (the default) or a JSON object per line. It is sent as fast as the client reads; with gzip=true compressed.",
    tag: "data",
    access: "member",
    home: "tenant",
    slow: true,
    query: Strict({
      table: Type.Optional(target.table),
      schema: target.schema,
      columns: target.columns,
      sql: Type.Optional(Type.String({ minLength: 1, description: "Instead of a table." })),
      format: Type.Optional(Type.String({ pattern: "^(csv|ndjson)$" })),
      ...csv,
      filename: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9._ -]{1,200}$" })),
      gzip: flag("Compress the file."),
      max_rows: Type.Optional(Type.String({ pattern: "^[0-9]{1,15}$", description: "No bound when absent." })),
    }),
    streamedReply: ["text/csv", "application/x-ndjson"],
  },
] as const satisfies readonly EndpointSpec[];
