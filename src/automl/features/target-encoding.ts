/**
 * Categories as the mean of the target over their rows, drawn towards the mean of all (Micci-Barreca 2001). Rows that
 * are learned from get the mean of others of them, five ways crossed, so that no row sees its own target. No state.
 */
import type { Random } from "../random.js";

/** Rows of the overall mean that each category's mean is mixed with. */
const PRIOR_ROWS = 10;
const CROSS = 5;

export interface CategoryStatistics {
  /** Categories × outputs. */
  readonly means: Float32Array;
  /** Outputs: what an unknown category gets. */
  readonly prior: Float32Array;
}

/** The target as columns of numbers to take means of: values, the chance of class 1, or of each of some classes. */
export function targetColumns(target: Float64Array, classes: number, classesMax: number): Float64Array[] {
  if (classes <= 2) return [target];
  return Array.from({ length: Math.min(classes, classesMax) }, (_, k) => target.map((is) => (is === k ? 1 : 0)));
}

/** From the given rows. `codes` of -1 count for the prior only. */
export function categoryStatistics(
  codes: Int32Array,
  categories: number,
  targets: readonly Float64Array[],
  rows: Int32Array,
): CategoryStatistics {
  const outputs = targets.length;
  const sums = new Float64Array(categories * outputs);
  const counts = new Float64Array(categories);
  const totals = new Float64Array(outputs);
  for (const row of rows) {
    const code = codes[row]!;
    if (code >= 0) counts[code]! += 1;
    for (let k = 0; k < outputs; k++) {
      const value = targets[k]![row]!;
      totals[k]! += value;
      if (code >= 0) sums[code * outputs + k]! += value;
    }
  }
  const prior = Float32Array.from(totals, (total) => (rows.length > 0 ? total / rows.length : 0));
  const means = Float32Array.from(sums, (sum, i) => {
    const count = counts[Math.floor(i / outputs)]!;
    return (sum + PRIOR_ROWS * prior[i % outputs]!) / (count + PRIOR_ROWS);
  });
  return { means, prior };
}

export function encodeRows(codes: Int32Array, { means, prior }: CategoryStatistics): Float32Array[] {
  const outputs = prior.length;
  return Array.from({ length: outputs }, (_, k) =>
    Float32Array.from(codes, (code) => (code >= 0 ? means[code * outputs + k]! : prior[k]!)),
  );
}

/** Columns for a fit on `train`: these rows crossed, all others by the means of `train`. */
export function encodeForFit(
  codes: Int32Array,
  categories: number,
  targets: readonly Float64Array[],
  train: Int32Array,
  random: Random,
): Float32Array[] {
  const columns = encodeRows(codes, categoryStatistics(codes, categories, targets, train));
  const shuffled = random.shuffle(train.slice());
  const outputs = targets.length;
  for (let part = 0; part < CROSS; part++) {
    const inside = shuffled.filter((_, i) => i % CROSS === part);
    const outside = shuffled.filter((_, i) => i % CROSS !== part);
    if (outside.length === 0) continue;
    const { means, prior } = categoryStatistics(codes, categories, targets, outside);
    for (const row of inside) {
      const code = codes[row]!;
      for (let k = 0; k < outputs; k++) columns[k]![row] = code >= 0 ? means[code * outputs + k]! : prior[k]!;
    }
  }
  return columns;
}
