/** Columns as rows of numbers around zero, as linear models and networks want them. No state. */

export interface Scaling {
  readonly means: Float64Array;
  /** One over the standard deviation; 0 for a column that does not vary. */
  readonly factors: Float64Array;
}

/** From the given rows only; missing values do not count. */
export function scalingOf(columns: readonly Float32Array[], rows: Int32Array): Scaling {
  const means = new Float64Array(columns.length);
  const factors = new Float64Array(columns.length);
  columns.forEach((values, column) => {
    let count = 0;
    let mean = 0;
    let squares = 0;
    // Welford 1962.
    for (const row of rows) {
      const value = values[row]!;
      if (Number.isNaN(value)) continue;
      count++;
      const away = value - mean;
      mean += away / count;
      squares += away * (value - mean);
    }
    const deviation = count > 1 ? Math.sqrt(squares / count) : 0;
    means[column] = mean;
    factors[column] = deviation > 1e-12 * Math.max(1, Math.abs(mean)) ? 1 / deviation : 0;
  });
  return { means, factors };
}

/** Standard deviations beyond which a value counts as that far: one wild value must not decide a prediction. */
const REACH = 8;

/** Row-major, rows × columns; missing values stand at the mean. */
export function standardised(columns: readonly Float32Array[], rows: Int32Array, scaling: Scaling): Float32Array {
  const width = columns.length;
  const matrix = new Float32Array(rows.length * width);
  for (let column = 0; column < width; column++) {
    const values = columns[column]!;
    const mean = scaling.means[column]!;
    const factor = scaling.factors[column]!;
    for (let i = 0; i < rows.length; i++) {
      const scaled = (values[rows[i]!]! - mean) * factor;
      matrix[i * width + column] = Number.isNaN(scaled) ? 0 : Math.max(-REACH, Math.min(REACH, scaled));
    }
  }
  return matrix;
}
