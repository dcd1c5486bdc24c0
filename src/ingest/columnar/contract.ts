/**
 * Rows by columns as they go to and come from task threads, which write and read Arrow and Parquet. The layout of a
 * column is Arrow's: nulls, data, offsets and children. Pure types; the packages for the formats are in the files
 * beside.
 */

import type { FileCipher } from "../../protocol/file-cipher.js";
import type { CsvStyle } from "../../values/csv-format.js";
import type { FilePlace } from "../parse/contract.js";

export type ColumnarKind =
  | "bool"
  | "int16"
  | "int32"
  | "uint32"
  | "int64"
  | "float32"
  | "float64"
  | "decimal"
  | "date"
  | "time"
  | "timestamp"
  | "timestamptz"
  | "text"
  | "json"
  | "binary"
  | "list"
  | "fixedList"
  | "struct";

export interface ColumnarType {
  readonly kind: ColumnarKind;
  /** Of a decimal. */
  readonly precision?: number;
  readonly scale?: number;
  /** Of a list with a fixed number of elements. */
  readonly size?: number;
  /** The element of a list, the fields of a struct. */
  readonly children?: readonly ColumnarField[];
}

export interface ColumnarField {
  readonly name: string;
  readonly type: ColumnarType;
}

/** The data of a column's rows; which parts are there its kind says. */
export interface ColumnarData {
  readonly rows: number;
  /** A byte for each row, 1 where it is NULL; null: none is. */
  readonly nulls: Uint8Array | null;
  /**
   * Numbers: a typed array. bool: a byte for each row. int64, time, timestamps: 8 bytes for each row, decimal 16, both
   * little-endian. text, json, binary: the bytes of all rows, one after the other.
   */
  readonly data?: Uint8Array | Int16Array | Int32Array | Uint32Array | Float32Array | Float64Array;
  /** text, json, binary: bytes before each row and after the last. list: elements. */
  readonly offsets?: Int32Array;
  readonly children?: readonly ColumnarData[];
}

export interface ColumnarBatch {
  readonly rows: number;
  readonly columns: readonly ColumnarData[];
}

/** One part of a stream of Arrow's IPC format. */
export interface ArrowJob {
  readonly fields: readonly ColumnarField[];
  /** Of one record batch; null: the head, which has the schema. */
  readonly batches: readonly ColumnarBatch[] | null;
}

/** What the end of a Parquet file says of a row group: as the package for the format has it. */
export type ParquetGroup = object;

/** A row group of a Parquet file, or its end. */
export interface ParquetJob {
  readonly fields: readonly ColumnarField[];
  /** Bytes of the file so far. */
  readonly offset: number;
  /** Of one row group; null: the end. */
  readonly batches: readonly ColumnarBatch[] | null;
  /** Of the end: those of the whole file, in their order. */
  readonly groups: readonly ParquetGroup[];
}

export interface ParquetPart {
  readonly bytes: Uint8Array;
  /** Null: the end. */
  readonly group: ParquetGroup | null;
}

/** An open file of rows: descriptors hold for all threads of the process. */
export interface RowFile {
  /** Tells it from other files, of which a later one may get the same descriptor. */
  readonly id: string;
  readonly descriptor: number;
  /** Of a temporary file that is encrypted. */
  readonly cipher?: FileCipher;
  readonly bytes: number;
  readonly format: "parquet" | "arrow" | "csv" | "ndjson";
  /** Of a file of text. */
  readonly text?: {
    /** Null: a JSON value on each line. */
    readonly csv: CsvStyle | null;
    /** Those that its columns are given; null: the file's own. */
    readonly names: readonly string[] | null;
    /** What it was found to have. */
    readonly shape: readonly FileColumn[];
  };
}

/** A file in a folder that may be read. */
export interface OpenJob {
  readonly id: string;
  readonly place: FilePlace;
  readonly format: RowFile["format"];
  readonly text?: Omit<NonNullable<RowFile["text"]>, "shape">;
}

/** The receiver closes the descriptor. */
export interface OpenedRows {
  readonly file: RowFile;
  readonly shape: FileShape;
}

export interface FileColumn {
  readonly name: string;
  /** A type of SQL that takes its values. */
  readonly type: string;
}

export interface FileShape {
  readonly columns: readonly FileColumn[];
  /** Null: only reading it all tells. */
  readonly rows: number | null;
}

/** Where the next piece begins. */
export interface RowPlace {
  /** A row group or record batch. */
  readonly part: number;
  /** A row of it. */
  readonly row: number;
}

export interface RowPieceJob {
  readonly file: RowFile;
  /** Names of the columns that are wanted, in their order; null: all. */
  readonly columns: readonly string[] | null;
  readonly from: RowPlace;
  /** No more than so many are wanted. */
  readonly rowsMax: number;
}

/** Rows as lines of JSON, an array each. */
export interface RowPiece {
  readonly lines: Uint8Array;
  readonly rows: number;
  /** Null: it was the last. */
  readonly next: RowPlace | null;
}

/**
 * The work on such files that is done on task threads. Files are read in threads with a bound of memory, until the
 * signal fires: rejects with `invalid_request` for a file that cannot be read, `file_too_large` for one that needs too
 * much memory, and `file_timeout` after a piece's time.
 */
export interface ColumnarTasks {
  arrow(job: ArrowJob): Promise<Uint8Array>;
  parquet(job: ParquetJob): Promise<ParquetPart>;
  describe(file: RowFile, signal: AbortSignal): Promise<FileShape>;
  /** Rejects with the errors of opening, too: `not_found`, `forbidden`, `file_unsupported`. */
  open(job: OpenJob, signal: AbortSignal): Promise<OpenedRows>;
  rows(job: RowPieceJob, signal: AbortSignal): Promise<RowPiece>;
}
