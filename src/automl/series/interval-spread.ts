/** Measures how far values are from their forecast, by step. Called by train-series.ts; no state. */

/**
 * Half the width of the interval that holds `coverage` of the values: the errors of the validated stretches, as shares
 * of the mean error at their step (which never falls from step to step), give the share to multiply it with. A
 * split-conformal interval (Lei et al. 2018) with the step's mean error as the scale.
 */
export function intervalSpread(
  values: Float64Array,
  predicted: Float64Array,
  origins: readonly number[],
  horizon: number,
  coverage: number,
): number[] {
  const errors = origins.map((origin, i) =>
    Array.from({ length: horizon }, (_, ahead) => Math.abs(values[origin + ahead]! - predicted[i * horizon + ahead]!)),
  );
  const means = Array.from(
    { length: horizon },
    (_, ahead) => errors.reduce((sum, each) => sum + each[ahead]!, 0) / errors.length,
  );
  const steady = pooled(means).map((mean) => Math.max(mean, 1e-12));
  const shares = errors.flatMap((each) => each.map((error, ahead) => error / steady[ahead]!)).sort((a, b) => a - b);
  const place = Math.min(shares.length - 1, Math.ceil(coverage * (shares.length + 1)) - 1);
  return steady.map((mean) => mean * shares[place]!);
}

/** The nearest non-decreasing sequence: neighbours that fall are averaged. */
function pooled(values: readonly number[]): number[] {
  const blocks: { sum: number; count: number }[] = [];
  for (const value of values) {
    let block = { sum: value, count: 1 };
    for (
      let last = blocks.at(-1);
      last !== undefined && last.sum * block.count > block.sum * last.count;
      last = blocks.at(-1)
    ) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count));
}
