/** A result as text: a table, one value a line, CSV, JSON lines, or a table of Markdown. */
import { CommandError, EXIT } from "./api-client.js";

export interface ResultTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

const FORMATS = {
  table: tableLines,
  expanded: expandedLines,
  csv: csvLines,
  json: jsonLines,
  markdown: markdownLines,
} as const satisfies Record<string, (result: ResultTable) => string[]>;

export type OutputFormat = keyof typeof FORMATS;

export const OUTPUT_FORMATS = Object.keys(FORMATS) as readonly OutputFormat[];

/** Throws CommandError for a name that is none. */
export function outputFormat(name: string): OutputFormat {
  if (Object.hasOwn(FORMATS, name)) return name as OutputFormat;
  throw new CommandError(EXIT.usage, "usage", `there is no format ${name}; there are ${OUTPUT_FORMATS.join(", ")}`);
}

export function formatted(result: ResultTable, format: OutputFormat): string[] {
  return FORMATS[format](result);
}

/** Columns beside each other, as wide as their longest value; numbers to the right. */
function tableLines({ columns, rows }: ResultTable): string[] {
  const cells = [columns, ...rows.map((row) => row.map((value) => oneLine(textOf(value))))];
  const widths = columns.map((_, c) => Math.max(...cells.map((row) => widthOf(row[c]!))));
  const areNumbers = columns.map((_, c) => rows.length > 0 && rows.every((row) => isNumber(row[c])));
  const lines = cells.map((row, r) =>
    row
      .map((cell, c) => {
        const gap = " ".repeat(widths[c]! - widthOf(cell));
        return areNumbers[c] && r > 0 ? gap + cell : cell + gap;
      })
      .join(" | ")
      .trimEnd(),
  );
  return [lines[0]!, widths.map((width) => "-".repeat(width)).join("-+-"), ...lines.slice(1)];
}

function expandedLines({ columns, rows }: ResultTable): string[] {
  const width = Math.max(0, ...columns.map(widthOf));
  return rows.flatMap((row, r) => [
    `-[ row ${r + 1} ]${"-".repeat(Math.max(0, width - 6))}`,
    ...row.map((value, c) => `${columns[c]!}${" ".repeat(width - widthOf(columns[c]!))} | ${textOf(value)}`),
  ]);
}

/** As RFC 4180 has it; NULL is an empty field, and an empty text has quotes. */
function csvLines({ columns, rows }: ResultTable): string[] {
  const field = (value: unknown): string => {
    if (value === null || value === undefined) return "";
    const text = textOf(value);
    return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(field).join(","));
}

function jsonLines({ columns, rows }: ResultTable): string[] {
  return rows.map((row) => JSON.stringify(Object.fromEntries(columns.map((name, c) => [name, row[c] ?? null]))));
}

function markdownLines({ columns, rows }: ResultTable): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const cell = (value: unknown): string => oneLine(textOf(value)).replaceAll("|", "\\|");
  const rules = columns.map((_, c) => (rows.length > 0 && rows.every((row) => isNumber(row[c])) ? "--:" : "---"));
  return [line(columns.map(cell)), `|${rules.join("|")}|`, ...rows.map((row) => line(row.map(cell)))];
}

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const isNumber = (value: unknown): boolean =>
  value === null || typeof value === "number" || (typeof value === "string" && /^-?\d+(?:\.\d+)?$/.test(value));

const oneLine = (text: string): string => text.replaceAll("\n", "↵").replaceAll("\t", " ").replaceAll("\r", "");

/** Characters of a terminal: those of East Asian scripts and pictures take two. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue;
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return width;
}
