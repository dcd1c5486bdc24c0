/**
 * `tessera import` and `tessera export`: files of rows into a running server's tables and out of them. Exit codes:
 * api-client.ts.
 */
import { createWriteStream, existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Command } from "commander";
import { CommandError, EXIT } from "./api-client.js";
import { addClientCommand, type ClientOptions, connect, type Told } from "./client-command.js";
import { makeCollection } from "./collection-of-file.js";

interface ImportOptions extends ClientOptions {
  readonly table?: string;
  readonly schema?: string;
  readonly columns?: string;
  readonly format?: string;
  readonly delimiter?: string;
  readonly encoding?: string;
  readonly onConflict?: string;
  readonly embed?: string;
  readonly create: boolean;
  readonly header: boolean;
}

interface ExportOptions extends ClientOptions {
  readonly sql?: string;
  readonly format?: string;
  readonly output?: string;
  readonly maxRows?: string;
}

export function addDataCommands(program: Command): void {
  addClientCommand<ImportOptions>(
    program,
    "import <file>",
    "load a CSV, JSON lines, Parquet or Arrow file into a table: all or nothing",
    (options, [file]) => importFile(file!, options),
  )
    .option("--table <table>", "the table (default: the file's name)")
    .option("--schema <schema>", "of the table")
    .option("--format <format>", "csv, ndjson, parquet or arrow (default: what the file's name says)")
    .option("--columns <names>", "column names separated by commas; others get their defaults")
    .option("--delimiter <character>", "between fields of CSV", ",")
    .option("--encoding <name>", "of the file: utf-8, latin1, utf-16le …")
    .option("--on-conflict <what>", "with rows whose key exists: error, ignore, update")
    .option(
      "--embed <fields>",
      "make a collection, whose documents are found by words and by the meaning of these fields",
    )
    .option("--no-create", "the table has to be there")
    .option("--no-header", "the first line of CSV is a row")
    .addHelpText(
      "after",
      `
Examples:
  tessera import orders.csv                            into the table orders, which is made if it is not there
  tessera import events.parquet                        columns and types are those of the file
  tessera import letters.csv --embed subject,body      into the collection letters, for search and chat
  tessera import --table orders --on-conflict update new-orders.csv.gz
  gzip -dc events.ndjson.gz | tessera import --table events --format ndjson -`,
    );
  addClientCommand<ExportOptions>(
    program,
    "export [table]",
    "write a table, or the rows of a query, as CSV, JSON lines, Parquet or Arrow",
    (options, [table]) => exportRows(table, options),
  )
    .option("--sql <query>", "instead of a table")
    .option("--format <format>", "csv, ndjson, parquet or arrow (default: what the output's name says, else csv)")
    .option(
      "-o, --output <file>",
      "the file, which must not be there (default: standard output); compressed when it ends in .gz",
    )
    .option("--max-rows <rows>", "at most so many")
    .addHelpText(
      "after",
      `
Examples:
  tessera export orders -o orders.csv.gz
  tessera export orders -o orders.parquet
  tessera export --sql "SELECT * FROM orders WHERE total > 100" --format ndjson`,
    );
}

const FORMATS: readonly string[] = ["csv", "ndjson", "parquet", "arrow"];

/** Formats by how names of files end. */
const ENDINGS: Readonly<Record<string, string>> = {
  csv: "csv",
  tsv: "csv",
  ndjson: "ndjson",
  jsonl: "ndjson",
  parquet: "parquet",
  arrow: "arrow",
  arrows: "arrow",
};

function partsOf(name: string): { readonly stem?: string; readonly ending?: string } {
  const [, stem, ending] = new RegExp(`^(.+?)\\.(${Object.keys(ENDINGS).join("|")})(?:\\.gz)?$`, "i").exec(name) ?? [];
  return stem === undefined ? {} : { stem, ending: ending!.toLowerCase() };
}

function formatOf(ending: string | undefined): string | undefined {
  return ending === undefined ? undefined : ENDINGS[ending];
}

async function importFile(file: string, options: ImportOptions): Promise<Told> {
  const isInput = file === "-";
  if (!isInput && !existsSync(file)) throw new CommandError(EXIT.usage, "no_such_file", `${file} does not exist`);
  const { stem, ending } = partsOf(basename(file));
  const table = options.table ?? stem;
  const format = options.format ?? formatOf(ending);
  if (table === undefined) throw new CommandError(EXIT.usage, "usage", "name the table: --table");
  if (format === undefined || !FORMATS.includes(format)) {
    throw new CommandError(EXIT.usage, "usage", `say what the file is: --format ${FORMATS.join(", ")}`);
  }
  if ((format === "parquet" || format === "arrow") && options.encoding !== undefined) {
    throw new CommandError(EXIT.usage, "usage", `--encoding is of text, and a file of ${format} is none`);
  }
  const { schema, columns, encoding, onConflict, header, embed } = options;
  const delimiter = ending === "tsv" ? "\t" : options.delimiter!;
  const create = options.create && embed === undefined;
  if (embed !== undefined) checkEmbed(isInput, format, options);
  const query = new URLSearchParams({
    table,
    create: String(create),
    ...(schema !== undefined && { schema }),
    ...(columns !== undefined && { columns }),
    ...(encoding !== undefined && { encoding }),
    ...(onConflict !== undefined && { on_conflict: onConflict }),
    ...(format === "csv" && { header: String(header), delimiter }),
  });
  const client = await connect(options);
  const isNew = embed !== undefined && (await makeCollection(client, table, file, { format, delimiter, embed }));
  const answer = await client.upload(`/v1/data/import/${format}?${query}`, isInput ? process.stdin : file, {});
  const { rows, rows_skipped: skipped, created, execution_time_ms: ms } = answer;
  const made = created === undefined ? [] : [`The table ${table} was made: ${created.map(columnOf).join(", ")}`];
  if (isNew) made.push(`The collection ${table} was made`);
  const left = skipped > 0 ? `, ${skipped} skipped` : "";
  return { data: answer, lines: [...made, `${rows} rows into ${table}${left} (${(ms / 1000).toFixed(1)} s)`] };
}

function checkEmbed(isInput: boolean, format: string, { encoding, header, schema }: ImportOptions): void {
  const isFit = !isInput && header && schema === undefined && (encoding ?? "utf-8") === "utf-8";
  if (isFit && (format === "csv" || format === "ndjson")) return;
  const message = "--embed takes a file of CSV with a header, or of JSON lines, in UTF-8";
  throw new CommandError(EXIT.usage, "usage", message);
}

const columnOf = ({ name, type }: { readonly name: string; readonly type: string }): string => `${name} ${type}`;

async function exportRows(table: string | undefined, options: ExportOptions): Promise<Told> {
  const { sql, output, maxRows } = options;
  const format =
    options.format ?? formatOf(output === undefined ? undefined : partsOf(basename(output)).ending) ?? "csv";
  if ((table === undefined) === (sql === undefined)) {
    throw new CommandError(EXIT.usage, "usage", "give a table, or a query with --sql");
  }
  if (output !== undefined && existsSync(output)) {
    throw new CommandError(EXIT.usage, "file_exists", `${output} exists already`);
  }
  const [schema, name] = table?.includes(".") ? table.split(".", 2) : [undefined, table];
  const query = new URLSearchParams({
    format,
    ...(name !== undefined && { table: name }),
    ...(schema !== undefined && { schema }),
    ...(sql !== undefined && { sql }),
    ...(maxRows !== undefined && { max_rows: maxRows }),
  });
  const client = await connect(options);
  // biome-ignore lint/suspicious/noExplicitAny: the two declarations of a stream differ
  const rows = Readable.fromWeb((await client.stream("GET", `/v1/data/export?${query}`)) as any);
  if (output === undefined) {
    await pipeline(rows, process.stdout, { end: false });
    return { data: null, lines: [], isSilent: true };
  }
  const file = createWriteStream(output, { flags: "wx", mode: 0o600 });
  try {
    await (output.endsWith(".gz") ? pipeline(rows, createGzip(), file) : pipeline(rows, file));
  } catch (error) {
    await rm(output, { force: true });
    throw new CommandError(EXIT.failed, "export_failed", `the export broke off: ${(error as Error).message}`);
  }
  return { data: { file: output }, lines: [`written to ${output}`] };
}
