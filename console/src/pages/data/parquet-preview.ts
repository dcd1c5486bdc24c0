/** The first rows of a Parquet file, and its columns as the server will name their types. */
import {
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from "hyparquet";
import type { Preview } from "./import-preview.js";

/** The rows of a larger part are left to the server: a column of it is read whole. */
const PART_BYTES_MAX = 64 * 1024 * 1024;
/** What the package reads by itself. Packages for other codecs need WebAssembly, which the page's policy forbids. */
const CODECS = new Set(["UNCOMPRESSED", "SNAPPY"]);

/** Throws for what is no Parquet file. Without rows where this page cannot read them. */
export async function parquetPreview(file: File, rowsMax: number): Promise<Preview> {
  const buffer = {
    byteLength: file.size,
    slice: (start: number, end?: number) => file.slice(start, end).arrayBuffer(),
  };
  const metadata = await parquetMetadataAsync(buffer);
  const columns = parquetSchema(metadata).children.map((column) => ({
    name: column.element.name,
    data_type: typeOf(column),
  }));
  const first = metadata.row_groups[0];
  const isReadable =
    first !== undefined &&
    Number(first.total_byte_size) <= PART_BYTES_MAX &&
    first.columns.every(({ meta_data: chunk }) => chunk !== undefined && CODECS.has(chunk.codec));
  if (!isReadable) return { columns, rows: [] };
  const rowEnd = Math.min(rowsMax, Number(first.num_rows));
  const objects = await parquetReadObjects({ file: buffer, metadata, rowStart: 0, rowEnd });
  return { columns, rows: objects.map((row) => columns.map(({ name }) => shown(row[name]))) };
}

function shown(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value !== "object" || value === null) return value;
  return JSON.parse(JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? String(part) : part)));
}

const NAMES: Readonly<Record<string, string>> = {
  ...{ BOOLEAN: "boolean", INT32: "integer", INT64: "bigint", INT96: "timestamp", FLOAT: "real" },
  ...{ DOUBLE: "double precision", BYTE_ARRAY: "bytea", FIXED_LEN_BYTE_ARRAY: "bytea" },
  ...{ DECIMAL: "numeric", DATE: "date", UTF8: "text", STRING: "text", ENUM: "text", JSON: "jsonb", UUID: "uuid" },
  ...{ TIME: "time", TIME_MILLIS: "time", TIME_MICROS: "time", FLOAT16: "real", INTERVAL: "interval" },
  ...{ TIMESTAMP_MILLIS: "timestamptz", TIMESTAMP_MICROS: "timestamptz" },
};

function typeOf({ element, children }: SchemaTree): string {
  if (children.length > 0 || element.repetition_type === "REPEATED") return "jsonb";
  return leafType(element);
}

function leafType({ type, converted_type: converted, logical_type: logical }: SchemaElement): string {
  if (logical?.type === "TIMESTAMP") return logical.isAdjustedToUTC ? "timestamptz" : "timestamp";
  return NAMES[logical?.type ?? ""] ?? NAMES[converted ?? ""] ?? NAMES[type ?? ""] ?? "";
}
