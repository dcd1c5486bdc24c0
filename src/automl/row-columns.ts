/**
 * Rows of cells (documents, results, a request's `rows`) as the columns that training and prediction read. Called by the
 * actor, so it loads nothing heavy; no state.
 */
import { DbError } from "../protocol/errors.js";
import { momentOfText, numberOfText } from "./cell-text.js";
import type { ColumnData, Feature } from "./contract.js";

type Row = Readonly<Record<string, unknown>>;

/**
 * Columns for a training, of all names that any row has, in the order of their first appearance. A column of one sort of
 * cell gets its kind; a mixed one becomes text, objects as JSON.
 */
export function columnsOfRows(rows: readonly Row[]): ColumnData[] {
  const names = new Set<string>();
  for (const row of rows) for (const name of Object.keys(row)) names.add(name);
  return [...names].map((name) => {
    const cells = rows.map((row) => row[name]);
    return columnOfCells(name, cells);
  });
}

/** A column from cells of JSON or of SQL results: numbers, bigints, booleans, strings, dates, lists of numbers, nulls. */
export function columnOfCells(name: string, cells: readonly unknown[]): ColumnData {
  const sorts = new Set<Sort>();
  for (const cell of cells) {
    const sort = sortOf(cell);
    if (sort !== "missing") sorts.add(sort);
  }
  const only = sorts.size === 1 ? [...sorts][0]! : null;
  if (only === "number" || only === "boolean" || only === "timestamp") {
    return {
      name,
      kind: only,
      values: Float64Array.from(cells, (cell) => (isMissing(cell) ? Number.NaN : Number(cell))),
    };
  }
  if (only === "vector") {
    const vectors = vectorColumn(name, cells);
    if (vectors !== null) return vectors;
  }
  return { name, kind: "text", values: cells.map((cell) => (isMissing(cell) ? null : textOf(cell))) };
}

type Sort = "missing" | "number" | "boolean" | "timestamp" | "text" | "vector" | "other";

function isMissing(cell: unknown): boolean {
  return cell === null || cell === undefined || (typeof cell === "number" && Number.isNaN(cell));
}

function sortOf(cell: unknown): Sort {
  if (isMissing(cell)) return "missing";
  if (typeof cell === "number" || typeof cell === "bigint") return "number";
  if (typeof cell === "boolean") return "boolean";
  if (typeof cell === "string") return "text";
  if (cell instanceof Date) return "timestamp";
  return numbersOf(cell) === null ? "other" : "vector";
}

function numbersOf(cell: unknown): ArrayLike<number> | null {
  if (cell instanceof Float32Array || cell instanceof Float64Array) return cell;
  if (!Array.isArray(cell) || cell.length === 0) return null;
  return cell.every((part) => typeof part === "number" && Number.isFinite(part)) ? (cell as number[]) : null;
}

function textOf(cell: unknown): string {
  if (typeof cell === "string") return cell;
  if (cell instanceof Date) return cell.toISOString();
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

/** Null when the lists differ in length. */
function vectorColumn(name: string, cells: readonly unknown[]): ColumnData | null {
  const dimensions = numbersOf(cells.find((cell) => !isMissing(cell)))?.length ?? 0;
  if (dimensions === 0) return null;
  const values = new Float32Array(cells.length * dimensions).fill(Number.NaN);
  for (let row = 0; row < cells.length; row++) {
    if (isMissing(cells[row])) continue;
    const numbers = numbersOf(cells[row])!;
    if (numbers.length !== dimensions) return null;
    values.set(numbers, row * dimensions);
  }
  return { name, kind: "vector", dimensions, values };
}

/**
 * The columns that a model reads, from rows to predict. A null cell is a missing value, which models accept; a cell that
 * is not there at all is an error. Throws `invalid_request` that names the row (from 1), the feature, and what it needs.
 */
export function columnsForModel(features: readonly Feature[], rows: readonly Row[]): ColumnData[] {
  for (let row = 0; row < rows.length; row++) {
    for (const { name, kind } of features) {
      if (rows[row]![name] === undefined) {
        throw new DbError(
          "invalid_request",
          `Row ${row + 1} lacks the feature "${name}" (${kind}). Send it, or null where its value is not known.`,
          { row: row + 1, feature: name },
        );
      }
    }
  }
  return features.map((feature) => {
    const { name, kind } = feature;
    const cells = rows.map((row) => row[name]);
    if (kind === "text" || kind === "category")
      return { name, kind, values: cells.map((cell, row) => label(feature, cell, row)) };
    if (kind !== "vector")
      return { name, kind, values: Float64Array.from(cells, (cell, row) => scalar(feature, cell, row)) };
    const dimensions = feature.dimensions!;
    const values = new Float32Array(rows.length * dimensions).fill(Number.NaN);
    cells.forEach((cell, row) => {
      if (isMissing(cell)) return;
      const numbers = numbersOf(cell);
      if (numbers === null || numbers.length !== dimensions) throw mistyped(feature, cell, row);
      values.set(numbers, row * dimensions);
    });
    return { name, kind, dimensions, values };
  });
}

function label(feature: Feature, cell: unknown, row: number): string | null {
  if (isMissing(cell)) return null;
  if (typeof cell === "object") throw mistyped(feature, cell, row);
  return String(cell);
}

function scalar(feature: Feature, cell: unknown, row: number): number {
  if (isMissing(cell)) return Number.NaN;
  const value = scalarValue(feature.kind, cell);
  if (!Number.isFinite(value)) throw mistyped(feature, cell, row);
  return value;
}

function scalarValue(kind: Feature["kind"], cell: unknown): number {
  if (kind === "boolean") {
    if (typeof cell === "string") return booleanOfText(cell);
    return cell === true || cell === 1 ? 1 : cell === false || cell === 0 ? 0 : Number.NaN;
  }
  if (typeof cell === "number" || typeof cell === "bigint") return Number(cell);
  if (kind === "timestamp") {
    return cell instanceof Date ? cell.getTime() : typeof cell === "string" ? momentOfText(cell) : Number.NaN;
  }
  return typeof cell === "string" ? numberOfText(cell) : Number.NaN;
}

/** 1, 0, or NaN when the text is neither way of saying true or false. */
export function booleanOfText(text: string): number {
  const lower = text.trim().toLowerCase();
  if (lower === "true" || lower === "t") return 1;
  return lower === "false" || lower === "f" ? 0 : Number.NaN;
}

const NEEDS: Readonly<Record<Feature["kind"], string>> = {
  number: "a number",
  boolean: "true or false",
  timestamp: "a date or timestamp (ISO 8601 text or milliseconds)",
  text: "a text",
  category: "a text",
  vector: "a list of numbers",
};

/** The error of a cell that does not fit its feature; `row` counts from 0. */
export function mistyped(feature: Feature, cell: unknown, row: number): DbError {
  const size = feature.dimensions === undefined ? "" : ` (${feature.dimensions} of them)`;
  const shown = (JSON.stringify(cell) ?? String(cell)).slice(0, 60);
  return new DbError(
    "invalid_request",
    `Row ${row + 1}: the feature "${feature.name}" needs ${NEEDS[feature.kind]}${size}, not ${shown}.`,
    { row: row + 1, feature: feature.name },
  );
}
