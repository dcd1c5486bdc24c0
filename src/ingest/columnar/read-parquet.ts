/** Reads Parquet files as lines of JSON. Runs in task threads, which keep the rows that they have read last. */
import {
  type AsyncBuffer,
  type ColumnMetaData,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type RowGroup,
  type SchemaElement,
  type SchemaTree,
} from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { DbError } from "../../protocol/errors.js";
import type { FileShape, RowFile, RowPiece, RowPieceJob } from "./contract.js";
import { bytesAt, unreadable } from "./file-bytes.js";
import * as json from "./json-values.js";
import { checkPages } from "./parquet-pages.js";
import { Latest, linesOf, type ReadRows } from "./row-lines.js";

interface Column {
  readonly name: string;
  /** Of SQL. */
  readonly type: string;
  readonly write: json.JsonOf;
}

interface ParquetFile {
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: readonly Column[];
}

/** The beginning, the length of what is said at the end, and the end. */
const BYTES_MIN = 12;

const files = new Latest<ParquetFile>();
const ranges = new Latest<ReadRows>();

/** Rows that are decoded together. */
const RANGE_ROWS = 32 * 1024;

/** Throws `invalid_request`. */
export async function describeParquet(file: RowFile): Promise<FileShape> {
  const { columns, metadata } = await opened(file);
  return { columns: columns.map(({ name, type }) => ({ name, type })), rows: Number(metadata.num_rows) };
}

/** Throws `invalid_request`. */
export async function parquetRows({ file, columns: names, from, rowsMax }: RowPieceJob): Promise<RowPiece> {
  const { buffer, metadata, columns } = await opened(file);
  const part = metadata.row_groups[from.part];
  if (part === undefined) return { lines: new Uint8Array(0), rows: 0, next: null };
  const groupRows = Number(part.num_rows);
  const first = from.row - (from.row % RANGE_ROWS);
  const end = Math.min(groupRows, first + RANGE_ROWS);
  const wanted = names === null ? columns : names.map((name) => columns.find((column) => column.name === name)!);
  const read = await ranges.get(`${file.id} ${from.part} ${first} ${JSON.stringify(names)}`, async () => {
    const before = metadata.row_groups.slice(0, from.part).reduce((sum, { num_rows }) => sum + Number(num_rows), 0);
    checkChunks(file, part, wanted);
    const rows = wanted.length === 0 ? [] : await decoded(buffer, metadata, wanted, before + first, before + end);
    return { first, rows: end - first, columns: wanted.map(({ write }, c) => writerOf(rows, c, write)) };
  });
  const nextPart = metadata.row_groups[from.part + 1] === undefined ? null : { part: from.part + 1, row: 0 };
  return linesOf(read, from.row, rowsMax, from.part, end < groupRows ? { part: from.part, row: end } : nextPart);
}

/** Of a file that is open; the pages of a chunk are looked at once. */
const checked = new WeakSet<ColumnMetaData>();

function checkChunks(file: RowFile, { columns }: RowGroup, wanted: readonly Column[]): void {
  const names = new Set(wanted.map(({ name }) => name));
  const read = (from: number, length: number) => bytesAt(file, from, Math.min(length, file.bytes - from));
  for (const { meta_data: chunk } of columns) {
    if (chunk === undefined || !names.has(chunk.path_in_schema[0]!) || checked.has(chunk)) continue;
    try {
      checkPages(chunk, read);
    } catch (error) {
      throw unreadable("Parquet", error);
    }
    checked.add(chunk);
  }
}

function writerOf(rows: readonly unknown[][], column: number, write: json.JsonOf): (row: number) => string {
  return (row) => {
    const value = rows[row]![column];
    return value === null || value === undefined ? "null" : write(value as never);
  };
}

async function decoded(
  file: AsyncBuffer,
  metadata: FileMetaData,
  columns: readonly Column[],
  rowStart: number,
  rowEnd: number,
): Promise<unknown[][]> {
  let rows: unknown[][] = [];
  try {
    await parquetRead({
      file,
      metadata,
      columns: columns.map(({ name }) => name),
      rowStart,
      rowEnd,
      compressors: BOUNDED,
      utf8: false,
      parsers: RAW,
      onComplete: (read: unknown[][]) => {
        rows = read;
      },
    });
  } catch (error) {
    throw unreadable("Parquet", error);
  }
  if (rows.length !== rowEnd - rowStart) {
    const said = `its end says ${rowEnd - rowStart} rows from row ${rowStart} on, but it has ${rows.length} of them`;
    throw unreadable("Parquet", new Error(said));
  }
  return rows;
}

/** Pages have about a megabyte. */
const PAGE_BYTES_MAX = 256 * 1024 * 1024;

/** The packages make room for what a page says that it has. */
const BOUNDED: Compressors = Object.fromEntries(
  Object.entries(compressors).map(([codec, decompress]) => [
    codec,
    (input: Uint8Array, length: number) => {
      if (length < 0 || length > PAGE_BYTES_MAX) throw new Error(`a page has more than ${PAGE_BYTES_MAX} bytes`);
      return decompress(input, length);
    },
  ]),
);

const same = <T>(value: T): T => value;

/** Values as they are stored: the package would make dates of milliseconds of them. */
const RAW = {
  timestampFromMilliseconds: same,
  timestampFromMicroseconds: same,
  timestampFromNanoseconds: same,
  dateFromDays: same,
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString(),
  uuidFromBytes: same,
};

async function opened(file: RowFile): Promise<ParquetFile> {
  return files.get(file.id, async () => {
    const { bytes } = file;
    const buffer: AsyncBuffer = {
      byteLength: bytes,
      slice: (start, end = bytes) => bytesAt(file, start, end - start).buffer as ArrayBuffer,
    };
    if (bytes < BYTES_MIN) throw new DbError("invalid_request", "The file is too short for Parquet.");
    try {
      const metadata = await parquetMetadataAsync(buffer, { geoparquet: false });
      // Columns know what they are before their elements are made plain.
      const { children } = parquetSchema(metadata);
      const columns = children.map(columnOf);
      refuseSameNames(columns);
      checkCounts(metadata, children);
      for (const element of metadata.schema) makePlain(element);
      return { buffer, metadata, columns };
    } catch (error) {
      throw unreadable("Parquet", error);
    }
  });
}

function refuseSameNames(columns: readonly Column[]): void {
  const names = new Set<string>();
  for (const { name } of columns) {
    if (names.has(name)) throw new Error(`it has more than one column named "${name}"; rename one where it is written`);
    names.add(name);
  }
}

/** A column without parts has a value in every row. */
function checkCounts({ row_groups: groups }: FileMetaData, nodes: readonly SchemaTree[]): void {
  const plain = nodes.filter(
    ({ element, children }) => children.length === 0 && element.repetition_type !== "REPEATED",
  );
  const flat = new Set(plain.map(({ element }) => element.name));
  for (const { num_rows: rows, columns } of groups) {
    if (rows < 0n || rows > Number.MAX_SAFE_INTEGER) throw new Error(`it says ${rows} rows for a part of it`);
    for (const { meta_data: column } of columns) {
      const [name, ...within] = column?.path_in_schema ?? [];
      if (name === undefined || within.length > 0 || !flat.has(name) || column!.num_values === rows) continue;
      throw new Error(`it says ${rows} rows, but ${column!.num_values} values of the column "${name}"`);
    }
  }
}

/** Decimals as the package reads them lose digits; intervals and geometries it refuses or changes. */
function makePlain(element: SchemaElement): void {
  const { converted_type: converted, logical_type: logical } = element;
  const isPlain =
    converted === "DECIMAL" ||
    converted === "INTERVAL" ||
    converted === "BSON" ||
    logical?.type === "GEOMETRY" ||
    logical?.type === "GEOGRAPHY";
  if (!isPlain) return;
  delete element.converted_type;
  delete element.logical_type;
}

function columnOf(node: SchemaTree): Column {
  const { name } = node.element;
  if (node.children.length === 0) return { name, ...leafOf(node.element) };
  const element = elementOfList(node);
  const write = writerOfTree(node);
  if (element === null || element.children.length > 0) return { name, type: "jsonb", write };
  return { name, type: `${leafOf(element.element).type}[]`, write };
}

/** Null: it is no list. */
function elementOfList({ element, children }: SchemaTree): SchemaTree | null {
  if (element.converted_type !== "LIST" && element.logical_type?.type !== "LIST") return null;
  const [repeated] = children;
  return repeated?.children.length === 1 ? repeated.children[0]! : (repeated ?? null);
}

/** Of lists, structs and maps. */
function writerOfTree(node: SchemaTree): json.JsonOf {
  const orNull = (write: json.JsonOf) => (value: unknown) =>
    value === null || value === undefined ? "null" : write(value as never);
  if (node.children.length === 0) {
    const write = leafOf(node.element).write;
    if (node.element.repetition_type !== "REPEATED") return write;
    return (values: unknown[]) => `[${values.map(orNull(write)).join()}]`;
  }
  const element = elementOfList(node);
  if (element !== null) {
    const write = orNull(writerOfTree(element));
    return (values: unknown[]) => `[${values.map(write).join()}]`;
  }
  const { converted_type: converted, logical_type: logical } = node.element;
  if (converted === "MAP" || converted === "MAP_KEY_VALUE" || logical?.type === "MAP") {
    const write = orNull(writerOfTree(node.children[0]!.children[1]!));
    return (map: object) => {
      const entries = map instanceof Map ? [...map] : Object.entries(map);
      return `{${entries.map(([key, value]) => `${JSON.stringify(String(key))}:${write(value)}`).join()}}`;
    };
  }
  if (logical?.type === "VARIANT") return (value: unknown) => JSON.stringify(value, bigIntAsText);
  const fields = node.children.map((child) => ({ name: child.element.name, write: orNull(writerOfTree(child)) }));
  return (row: Record<string, unknown>) =>
    `{${fields.map(({ name, write }) => `${JSON.stringify(name)}:${write(row[name])}`).join()}}`;
}

const bigIntAsText = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

type Leaf = Omit<Column, "name">;

function leafOf(element: SchemaElement): Leaf {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (converted === "DECIMAL" || logical?.type === "DECIMAL") return decimalOf(element);
  switch (type) {
    case "BOOLEAN":
      return { type: "boolean", write: String };
    case "INT32":
      return int32Of(element);
    case "INT64":
      return int64Of(element);
    case "INT96":
      return { type: "timestamp", write: (nanos: bigint) => json.jsonTimestamp(nanos, 1e9, false) };
    case "FLOAT":
      return { type: "real", write: json.jsonFloat };
    case "DOUBLE":
      return { type: "double precision", write: json.jsonFloat };
    case "FIXED_LEN_BYTE_ARRAY":
      if (logical?.type === "UUID") return { type: "uuid", write: json.jsonUuid };
      if (logical?.type === "FLOAT16") return { type: "real", write: json.jsonFloat };
      if (converted === "INTERVAL") return { type: "interval", write: intervalOf };
      return { type: "bytea", write: json.jsonBytes };
    default:
      return byteArrayOf(converted, logical?.type);
  }
}

function byteArrayOf(converted: string | undefined, logical: string | undefined): Leaf {
  if (converted === "JSON" || logical === "JSON") return { type: "jsonb", write: documentOf };
  const isText = converted === "UTF8" || converted === "ENUM" || logical === "STRING" || logical === "ENUM";
  return isText ? { type: "text", write: textOf } : { type: "bytea", write: json.jsonBytes };
}

/** The package makes text of the bytes of some kinds and leaves others. */
const plainText = (value: string | Uint8Array) => (typeof value === "string" ? value : Buffer.from(value).toString());
const documentOf = (value: string | Uint8Array) => json.jsonDocument(plainText(value));
const textOf = (value: string | Uint8Array) => JSON.stringify(plainText(value));

function decimalOf({ type, precision, scale = 0 }: SchemaElement): Leaf {
  const write = (value: number | bigint | Uint8Array) =>
    json.jsonDecimal(value instanceof Uint8Array ? json.bigEndian(value) : BigInt(value), scale);
  return { type: precision === undefined || type === undefined ? "numeric" : `numeric(${precision},${scale})`, write };
}

function int32Of({ converted_type: converted, logical_type: logical }: SchemaElement): Leaf {
  if (converted === "DATE" || logical?.type === "DATE") return { type: "date", write: json.jsonDate };
  if (converted === "TIME_MILLIS" || logical?.type === "TIME") {
    return { type: "time", write: (value: number) => json.jsonTime(value, 1e3) };
  }
  const bits = logical?.type === "INTEGER" ? logical.bitWidth : Number(/\d+$/.exec(converted ?? "")?.[0] ?? 32);
  const isSigned = logical?.type === "INTEGER" ? logical.isSigned : !(converted ?? "").startsWith("UINT");
  const needed = isSigned ? bits : bits + 1;
  return { type: needed <= 16 ? "smallint" : needed <= 32 ? "integer" : "bigint", write: json.jsonInteger };
}

const PER_SECOND = { MILLIS: 1e3, MICROS: 1e6, NANOS: 1e9 } as const;

function int64Of({ converted_type: converted, logical_type: logical }: SchemaElement): Leaf {
  if (logical?.type === "TIMESTAMP") {
    const { unit, isAdjustedToUTC } = logical;
    return {
      type: isAdjustedToUTC ? "timestamptz" : "timestamp",
      write: (value: bigint) => json.jsonTimestamp(value, PER_SECOND[unit], isAdjustedToUTC),
    };
  }
  if (converted === "TIMESTAMP_MILLIS" || converted === "TIMESTAMP_MICROS") {
    const perSecond = converted === "TIMESTAMP_MILLIS" ? 1e3 : 1e6;
    return { type: "timestamptz", write: (value: bigint) => json.jsonTimestamp(value, perSecond, true) };
  }
  if (converted === "TIME_MICROS" || logical?.type === "TIME") {
    const perSecond = logical?.type === "TIME" ? PER_SECOND[logical.unit] : 1e6;
    return { type: "time", write: (value: bigint) => json.jsonTime(value, perSecond) };
  }
  const isUnsigned = converted === "UINT_64" || (logical?.type === "INTEGER" && !logical.isSigned);
  return { type: isUnsigned ? "numeric(20,0)" : "bigint", write: json.jsonInteger };
}

/** Months, days and milliseconds. */
function intervalOf(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [months, days, millis] = [0, 4, 8].map((at) => view.getUint32(at, true)) as [number, number, number];
  return `"${months} mons ${days} days ${millis / 1000} secs"`;
}
