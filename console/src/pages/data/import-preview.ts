/** What is in the beginning of a file. */

export interface Preview {
  readonly columns: readonly { readonly name: string; readonly data_type: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

interface FileFormat {
  readonly path: "csv" | "ndjson" | "parquet";
  readonly type: string;
}

const FORMATS: readonly (readonly [RegExp, FileFormat])[] = [
  [/\.(?:csv|tsv|txt)$/i, { path: "csv", type: "text/csv" }],
  [/\.(?:ndjson|jsonl|json)$/i, { path: "ndjson", type: "application/x-ndjson" }],
  [/\.parquet$/i, { path: "parquet", type: "application/vnd.apache.parquet" }],
];

/** Null: it cannot be imported. */
export function formatOf(name: string): FileFormat | null {
  return FORMATS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

export function tableNameOf(name: string): string {
  const plain = name.replace(/\.\w+$/, "").toLowerCase();
  return (
    plain
      .replace(/[^a-z0-9_]+/g, "_")
      .replace(/^(?=\d)/, "t")
      .slice(0, 63) || "imported"
  );
}

const BYTES_READ = 64 * 1024;
const ROWS_SHOWN = 30;

/** Null for files that cannot be imported. */
export async function previewOf(file: File): Promise<Preview | null> {
  const format = formatOf(file.name);
  if (format === null) return null;
  // Its reader is larger than this page.
  if (format.path === "parquet") return (await import("./parquet-preview.js")).parquetPreview(file, ROWS_SHOWN);
  const text = await file.slice(0, BYTES_READ).text();
  const isWhole = file.size <= BYTES_READ;
  if (format.path === "ndjson") return ofLines(isWhole ? text : text.slice(0, text.lastIndexOf("\n")));
  const [head = [], ...rows] = csvRows(text, isWhole);
  return described(
    head,
    rows.slice(0, ROWS_SHOWN).map((row) => row.map((field) => (field === "" ? null : field))),
  );
}

function ofLines(text: string): Preview {
  const objects = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, ROWS_SHOWN);
  const parsed = objects.map((line) => JSON.parse(line) as unknown);
  const names = [
    ...new Set(
      parsed.flatMap((one) => (Array.isArray(one) ? one.map((_, i) => String(i + 1)) : Object.keys(one as object))),
    ),
  ];
  const rows = parsed.map((one) =>
    Array.isArray(one) ? one : names.map((name) => (one as Record<string, unknown>)[name] ?? null),
  );
  return described(names, rows);
}

function described(names: readonly string[], rows: readonly (readonly unknown[])[]): Preview {
  return { columns: names.map((name, i) => ({ name, data_type: typeOf(rows.map((row) => row[i])) })), rows };
}

const TYPES: readonly (readonly [string, RegExp])[] = [
  ["bigint", /^[+-]?\d{1,18}$/],
  ["double precision", /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/],
  ["boolean", /^(?:true|false)$/i],
  ["date", /^\d{4}-\d\d-\d\d$/],
  ["timestamp with time zone", /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/],
];

function typeOf(values: readonly unknown[]): string {
  const there = values.filter((value) => value !== null && value !== undefined);
  if (there.length === 0) return "text";
  if (there.some((value) => typeof value === "object")) return "jsonb";
  return TYPES.find(([, pattern]) => there.every((value) => pattern.test(String(value))))?.[0] ?? "text";
}

/** Rows of fields in quotes or without. The last one may be cut, unless the text is whole. */
export function csvRows(text: string, isWhole: boolean): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = "";
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!;
    if (isQuoted && letter === '"' && text[i + 1] === '"') field += text[i++];
    else if (letter === '"') isQuoted = !isQuoted;
    else if (isQuoted || !/[,\n\r]/.test(letter)) field += letter;
    else if (letter !== "\r") {
      row.push(field);
      field = "";
      if (letter === "\n") {
        rows.push(row);
        row = [];
      }
    }
  }
  if (isWhole && (field !== "" || row.length > 0)) rows.push([...row, field]);
  return rows;
}
