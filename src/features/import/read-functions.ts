/**
 * read_csv, read_json and read_parquet in FROM: rows of a file of the server, under the folders that the operator
 * allows for filesystem collections. Task threads read it piece by piece, as rows are pulled, and only columns that are
 * wanted.
 */
import { randomUUID } from "node:crypto";
import { close } from "node:fs";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { CALLER, callerOf, type Request } from "../../actor/request.js";
import type { ColumnarTasks, FileShape, RowFile, RowPlace } from "../../ingest/columnar/contract.js";
import { allowedFolder } from "../../ingest/watch/folder-roots.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { need } from "../../query/expr/capability.js";
import type { TableFunction, TableRows } from "../../query/expr/table-function.js";
import type { CsvStyle } from "../../values/csv-format.js";
import { fromParameter } from "../../values/json-format.js";
import { parseKeepingIntegers } from "../../values/json-text.js";
import { BOOL, RECORD, type RecordField, recordOf, type SqlType, TEXT, type Value } from "../../values/values.js";
import { requireFolderAdmin } from "../files/make-folder.js";
import { sqlTypeOf } from "./file-types.js";

type Kind = "csv" | "json" | "parquet";

const CSV_ARGUMENTS = [TEXT, BOOL, TEXT, TEXT, TEXT, TEXT];

export const READ_FUNCTIONS: readonly TableFunction[] = [
  ...CSV_ARGUMENTS.map((_type, i) => reading("csv", CSV_ARGUMENTS.slice(0, i + 1))),
  reading("json", [TEXT]),
  reading("parquet", [TEXT]),
];

function reading(kind: Kind, args: readonly SqlType[]): TableFunction {
  const fn: TableFunction = {
    name: `read_${kind}`,
    args,
    returns: RECORD,
    strict: true,
    readsColumns: true,
    async shapeOf(client: object, values: readonly Value[]): Promise<SqlType> {
      const request = callerOf(client as Request);
      if (request === null) throw new DbError("not_supported", CALLER.missing);
      const file = await OpenedFile.open(request, kind, values);
      await file.close();
      return recordOf(file.shape.columns.map(({ name, type }) => ({ name, type: sqlTypeOf(type) })));
    },
    open: (context, values, shape) => new FileRows(need(context, CALLER), kind, values, shape.fields!),
  };
  return Object.freeze(fn);
}

const closeDescriptor = promisify(close);

export class OpenedFile {
  private constructor(
    readonly tasks: ColumnarTasks,
    readonly file: RowFile,
    readonly shape: FileShape,
  ) {}

  /** Throws `forbidden` for a file that may not be read, and what is wrong with it otherwise. */
  static async open(request: Request, kind: Kind, values: readonly Value[]): Promise<OpenedFile> {
    if (request.ofAgent) throw new DbError("forbidden", "Agents and recipes cannot read files of the server.");
    requireFolderAdmin(request, "read files of the server");
    const tasks = request.partition.tasks?.columnar;
    if (tasks === undefined) throw new DbError("not_supported", "This process has no threads for reading files.");
    const path = values[0] as string;
    const { roots } = request.partition.config.files;
    const folder = await allowedFolder(roots, request.head.tenantId, dirname(path), "path");
    const place = { path: `${folder.path}/${basename(path)}`, root: folder.within, bytesMax: Number.MAX_SAFE_INTEGER };
    const text = kind === "parquet" ? undefined : textOf(kind, values);
    const format = kind === "json" ? "ndjson" : kind;
    const job = { id: randomUUID(), place, format, ...(text !== undefined && { text }) } as const;
    const opened = await tasks.open(job, request.signal());
    return new OpenedFile(tasks, opened.file, opened.shape);
  }

  close(): Promise<void> {
    return closeDescriptor(this.file.descriptor);
  }
}

function textOf(kind: Kind, values: readonly Value[]): Omit<NonNullable<RowFile["text"]>, "shape"> {
  if (kind === "json") return { csv: null, names: null };
  const [, header = true, delimiter = ",", quote = '"', nullText = "", names = ""] = values as [
    string,
    boolean?,
    string?,
    string?,
    string?,
    string?,
  ];
  for (const [name, value] of [["delimiter", delimiter] as const, ["quote", quote] as const]) {
    const isOne = value.length === 1 && value.charCodeAt(0) <= 127 && value !== "\n" && value !== "\r";
    if (!isOne) throw sqlError("22023", `the ${name} of read_csv must be one ASCII character`);
  }
  if (delimiter === quote) throw sqlError("22023", "the delimiter and the quote of read_csv must differ");
  const csv: CsvStyle = { header, delimiter, quote, nullText };
  return { csv, names: names === "" ? null : names.split(",").map((name) => name.trim()) };
}

/** Rows of the first piece: a LIMIT often wants no more. */
const FIRST_ROWS = 64;

export class FileRows implements TableRows {
  private opened: OpenedFile | null = null;
  private from: RowPlace | null = { part: 0, row: 0 };
  private lines: readonly string[] = [];
  private taken = 0;
  private rows = 0;
  private isClosed = false;

  constructor(
    private readonly request: Request,
    private readonly kind: Kind,
    private readonly values: readonly Value[],
    private readonly fields: readonly RecordField[],
  ) {}

  async next(out: readonly Value[][], at: number, max: number): Promise<number> {
    while (this.taken === this.lines.length) {
      if (this.from === null) return 0;
      await this.read(this.from);
    }
    const { fields, lines, request } = this;
    const count = Math.min(max, lines.length - this.taken);
    for (let i = 0; i < count; i++) {
      const row = parseKeepingIntegers(lines[this.taken++]!) as unknown[];
      this.rows++;
      for (let c = 0; c < fields.length; c++) out[c]![at + i] = this.valueOf(fields[c]!, row[c]);
      if (i % 16 === 15 && request.shouldYield()) return i + 1;
    }
    return count;
  }

  private valueOf({ name, type }: RecordField, json: unknown): Value {
    try {
      const isJson = type.name === "jsonb" || type.name === "json";
      return fromParameter(type, isJson && typeof json === "string" ? JSON.stringify(json) : json);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      const { code, message, details } = error;
      const hint = `Name the columns with types that fit: read_${this.kind}(…) AS t(${name} text, …).`;
      throw new DbError(code, `${message} in column "${name}" of row ${this.rows} of the file`, {
        ...details,
        column: name,
        hint,
      });
    }
  }

  private async read(from: RowPlace): Promise<void> {
    const { request, kind, values, fields } = this;
    this.opened ??= await this.open(request, kind, values);
    const { tasks, file } = this.opened;
    const isFirst = this.rows === 0;
    const rowsMax = isFirst ? FIRST_ROWS : Number.MAX_SAFE_INTEGER;
    const columns = fields.map(({ name }) => name);
    const piece = await tasks.rows({ file, columns, from, rowsMax }, request.signal());
    const text = Buffer.from(piece.lines.buffer, piece.lines.byteOffset, piece.lines.byteLength).toString();
    this.lines = text === "" ? [] : text.slice(0, -1).split("\n");
    this.taken = 0;
    this.from = piece.next;
    request.checkpoint();
    await request.yieldTurn();
    if (this.isClosed) await this.release();
  }

  /** The file may have changed since the statement was planned, or the call has named its columns. */
  private async open(request: Request, kind: Kind, values: readonly Value[]): Promise<OpenedFile> {
    const opened = await OpenedFile.open(request, kind, values);
    const found = opened.shape.columns.map(({ name }) => name);
    const missing = this.fields.find(({ name }) => !found.includes(name));
    if (missing === undefined) return opened;
    await opened.close();
    throw sqlError("42703", `the file has no column "${missing.name}"`, { hint: `It has ${found.join(", ")}.` });
  }

  close(): void {
    this.isClosed = true;
    void this.release();
  }

  private async release(): Promise<void> {
    const { opened } = this;
    this.opened = null;
    this.from = null;
    await opened?.close();
  }
}
