/**
 * Rows of cells (documents, results, a request's `rows`) as packed columns that training and prediction read. Called by
 * the actor, so it loads nothing heavy, and what grows with the rows is a generator that stops every few cells. No
 * state.
 */
import { DbError } from "../protocol/errors.js";
import { momentOfText, numberOfText } from "./cell-text.js";
import type { Feature } from "./contract.js";
import { type ColumnBuilder, NumberBuilder, type PackedColumn, TextBuilder, VectorBuilder } from "./packed-columns.js";

type Row = Readonly<Record<string, unknown>>;

/** Cells between two looks at the clock. */
const CELLS_A_STEP = 64;

/**
 * Documents whose fields become columns, in the order of their first appearance: which fields there are, and of what
 * sort, is known when all have been seen.
 */
export class DocumentColumns {
  /** By field: its cells, and the rows that have them. */
  private readonly fields = new Map<string, { readonly rows: number[]; readonly cells: unknown[] }>();
  rows = 0;
  /** Rough number of bytes held. */
  byteLength = 0;

  add(document: Row): void {
    for (const name in document) {
      let field = this.fields.get(name);
      if (field === undefined) {
        field = { rows: [], cells: [] };
        this.fields.set(name, field);
      }
      const cell = document[name];
      field.rows.push(this.rows);
      field.cells.push(cell);
      this.byteLength += CELL_BYTES + (typeof cell === "string" ? cell.length : 0);
    }
    this.rows++;
  }

  get names(): Iterable<string> {
    return this.fields.keys();
  }

  *column(name: string): Generator<void, PackedColumn> {
    const { rows, cells } = this.fields.get(name)!;
    const builder = builderFor(name, yield* kindOf(cells));
    const { length } = rows;
    for (let row = 0, at = 0; row < this.rows; row++) {
      const isThere = at < length && rows[at] === row;
      appendCell(builder, isThere ? cells[at++] : null);
      if (row % CELLS_A_STEP === 0) yield;
    }
    return builder.finish();
  }
}

const CELL_BYTES = 24;

/** A column of one sort of cell gets its kind; a mixed one becomes text, objects as JSON. */
export function* columnOfCells(name: string, cells: readonly unknown[]): Generator<void, PackedColumn> {
  const builder = builderFor(name, yield* kindOf(cells));
  for (let row = 0; row < cells.length; row++) {
    appendCell(builder, cells[row]);
    if (row % CELLS_A_STEP === 0) yield;
  }
  return builder.finish();
}

type PlainKind = "number" | "boolean" | "timestamp" | "text";

/** A number says how many dimensions vectors have. */
function* kindOf(cells: readonly unknown[]): Generator<void, PlainKind | number> {
  let only: PlainKind | number | null = null;
  for (let row = 0; row < cells.length; row++) {
    if (row % CELLS_A_STEP === 0) yield;
    const cell = cells[row];
    if (isMissing(cell)) continue;
    const sort = sortOf(cell);
    if (sort === "text" || (only !== null && only !== sort)) return "text";
    only = sort;
  }
  return only ?? "text";
}

function isMissing(cell: unknown): boolean {
  return cell === null || cell === undefined || (typeof cell === "number" && Number.isNaN(cell));
}

/** Numbers, bigints, booleans, strings, dates, lists of numbers; all else is text. */
function sortOf(cell: unknown): PlainKind | number {
  if (typeof cell === "number" || typeof cell === "bigint") return "number";
  if (typeof cell === "boolean") return "boolean";
  if (cell instanceof Date) return "timestamp";
  return typeof cell === "string" ? "text" : (numbersOf(cell)?.length ?? "text");
}

function builderFor(name: string, kind: PlainKind | number): ColumnBuilder {
  if (typeof kind === "number") return new VectorBuilder(name, kind);
  return kind === "text" ? new TextBuilder(name) : new NumberBuilder(name, kind);
}

function appendCell(builder: ColumnBuilder, cell: unknown): void {
  if (builder instanceof NumberBuilder) builder.append(isMissing(cell) ? Number.NaN : Number(cell));
  else if (builder instanceof VectorBuilder) builder.append(isMissing(cell) ? null : numbersOf(cell));
  else builder.append(isMissing(cell) ? null : textOf(cell));
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

/**
 * The columns that a model reads, from rows to predict. A null cell is a missing value, which models accept; a cell
 * that is not there at all is an error. Throws `invalid_request` that names the row (from 1), the feature, and what it
 * needs.
 */
export function* columnsForModel(features: readonly Feature[], rows: readonly Row[]): Generator<void, PackedColumn[]> {
  const builders = features.map(({ name, kind, dimensions }) => {
    if (kind === "text" || kind === "category") return new TextBuilder(name, kind);
    return kind === "vector" ? new VectorBuilder(name, dimensions!) : new NumberBuilder(name, kind);
  });
  let cells = 0;
  for (let row = 0; row < rows.length; row++) {
    for (let f = 0; f < features.length; f++) {
      appendFeature(builders[f]!, features[f]!, rows[row]!, row);
      if (++cells % CELLS_A_STEP === 0) yield;
    }
  }
  return builders.map((builder) => builder.finish());
}

function appendFeature(builder: ColumnBuilder, feature: Feature, cells: Row, row: number): void {
  const { name, kind } = feature;
  const cell = cells[name];
  if (cell === undefined) {
    throw new DbError(
      "invalid_request",
      `Row ${row + 1} lacks the feature "${name}" (${kind}). Send it, or null where its value is not known.`,
      { row: row + 1, feature: name },
    );
  }
  if (builder instanceof TextBuilder) builder.append(label(feature, cell, row));
  else if (builder instanceof NumberBuilder) builder.append(scalar(feature, cell, row));
  else builder.append(isMissing(cell) ? null : vector(feature, cell, row));
}

function vector(feature: Feature, cell: unknown, row: number): ArrayLike<number> {
  const numbers = numbersOf(cell);
  if (numbers === null || numbers.length !== feature.dimensions) throw mistyped(feature, cell, row);
  return numbers;
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
