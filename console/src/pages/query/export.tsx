/** Takes a result away: as CSV or JSON of the rows that are here, or as Parquet, which the server writes. */
import type { Column } from "../../../../clients/typescript/src/index.js";
import { download } from "../../lib/download.js";
import { cellText } from "../../lib/format.js";
import { client } from "../../lib/session.js";
import { Menu } from "../../ui/menu.js";
import { attempt } from "../../ui/toast.js";
import type { List, Run } from "./run.js";

export function objectsOf(columns: readonly Column[], rows: readonly List[]): readonly Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])));
}

/** NULL is empty and unquoted, so that an empty text differs from it. */
function csvField(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = cellText(value);
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const ROWS_AT_ONCE = 5_000;

/** In pieces: one text of all rows could be too long. */
function csvOf({ columns, rows }: Run): Blob {
  const parts = [`${columns.map(({ name }) => csvField(name)).join(",")}\n`];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const lines = rows.slice(from, from + ROWS_AT_ONCE).map((row) => `${row.map(csvField).join(",")}\n`);
    parts.push(lines.join(""));
  }
  return new Blob(parts, { type: "text/csv" });
}

function jsonOf({ columns, rows }: Run): Blob {
  const parts = ["[\n"];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const objects = objectsOf(columns, rows.slice(from, from + ROWS_AT_ONCE));
    parts.push((from === 0 ? "" : ",\n") + objects.map((object) => JSON.stringify(object)).join(",\n"));
  }
  return new Blob([...parts, "\n]\n"], { type: "application/json" });
}

async function parquetOf({ statement, language, parameters }: Run): Promise<Blob> {
  const bound = Object.keys(parameters).length > 0 && { parameters: JSON.stringify(parameters) };
  const query = { sql: statement.text, language, format: "parquet", ...bound };
  return (await client().fetch("GET", "/v1/data/export", { query })).blob();
}

const FORMATS = [
  { ending: "csv", label: "CSV", make: async (run: Run) => csvOf(run) },
  { ending: "json", label: "JSON", make: async (run: Run) => jsonOf(run) },
  { ending: "parquet", label: "Parquet", make: parquetOf },
];

export function ExportMenu({ run }: { readonly run: Run }) {
  const entries = FORMATS.map(({ ending, label, make }) => ({
    label,
    run: () => void attempt(async () => download(`result.${ending}`, await make(run))),
  }));
  return <Menu icon="download" label="Export" entries={entries} />;
}
