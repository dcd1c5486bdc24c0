/**
 * LOAD CSV of Cypher: rows of a file of the server as lists of strings, or as maps by the header, as read_csv reads
 * it. The parser makes it a call of the procedure `load.csv`.
 */
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CALLER, type Request } from "../../actor/request.js";
import { type Procedure, tableProcedure } from "../../cypher/bind/procedure.js";
import { ANY, BOOLEAN, INTEGER, STRING } from "../../cypher/bind/static-type.js";
import { rootsOf } from "../../ingest/watch/folder-roots.js";
import { DbError } from "../../protocol/errors.js";
import { need } from "../../query/expr/capability.js";
import type { TableRows } from "../../query/expr/table-function.js";
import { recordOf, TEXT, VARIANT, type Value } from "../../values/values.js";
import { FileRows, OpenedFile } from "./read-functions.js";

/** The file that an address means: `file:///a.csv` is in the first folder that is allowed, unless one contains it. */
function pathOf(address: Value, { partition, head }: Request): string {
  if (typeof address !== "string") throw new DbError("invalid_request", "LOAD CSV takes the address of a file.");
  if (/^[a-z][a-z0-9+.-]+:/i.test(address) && !/^file:/i.test(address)) {
    const message = `LOAD CSV reads files of the server only, not ${address.slice(0, 100)}.`;
    const hint = "Copy the file into a folder that the setting roots of [files] allows, and name it file:///name.csv.";
    throw new DbError("forbidden", message, { hint });
  }
  let path = address;
  try {
    if (/^file:/i.test(address)) path = fileURLToPath(address);
  } catch {
    throw new DbError("invalid_request", `LOAD CSV cannot read the address ${address.slice(0, 100)}.`);
  }
  const roots = rootsOf(partition.config.files.roots, head.tenantId);
  const [first] = roots;
  if (first === undefined || (isAbsolute(path) && roots.some((root) => path.startsWith(join(root, "/"))))) return path;
  return join(first, path);
}

/** A row takes one more line for each line break within its fields. */
function linesOf(fields: readonly Value[]): number {
  let lines = 1;
  for (const field of fields) {
    if (typeof field === "string" && field.includes("\n")) lines += field.split("\n").length - 1;
  }
  return lines;
}

const OUTPUTS = [
  { name: "row", type: ANY },
  { name: "linenumber", type: INTEGER },
  { name: "file", type: STRING },
];

class LoadedRows implements TableRows {
  private rows: FileRows | null = null;
  private names: readonly string[] = [];
  private path = "";
  /** At which the next row begins. */
  private line = 1;
  private cells: Value[][] = [];

  constructor(
    private readonly request: Request,
    private readonly args: readonly Value[],
  ) {}

  async next(out: readonly Value[][], at: number, max: number): Promise<number> {
    const rows = this.rows ?? (await this.open());
    const count = await rows.next(this.cells, 0, max);
    const hasHeader = this.args[1] === true;
    for (let i = 0; i < count; i++) {
      const fields = this.cells.map((column) => column[i]!);
      const row = hasHeader ? new Map(this.names.map((name, c) => [name, fields[c]!])) : fields;
      out[0]![at + i] = row as unknown as Value;
      out[1]![at + i] = this.line;
      out[2]![at + i] = this.path;
      this.line += linesOf(fields);
    }
    return count;
  }

  private async open(): Promise<FileRows> {
    const { request, args } = this;
    const [address = null, header = null, delimiter = null] = args;
    this.path = pathOf(address, request);
    const values: Value[] = [this.path, header === true, delimiter ?? ","];
    const file = await OpenedFile.open(request, "csv", values);
    await file.close();
    this.names = file.shape.columns.map(({ name }) => name);
    this.cells = this.names.map(() => []);
    if (header === true) this.line += linesOf(this.names);
    const fields = this.names.map((name) => ({ name, type: TEXT }));
    this.rows = new FileRows(request, "csv", values, fields);
    return this.rows;
  }

  close(): void {
    this.rows?.close();
  }
}

export const LOAD_CSV: Procedure = tableProcedure(
  {
    name: "load.csv",
    description:
      "Reads a file of CSV, as LOAD CSV does: each row is a list of strings, or a map by the header. With the line that it begins at, and the file.",
    inputs: [
      { name: "url", type: STRING, optional: false },
      { name: "withHeaders", type: BOOLEAN, optional: false },
      { name: "fieldTerminator", type: STRING, optional: false },
    ],
    outputs: OUTPUTS,
  },
  {
    name: "load_csv",
    args: [VARIANT, VARIANT, VARIANT],
    returns: recordOf(OUTPUTS.map(({ name }) => ({ name, type: VARIANT }))),
    strict: true,
    open: (context, args) => new LoadedRows(need(context, CALLER), args),
  },
);
