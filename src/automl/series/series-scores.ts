/** How good forecasts are. No state. */
import { regressionScores, type Scores } from "../metrics.js";

/**
 * `scale`: the mean distance of a value from the one a season before, among those learned from; the scaled error (MASE,
 * Hyndman and Koehler 2006) is 1 for forecasts that are as wrong. sMAPE in percent, from 0 to 200.
 */
export function seriesScores(actual: Float64Array, predicted: Float64Array, scale: number): Scores {
  const { rmse, mae } = regressionScores(actual, predicted);
  let percent = 0;
  for (let i = 0; i < actual.length; i++) {
    const size = Math.abs(actual[i]!) + Math.abs(predicted[i]!);
    if (size > 0) percent += (200 * Math.abs(actual[i]! - predicted[i]!)) / size;
  }
  return { mase: mae! / scale, smape: percent / actual.length, rmse, mae };
}

/** Never 0, so that a series that repeats itself exactly can be scored. */
export function seasonalScale(values: Float64Array, season: number): number {
  let sum = 0;
  for (let i = season; i < values.length; i++) sum += Math.abs(values[i]! - values[i - season]!);
  return Math.max(sum / Math.max(1, values.length - season), 1e-9);
}
