/** Reads CSV and TSV files with csv-parse: RFC 4180, and the variants that spreadsheets write. */
import { parse } from "csv-parse/sync";
import { DbError } from "../../protocol/errors.js";
import { decodeText } from "./decode-text.js";
import type { ParsedContent, ParserInput } from "./parsed-content.js";
import { TableWriter } from "./table-rows.js";

const DELIMITERS = [",", ";", "\t", "|"];
const SAMPLE_CHARACTERS = 64 * 1024;
const RECORD_CHARACTERS_MAX = 1024 * 1024;

export function parseCsv({ bytes, job }: ParserInput, content: ParsedContent): void {
  const { text, encoding } = decodeText(bytes);
  const tabs = /\.(tsv|tab)$/i.test(job.path);
  content.mediaType = tabs ? "text/tab-separated-values" : "text/csv";
  content.fact("encoding", encoding);
  const table = new TableWriter(content);
  try {
    // Each record is written as it is read; none is kept.
    parse(text, {
      delimiter: tabs ? "\t" : delimiterOf(text.slice(0, SAMPLE_CHARACTERS)),
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      bom: true,
      max_record_size: RECORD_CHARACTERS_MAX,
      on_record: (record: string[]) => {
        table.row(record);
        return null;
      },
    });
  } catch (error) {
    if (error instanceof DbError) throw error;
    throw new DbError("file_corrupt", `The table cannot be read: ${(error as Error).message}.`);
  }
  const { rows, columns } = table.finish();
  content.fact("rows", rows);
  content.fact("columns", columns);
}

/** The one that most lines have the same number of, outside of quotes. */
function delimiterOf(sample: string): string {
  const lines = sample
    .replace(/"(?:[^"]|"")*"/g, "")
    .split(/\r?\n/, 50)
    .filter((line) => line !== "");
  const score = (delimiter: string): number => {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    const first = counts[0] ?? 0;
    return first === 0 ? 0 : first * counts.filter((count) => count === first).length;
  };
  return DELIMITERS.reduce((best, delimiter) => (score(delimiter) > score(best) ? delimiter : best));
}
