/**
 * `tessera import --embed`: the collection that the documents of a file go into, from what its first lines look like.
 */
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { parse } from "csv-parse/sync";
import { type ApiClient, CommandError, EXIT } from "./api-client.js";

interface Field {
  readonly name: string;
  readonly type: "string" | "number" | "boolean" | "object" | "array";
  readonly embed?: true;
}

/** What is read of a file. */
const HEAD_BYTES = 256 * 1024;
/** Columns of CSV with nothing but these are numbers. Leading zeros belong to codes. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;

/** Makes it; one that is there stays as it is. True: it was made. */
export async function makeCollection(
  client: ApiClient,
  name: string,
  file: string,
  { format, delimiter, embed }: { readonly format: string; readonly delimiter: string; readonly embed: string },
): Promise<boolean> {
  const names = embed.split(",").map((field) => field.trim());
  const fields = fieldsOf(await headOf(file), format, delimiter, names);
  try {
    await client.call("POST", "/v1/collections", { name, schema: { fields } });
    return true;
  } catch (error) {
    if (error instanceof CommandError && error.code === "conflict") return false;
    throw error;
  }
}

/** Whole lines from the file's beginning. */
async function headOf(file: string): Promise<string> {
  const source = createReadStream(file);
  const stream = file.endsWith(".gz") ? source.pipe(createGunzip()) : source;
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes >= HEAD_BYTES) break;
    }
  } finally {
    source.destroy();
  }
  const text = Buffer.concat(pieces).toString("utf8");
  return bytes < HEAD_BYTES ? text : text.slice(0, text.lastIndexOf("\n") + 1);
}

/** Exported for tests. */
export function fieldsOf(head: string, format: string, delimiter: string, embed: readonly string[]): readonly Field[] {
  const columns = format === "csv" ? columnsOfCsv(head, delimiter) : columnsOfLines(head);
  for (const name of embed) {
    const type = columns.get(name);
    if (type === "string") continue;
    const texts = [...columns].flatMap(([column, of]) => (of === "string" ? [column] : []));
    const why = type === undefined ? "is no column of the file" : "holds no texts";
    throw new CommandError(
      EXIT.usage,
      "usage",
      `--embed ${name}: it ${why}; texts are in ${texts.join(", ") || "none"}`,
    );
  }
  // Documents have an id anyway.
  columns.delete("id");
  return [...columns].map(([name, type]) => ({ name, type, ...(embed.includes(name) && { embed: true as const }) }));
}

function columnsOfCsv(head: string, delimiter: string): Map<string, Field["type"]> {
  // The last row may have been cut within a quoted value.
  const options = { delimiter, bom: true, relax_quotes: true, relax_column_count: true, skip_records_with_error: true };
  const [names = [], ...rows] = parse(head, options) as string[][];
  return new Map(names.map((name, c) => [name, typeOfTexts(rows.map((row) => row[c] ?? "").filter((v) => v !== ""))]));
}

function typeOfTexts(values: readonly string[]): Field["type"] {
  if (values.length === 0) return "string";
  if (values.every((value) => NUMBER.test(value))) return "number";
  return values.every((value) => /^(true|false)$/i.test(value)) ? "boolean" : "string";
}

function columnsOfLines(head: string): Map<string, Field["type"]> {
  const columns = new Map<string, Field["type"]>();
  for (const line of head.split("\n").filter((text) => text.trim() !== "")) {
    for (const [name, value] of Object.entries(JSON.parse(line) as Record<string, unknown>)) {
      if (value === null) continue;
      const type = typeOfValue(value);
      const known = columns.get(name);
      columns.set(name, known === undefined || known === type ? type : "string");
    }
  }
  return columns;
}

function typeOfValue(value: unknown): Field["type"] {
  const type = typeof value;
  if (type === "string" || type === "number" || type === "boolean") return type;
  return Array.isArray(value) ? "array" : "object";
}
