/**
 * Turns read columns into the numbers that a plan says. First the columns that need no target, in the order of the
 * plan; then those of target encodings. Called for training and prediction alike. No state.
 */
import { partOf } from "./moment-parts.js";
import type { PlannedFeature } from "./plan.js";
import type { ReadColumn } from "./read-column.js";
import { project } from "./reduce-vectors.js";

export interface EncodedCategory {
  /** Of the planned features. */
  readonly feature: number;
  /** Of each row: the place among the plan's labels, or -1. */
  readonly codes: Int32Array;
  readonly categories: number;
}

export interface Encoded {
  readonly columns: readonly Float32Array[];
  /** Of each column: the number of its planned feature. */
  readonly sources: readonly number[];
  readonly categories: readonly EncodedCategory[];
}

/** `columns` in the order of the plan. */
export function encode(planned: readonly PlannedFeature[], columns: readonly ReadColumn[]): Encoded {
  const encoded: Float32Array[] = [];
  const sources: number[] = [];
  const categories: EncodedCategory[] = [];
  planned.forEach((each, feature) => {
    const column = columns[feature]!;
    const made = columnsOf(each, column);
    if (each.indicator) made.push(missingFlags(column));
    for (const values of made) {
      encoded.push(values);
      sources.push(feature);
    }
    if (each.treatment.kind === "target") {
      categories.push({
        feature,
        codes: knownCodes(column, each.treatment.labels),
        categories: each.treatment.labels.length,
      });
    }
  });
  return { columns: encoded, sources, categories };
}

function columnsOf({ treatment }: PlannedFeature, column: ReadColumn): Float32Array[] {
  switch (treatment.kind) {
    case "number":
      return [Float32Array.from((column as { values: Float64Array }).values)];
    case "moment": {
      const { values } = column as { values: Float64Array };
      return treatment.parts.map((part) => Float32Array.from(values, (value) => partOf(value, part)));
    }
    case "one_hot": {
      const codes = knownCodes(column, treatment.labels);
      // Of two values, one column says it all.
      const labels = treatment.labels.length === 2 ? [1] : treatment.labels.keys();
      return Array.from(labels, (place) => Float32Array.from(codes, (code) => (code === place ? 1 : 0)));
    }
    case "target": {
      const codes = knownCodes(column, treatment.labels);
      return [Float32Array.from(codes, (code) => (code < 0 ? 0 : Math.log1p(treatment.counts[code]!)))];
    }
    case "vector": {
      const { values, dimensions } = column as { values: Float32Array; dimensions: number };
      return treatment.axes === null ? columnsOfMatrix(values, dimensions) : project(values, treatment.axes);
    }
  }
}

function columnsOfMatrix(values: Float32Array, dimensions: number): Float32Array[] {
  const rows = values.length / dimensions;
  return Array.from({ length: dimensions }, (_, i) => {
    const column = new Float32Array(rows);
    for (let row = 0; row < rows; row++) column[row] = values[row * dimensions + i]!;
    return column;
  });
}

function missingFlags(column: ReadColumn): Float32Array {
  if (column.kind === "category") return Float32Array.from(column.codes, (code) => (code < 0 ? 1 : 0));
  const step = column.kind === "vector" ? column.dimensions : 1;
  return Float32Array.from({ length: column.values.length / step }, (_, row) =>
    Number.isNaN(column.values[row * step]!) ? 1 : 0,
  );
}

/** Codes by the plan's labels, which may be fewer than the column's. */
function knownCodes(column: ReadColumn, labels: readonly string[]): Int32Array {
  const { codes, labels: own } = column as { codes: Int32Array; labels: readonly string[] };
  if (own === labels) return codes;
  const places = new Map(labels.map((label, place) => [label, place]));
  const moved = own.map((label) => places.get(label) ?? -1);
  return codes.map((code) => (code < 0 ? -1 : moved[code]!));
}
