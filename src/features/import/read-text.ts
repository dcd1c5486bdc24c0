/**
 * Files of CSV and of JSON lines, read in task threads for read_csv and read_json: a piece of the file at a time, from
 * the byte where the last one ended. What it gives is what ingest/columnar gives of other formats.
 */
import { isUtf8 } from "node:buffer";
import { readSync } from "node:fs";
import type { FileShape, RowFile, RowPiece, RowPieceJob } from "../../ingest/columnar/contract.js";
import { DbError } from "../../protocol/errors.js";
import { cryptAt } from "../../protocol/file-cipher.js";
import { IMPORT_ROW_BYTES_MAX } from "../../protocol/limits.js";
import { CsvReader, FIELD_PLAIN } from "../../values/csv-reader.js";
import { jsonToCompactText } from "../../values/json-text.js";
import { LineReader } from "../../values/line-reader.js";
import { columnsOfCsv, columnsOfJson } from "./infer-columns.js";
import { jsonLine, refuseArrayOfRows } from "./json-line.js";

/** Bytes that say what the columns are. */
const SAMPLE_BYTES = 256 * 1024;
/** Bytes of the file that are read at once, and characters of a piece of rows. */
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);
const CHUNK_BYTES = 64 * 1024;
const PIECE_CHARACTERS = 32 * 1024;

/** Throws `invalid_request` and the errors of the file's text. */
export function describeText(file: RowFile): FileShape {
  const start = markBytes(file);
  const sample = chunkAt(file, start, SAMPLE_BYTES);
  const isWhole = start + sample.length >= file.bytes;
  const { csv, names } = file.text!;
  if (sample[0] === 0x1f && sample[1] === 0x8b) {
    throw new DbError("invalid_request", "The file is compressed by gzip, which can only be imported.");
  }
  const columns = csv === null ? columnsOfJson(sample, isWhole, null) : columnsOfCsv(sample, isWhole, csv, names);
  return { columns, rows: null };
}

/** `from.row` is a place in the file. */
export function textRows({ file, columns, from, rowsMax }: RowPieceJob): RowPiece {
  const { csv, shape } = file.text!;
  const wanted = columns ?? shape.map(({ name }) => name);
  const start = from.row === 0 ? markBytes(file) : from.row;
  for (let size = CHUNK_BYTES; ; size *= 2) {
    const bytes = chunkAt(file, start, size);
    const isEnd = start + bytes.length >= file.bytes;
    const reader = csv === null ? new JsonLines(wanted) : new CsvLines(csv, shape, wanted);
    const isHeader = csv?.header === true && from.row === 0;
    const read = reader.read(bytes, isEnd, isHeader, rowsMax);
    if (!isUtf8(bytes.subarray(0, read.position))) {
      throw new DbError("invalid_request", `The file is not UTF-8, at or after its byte ${start + 1}.`);
    }
    if (read.position === 0 && !isEnd) {
      if (size < IMPORT_ROW_BYTES_MAX) continue;
      throw new DbError("invalid_request", `A row is longer than ${IMPORT_ROW_BYTES_MAX} bytes.`);
    }
    const at = start + read.position;
    const isDone = isEnd && read.isExhausted;
    return {
      lines: new Uint8Array(Buffer.from(read.text)),
      rows: read.rows,
      next: isDone ? null : { part: 0, row: at },
    };
  }
}

interface Read {
  readonly text: string;
  readonly rows: number;
  /** Bytes that were read. */
  readonly position: number;
  /** No whole row is left in the bytes. */
  readonly isExhausted: boolean;
}

class CsvLines {
  private readonly reader: CsvReader;
  private readonly places: readonly number[];

  constructor(
    private readonly style: NonNullable<NonNullable<RowFile["text"]>["csv"]>,
    private readonly shape: FileShape["columns"],
    wanted: readonly string[],
  ) {
    this.reader = new CsvReader(style.delimiter, style.quote, IMPORT_ROW_BYTES_MAX);
    this.places = wanted.map((name) => shape.findIndex((column) => column.name === name));
  }

  read(bytes: Uint8Array, isEnd: boolean, isHeader: boolean, rowsMax: number): Read {
    const { reader, shape } = this;
    reader.push(bytes);
    let text = "";
    let rows = 0;
    let position = 0;
    if (isHeader && reader.next(isEnd)) position = reader.pieces.position;
    while (rows < rowsMax && text.length < PIECE_CHARACTERS) {
      if (!reader.next(isEnd)) return { text, rows, position: isEnd ? bytes.length : position, isExhausted: true };
      position = reader.pieces.position;
      const { count } = reader;
      const isBlank = count === 1 && reader.kinds[0] === FIELD_PLAIN && reader.starts[0] === reader.ends[0];
      if (isBlank && shape.length > 1) continue;
      if (count !== shape.length) throw this.countError(count);
      text += `[${this.places.map((place) => this.field(place)).join()}]\n`;
      rows++;
    }
    return { text, rows, position, isExhausted: false };
  }

  private field(place: number): string {
    const { reader, style } = this;
    const text = reader.text(place);
    return text === style.nullText && reader.kinds[place] === FIELD_PLAIN ? "null" : JSON.stringify(text);
  }

  private countError(count: number): DbError {
    const row = Array.from({ length: Math.min(count, 3) }, (_, i) => this.reader.text(i).slice(0, 40)).join();
    const message = `A row has ${count} fields, but the file has ${this.shape.length} columns: ${row}…`;
    return new DbError("invalid_request", message);
  }
}

class JsonLines {
  private readonly reader = new LineReader(IMPORT_ROW_BYTES_MAX);

  constructor(private readonly wanted: readonly string[]) {}

  read(bytes: Uint8Array, isEnd: boolean, _isHeader: boolean, rowsMax: number): Read {
    const { reader, wanted } = this;
    reader.push(bytes);
    let text = "";
    let rows = 0;
    let position = 0;
    while (rows < rowsMax && text.length < PIECE_CHARACTERS) {
      if (!reader.next(isEnd)) return { text, rows, position: isEnd ? bytes.length : position, isExhausted: true };
      position = reader.pieces.position;
      const row = jsonLine(reader.text, reader.line);
      refuseArrayOfRows(row, reader.line);
      const fields = Array.isArray(row)
        ? wanted.map((name) => row[Number(name.slice(6)) - 1] ?? null)
        : wanted.map((name) => row[name] ?? null);
      text += `${jsonToCompactText(fields)}\n`;
      rows++;
    }
    return { text, rows, position, isExhausted: false };
  }
}

/** Of the byte order mark that some programs write; 0: the file has none. */
function markBytes(file: RowFile): number {
  return chunkAt(file, 0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
}

function chunkAt({ descriptor, cipher }: RowFile, from: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  while (at < size) {
    const read = readSync(descriptor, bytes, at, size - at, from + at);
    if (read === 0) break;
    at += read;
  }
  const there = bytes.subarray(0, at);
  return cipher === undefined ? there : cryptAt(cipher, there, from);
}
