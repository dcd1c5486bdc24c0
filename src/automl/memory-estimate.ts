/** What a training will take at most, so that one that is too large is refused before it starts. No state. */
import { DbError } from "../protocol/errors.js";
import { AUTOML_MEMORY_BYTES_MAX } from "../protocol/limits.js";

export interface TrainingShape {
  readonly rows: number;
  /** Prepared columns, those of target encodings included. */
  readonly columns: number;
  /** Classes, or 1. */
  readonly outputs: number;
  /** Configurations that are validated on all folds. */
  readonly finalists: number;
  readonly folds: number;
}

/** Histograms of open nodes (tree/histogram-pool.ts keeps at most so many bytes), models and what is around them. */
const FIXED_BYTES = 384 * 1024 * 1024;

/**
 * Per row: each prepared column as it was read (64 bits), as a 32-bit number, a bin, and once more as a 32-bit number
 * for linear models; scores and probabilities of each output; gradient, hessian and their ordered copies; row numbers
 * of the folds and the partition; and what each finalist predicted.
 */
export function trainingBytes({ rows, columns, outputs, finalists, folds }: TrainingShape): number {
  const perRow = columns * 17 + outputs * 24 + 32 + 8 + folds * 4 + finalists * outputs * 4;
  return FIXED_BYTES + rows * perRow;
}

/** Throws `invalid_request` that says how many rows would do. */
export function checkMemory(shape: TrainingShape): void {
  const bytes = trainingBytes(shape);
  if (bytes <= AUTOML_MEMORY_BYTES_MAX) return;
  const perRow = (bytes - FIXED_BYTES) / shape.rows;
  const rows = Math.floor((AUTOML_MEMORY_BYTES_MAX - FIXED_BYTES) / perRow);
  throw new DbError(
    "invalid_request",
    `Training on ${shape.rows} rows and ${shape.columns} prepared columns would take about ${Math.ceil(bytes / 2 ** 20)} MiB; the limit is ${AUTOML_MEMORY_BYTES_MAX / 2 ** 20} MiB. Use fewer columns, or a sample of at most ${rows} rows.`,
    { bytes, bytes_max: AUTOML_MEMORY_BYTES_MAX },
  );
}
