/**
 * Rows of a table as lines that can be searched one by one: each value beside its column's name when the first row
 * names the columns. Used by the parsers of CSV and XLSX.
 */
import type { ParsedContent } from "./parsed-content.js";

export interface TableFacts {
  readonly rows: number;
  readonly columns: readonly string[];
}

/** Writes rows as they come; `columns` is empty when the first row is data like the others. */
export class TableWriter {
  private rows = 0;
  private columns: readonly string[] | null = null;

  constructor(private readonly content: ParsedContent) {
    content.text.keepWhole("line");
  }

  row(values: readonly string[]): void {
    if (values.every((value) => value.trim() === "")) return;
    if (this.columns === null) {
      this.columns = namesOf(values) ?? [];
      if (this.columns.length > 0) {
        this.content.text.line(`Columns: ${this.columns.join(", ")}`);
        return;
      }
    }
    if (this.rows++ % 1000 === 0) this.content.checkTime();
    this.content.text.line(this.lineOf(values, this.columns));
  }

  finish(): TableFacts {
    return { rows: this.rows, columns: this.columns ?? [] };
  }

  private lineOf(values: readonly string[], columns: readonly string[]): string {
    const parts: string[] = [];
    for (const [index, value] of values.entries()) {
      const text = value.replace(/\s+/g, " ").trim();
      if (text === "") continue;
      parts.push(columns[index] === undefined ? text : `${columns[index]}: ${text}`);
    }
    return parts.join(columns.length > 0 ? "; " : " | ");
  }
}

/** Names: all there, all different, none a number. */
function namesOf(values: readonly string[]): string[] | null {
  const names = values.map((value) => value.replace(/\s+/g, " ").trim());
  if (names.length < 2 || new Set(names).size < names.length) return null;
  return names.every((name) => name !== "" && name.length <= 100 && Number.isNaN(Number(name))) ? names : null;
}
