/** Whether answers of the two forms say what PostgreSQL says. */
import type { Expected } from "./suite.js";

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|\+00(?::?00)?)$/;

/** Timestamps and dates as epoch milliseconds, numbers in one spelling, booleans as 1 and 0, NULL as "". */
function normal(value: unknown): string {
  const text = value === null || value === undefined ? "" : String(value);
  const time = TIMESTAMP.exec(text);
  if (time !== null) return String(Date.parse(`${time[1]}T${time[2]}Z`));
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return String(Date.parse(text));
  if (/^-?\d+(\.\d+)?$/.test(text)) return String(Number(text));
  return /^(true|t)$/.test(text) ? "1" : /^(false|f)$/.test(text) ? "0" : text;
}

const flat = (value: unknown): unknown[] =>
  Array.isArray(value)
    ? value.flatMap(flat)
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(flat)
      : [value];

/** Lists in one spelling and one order, as nothing says theirs: "{{a,1},{b,2}}" and [["a",1],["b",2]]. */
const listed = (value: unknown) =>
  (Array.isArray(value) ? flat(value) : String(value).replace(/[{}"]/g, "").split(",")).map(normal).sort().join(",");

/** The first difference, or null. Rows are compared one by one, in their order. */
export function differenceOfTables(rows: readonly (readonly unknown[])[], { rows: expected }: Expected): string | null {
  if (rows.length !== expected.length) return `${rows.length} rows, not ${expected.length}`;
  for (const [r, wanted] of expected.entries()) {
    for (const [c, cell] of wanted.entries()) {
      const found = rows[r]?.[c];
      const isList = Array.isArray(found) || cell?.startsWith("{");
      const same = isList ? listed(found) === listed(cell) : normal(found) === normal(cell);
      if (!same) return `row ${r + 1}, column ${c + 1}: ${JSON.stringify(found)}, not ${cell}`;
    }
  }
  return null;
}

/**
 * The same for the graph's answers, which hold the same facts in columns of their own: each row must have all cells of
 * the table's row somewhere (its lists apart, which the two nest in different ways).
 */
export function differenceOfGraph(rows: readonly (readonly unknown[])[], { rows: expected }: Expected): string | null {
  if (rows.length !== expected.length) return `${rows.length} rows, not ${expected.length}`;
  for (const [r, wanted] of expected.entries()) {
    const found = new Set(flat(rows[r]).map(normal));
    const missing = wanted.find(
      (cell) => cell !== null && cell !== "" && !cell.startsWith("{") && !found.has(normal(cell)),
    );
    if (missing !== undefined) return `row ${r + 1} has no ${missing}`;
  }
  return null;
}
