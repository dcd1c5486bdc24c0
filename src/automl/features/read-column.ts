/**
 * Columns as they are given, read as what they hold: text of numbers, dates or truths is these; other text is a
 * category with a code per label. Called for training (kinds are found out) and for prediction (kinds are known). No
 * state.
 */
import { DbError } from "../../protocol/errors.js";
import { momentOfText, numberOfText } from "../cell-text.js";
import type { ColumnData, Feature } from "../contract.js";
import { booleanOfText, mistyped } from "../row-columns.js";

export type ReadColumn =
  | { readonly name: string; readonly kind: "number" | "boolean" | "timestamp"; readonly values: Float64Array }
  | {
      readonly name: string;
      readonly kind: "category";
      /** Of each row: the place of its label, or -1 where it is missing or not among the labels. */
      readonly codes: Int32Array;
      readonly labels: readonly string[];
    }
  | { readonly name: string; readonly kind: "vector"; readonly dimensions: number; readonly values: Float32Array };

export function rowsOfColumn(column: ColumnData): number {
  return column.kind === "vector" ? column.values.length / column.dimensions : column.values.length;
}

export function readColumn(column: ColumnData): ReadColumn {
  if (column.kind === "vector") return column;
  if (isScalar(column)) return column;
  const { name, values } = column;
  if (column.kind === "category") return coded(name, values);
  for (const [kind, parse] of [
    ["number", numberOfText],
    ["timestamp", momentOfText],
    ["boolean", booleanOfText],
  ] as const) {
    const read = readAll(values, parse);
    if (read !== null) return { name, kind, values: read };
  }
  return coded(name, values);
}

type NumberColumn = Extract<ColumnData, { values: Float64Array }>;
type LabelColumn = Extract<ColumnData, { values: readonly (string | null)[] }>;
type ScalarColumn = NumberColumn | LabelColumn;

function isScalar(column: ScalarColumn): column is NumberColumn {
  return column.values instanceof Float64Array;
}

function isBlank(text: string | null): text is null {
  return text === null || text.trim() === "";
}

/** Null when any cell that is there is something else, or all are missing. */
function readAll(values: readonly (string | null)[], parse: (text: string) => number): Float64Array | null {
  const read = new Float64Array(values.length);
  let seen = false;
  for (let row = 0; row < values.length; row++) {
    const text = values[row]!;
    if (isBlank(text)) {
      read[row] = Number.NaN;
      continue;
    }
    const value = parse(text);
    if (Number.isNaN(value)) return null;
    read[row] = value;
    seen = true;
  }
  return seen ? read : null;
}

function coded(name: string, values: readonly (string | null)[]): ReadColumn {
  const places = new Map<string, number>();
  const codes = new Int32Array(values.length);
  for (let row = 0; row < values.length; row++) {
    const text = values[row]!;
    if (isBlank(text)) {
      codes[row] = -1;
      continue;
    }
    let place = places.get(text);
    if (place === undefined) {
      place = places.size;
      places.set(text, place);
    }
    codes[row] = place;
  }
  return { name, kind: "category", codes, labels: [...places.keys()] };
}

/**
 * The feature's column among those of a request, in the feature's kind; `labels` are those that the model knows of a
 * category. Throws `invalid_request` that names the feature, and the row (from 1) whose cell does not fit.
 */
export function readFeature(feature: Feature, columns: readonly ColumnData[], labels: readonly string[]): ReadColumn {
  const column = columns.find(({ name }) => name === feature.name);
  if (column === undefined) {
    throw new DbError(
      "invalid_request",
      `The feature "${feature.name}" (${feature.kind}) is missing. Send it with every row.`,
      {
        feature: feature.name,
      },
    );
  }
  const { name, kind } = feature;
  if (kind === "vector") {
    if (column.kind !== "vector" || column.dimensions !== feature.dimensions) throw unfit(feature, column);
    return column;
  }
  if (column.kind === "vector") throw unfit(feature, column);
  if (kind === "category" || kind === "text") return { name, kind: "category", codes: codesOf(column, labels), labels };
  return { name, kind, values: numbersOf(feature, column) };
}

function unfit(feature: Feature, column: ColumnData): DbError {
  const size = (dimensions: number | undefined) => (dimensions === undefined ? "" : ` of ${dimensions} numbers`);
  const given = column.kind === "vector" ? `vector${size(column.dimensions)}` : column.kind;
  return new DbError(
    "invalid_request",
    `The feature "${feature.name}" needs ${feature.kind}${size(feature.dimensions)}, not ${given}.`,
    { feature: feature.name },
  );
}

function codesOf(column: ScalarColumn, labels: readonly string[]): Int32Array {
  const places = new Map(labels.map((label, place) => [label, place]));
  const codes = new Int32Array(column.values.length);
  for (let row = 0; row < codes.length; row++) {
    const cell = column.values[row]!;
    const text = typeof cell !== "number" ? cell : labelOfNumber(cell, column.kind);
    codes[row] = text === null ? -1 : (places.get(text) ?? -1);
  }
  return codes;
}

/** How a number is written as a label; null when it is missing. */
export function labelOfNumber(value: number, kind: ColumnData["kind"]): string | null {
  if (Number.isNaN(value)) return null;
  if (kind === "boolean") return value === 1 ? "true" : "false";
  return kind === "timestamp" ? new Date(value).toISOString() : String(value);
}

const PARSERS = { number: numberOfText, timestamp: momentOfText, boolean: booleanOfText } as const;

function numbersOf(feature: Feature, column: ScalarColumn): Float64Array {
  if (isScalar(column)) {
    const wrong =
      feature.kind === "boolean"
        ? column.values.findIndex((value) => value !== 0 && value !== 1 && !Number.isNaN(value))
        : -1;
    if (wrong >= 0) throw mistyped(feature, column.values[wrong], wrong);
    const endless = column.values.findIndex(
      (value) => value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY,
    );
    if (endless >= 0) throw mistyped(feature, String(column.values[endless]), endless);
    return column.values;
  }
  const parse = PARSERS[feature.kind as keyof typeof PARSERS];
  return Float64Array.from(column.values, (text, row) => {
    if (isBlank(text)) return Number.NaN;
    const value = parse(text);
    if (Number.isNaN(value)) throw mistyped(feature, text, row);
    return value;
  });
}

/** Some rows of a column, in that order; `rows` in ascending order, so that as many as there are is all of them. */
export function takeRows(column: ReadColumn, rows: Int32Array): ReadColumn {
  const { length } = column.kind === "category" ? column.codes : column.values;
  if (rows.length === (column.kind === "vector" ? length / column.dimensions : length)) return column;
  if (column.kind === "category") return { ...column, codes: rows.map((row) => column.codes[row]!) };
  if (column.kind !== "vector") return { ...column, values: Float64Array.from(rows, (row) => column.values[row]!) };
  const { dimensions } = column;
  const values = new Float32Array(rows.length * dimensions);
  rows.forEach((row, i) => {
    values.set(column.values.subarray(row * dimensions, (row + 1) * dimensions), i * dimensions);
  });
  return { ...column, values };
}
