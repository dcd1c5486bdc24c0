/**
 * Columns cut into at most 255 bins by quantiles, as histogram-based tree learners do (Ke et al. 2017, "LightGBM";
 * Chen and Guestrin 2016, section 3.2). Made once per set of columns, shared by all trees; never changed.
 */

/** A bin per value range, and one for missing values. */
const VALUE_BINS_MAX = 254;
/**
 * Of few rows fewer bins: with less than some rows each (LightGBM's `min_data_in_bin`) they tell chance, and every node
 * has to look at all of them.
 */
const ROWS_PER_BIN = 4;
const VALUE_BINS_OF_FEW_ROWS = 64;
/** Rows from which the cuts of a column are chosen. */
const SAMPLE_ROWS_MAX = 50_000;

export interface BinnedColumn {
  /** Rows: the bin of each; `cuts.length + 1` is the bin of missing values. */
  readonly bins: Uint8Array;
  /** Ascending. Bin b holds values up to and including cut b, and above cut b - 1. */
  readonly cuts: Float32Array;
}

export function binColumn(values: Float32Array): BinnedColumn {
  const cuts = cutsOf(values);
  const bins = new Uint8Array(values.length);
  const missing = cuts.length + 1;
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (Number.isNaN(value)) {
      bins[row] = missing;
      continue;
    }
    let low = 0;
    let high = cuts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= cuts[middle]!) high = middle;
      else low = middle + 1;
    }
    bins[row] = low;
  }
  return { bins, cuts };
}

function cutsOf(values: Float32Array): Float32Array {
  const step = Math.max(1, Math.floor(values.length / SAMPLE_ROWS_MAX));
  const sample = new Float32Array(Math.ceil(values.length / step));
  let count = 0;
  for (let row = 0; row < values.length; row += step) {
    const value = values[row]!;
    if (!Number.isNaN(value)) sample[count++] = value;
  }
  const sorted = sample.subarray(0, count).sort();
  let distinct = count > 0 ? 1 : 0;
  for (let i = 1; i < count; i++) if (sorted[i] !== sorted[i - 1]) distinct++;
  const cuts: number[] = [];
  // With few distinct values there is a cut between each two; otherwise about as many rows in each bin.
  const most = Math.min(VALUE_BINS_MAX, Math.max(VALUE_BINS_OF_FEW_ROWS, Math.ceil(count / ROWS_PER_BIN)));
  const perBin = distinct <= most ? 0 : count / most;
  let due = perBin;
  for (let i = 1; i < count; i++) {
    if (sorted[i] === sorted[i - 1] || i < due) continue;
    cuts.push(between(sorted[i - 1]!, sorted[i]!));
    due = Math.max(due + perBin, i + perBin / 2);
    if (cuts.length === most - 1) break;
  }
  return Float32Array.from(cuts);
}

/** In the middle of two neighbours, at least `low` and below `high` after rounding. */
function between(low: number, high: number): number {
  const middle = Math.fround(low / 2 + high / 2);
  return middle >= high || middle < low ? low : middle;
}
