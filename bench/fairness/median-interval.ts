/** The median of some measurements with an interval around it that does not assume how they are distributed. */

export interface MedianInterval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** Probability that the interval holds the true median; less than was asked for when there are few measurements. */
  readonly confidence: number;
}

/**
 * Between order statistics: the number of values below the true median is binomial with ½ (Conover, Practical
 * Nonparametric Statistics, §3.2). The narrowest such interval that is symmetric in ranks.
 */
export function medianInterval(values: readonly number[], confidence = 0.95): MedianInterval {
  const sorted = [...values].sort((a, b) => a - b);
  const n = sorted.length;
  const middle = n >>> 1;
  const median = n % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  let outside = 2 * 0.5 ** n;
  let term = 0.5 ** n;
  let rank = 0;
  // Drops the lowest and the highest value as long as what is left is likely enough to hold the median.
  while (rank + 1 < n - rank - 1) {
    term *= (n - rank) / (rank + 1);
    if (outside + 2 * term > 1 - confidence) break;
    outside += 2 * term;
    rank++;
  }
  return { median, low: sorted[rank]!, high: sorted[n - 1 - rank]!, confidence: 1 - outside };
}
