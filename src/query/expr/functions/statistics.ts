/**
 * Variance, standard deviation and the regression aggregates. Exact over integers and numeric (sums of bigint-based
 * Numeric); Youngs–Cramer updates over floats, as PostgreSQL's float.c does.
 */
import { Numeric } from "../../../values/numeric.js";
import { sqrtToScale } from "../../../values/numeric-math.js";
import { FLOAT4, FLOAT8, INT2, INT4, INT8, NUMERIC, type Value } from "../../../values/values.js";
import type { AggregateFunction } from "../expr.js";
import { aggregate } from "./aggregate-steps.js";

/** Of the variance of exact numbers: how many there are, Σx and Σx². */
export interface ExactState {
  count: number;
  sum: Numeric;
  squares: Numeric;
}

/** (N Σx² − (Σx)²) / (N · divisor), at the scale of PostgreSQL's numeric_stddev_internal. */
function exactVariance(state: ExactState, sample: boolean): Numeric | null {
  if (state.count === 0 || (sample && state.count === 1)) return null;
  if (!state.sum.isFinite() || !state.squares.isFinite()) return Numeric.NAN;
  const count = Numeric.fromInteger(state.count);
  const numerator = count.mul(state.squares).sub(state.sum.mul(state.sum));
  if (numerator.signum() <= 0) return Numeric.ZERO;
  return numerator.div(count.mul(Numeric.fromInteger(sample ? state.count - 1 : state.count)));
}

function exact(name: string, sample: boolean, root: boolean): AggregateFunction[] {
  const steps = (convert: (value: never) => Numeric) => ({
    init: (): ExactState => ({ count: 0, sum: Numeric.ZERO, squares: Numeric.ZERO }),
    step(state: ExactState, value: never) {
      const x = convert(value);
      state.count++;
      state.sum = state.sum.add(x);
      state.squares = state.squares.add(x.mul(x));
      return state;
    },
    result(state: ExactState) {
      const variance = exactVariance(state, sample);
      // A deviation has as many digits as the variance.
      return root && variance?.isFinite() === true ? sqrtToScale(variance, variance.scale) : variance;
    },
  });
  const integers = steps((value: number | bigint) => Numeric.fromInteger(value));
  const inverse = (state: ExactState, value: number | bigint) => {
    const x = Numeric.fromInteger(value);
    state.count--;
    state.sum = state.sum.sub(x);
    state.squares = state.squares.sub(x.mul(x));
    return state;
  };
  const moving = { ...integers, inverse };
  return [
    ...[INT2, INT4, INT8].map((type) => aggregate(name, [type], NUMERIC, { ...integers, moving })),
    aggregate(
      name,
      [NUMERIC],
      NUMERIC,
      steps((value: Numeric) => value),
    ),
  ];
}

interface FloatState {
  count: number;
  sum: number;
  /** Σ(x − mean)². */
  deviations: number;
}

function addFloat(state: FloatState, value: number): FloatState {
  state.count++;
  state.sum += value;
  if (state.count > 1) {
    const difference = value * state.count - state.sum;
    state.deviations += (difference * difference) / (state.count * (state.count - 1));
  } else if (!Number.isFinite(value)) state.deviations = Number.NaN;
  return state;
}

function float(name: string, sample: boolean, root: boolean): AggregateFunction[] {
  const steps = {
    init: (): FloatState => ({ count: 0, sum: 0, deviations: 0 }),
    step: addFloat,
    result(state: FloatState) {
      const divisor = sample ? state.count - 1 : state.count;
      if (divisor <= 0) return null;
      const variance = state.deviations / divisor;
      return root ? Math.sqrt(variance) : variance;
    },
  };
  return [FLOAT4, FLOAT8].map((type) => aggregate(name, [type], FLOAT8, steps));
}

const both = (name: string, sample: boolean, root: boolean) => [
  ...exact(name, sample, root),
  ...float(name, sample, root),
];

/** Running sums over pairs (Y, X). */
interface PairState {
  count: number;
  sumX: number;
  sumY: number;
  xx: number;
  yy: number;
  xy: number;
}

function addPair(state: PairState, y: number, x: number): PairState {
  state.count++;
  state.sumX += x;
  state.sumY += y;
  if (state.count > 1) {
    const dx = x * state.count - state.sumX;
    const dy = y * state.count - state.sumY;
    const scale = 1 / (state.count * (state.count - 1));
    state.xx += dx * dx * scale;
    state.yy += dy * dy * scale;
    state.xy += dx * dy * scale;
  } else if (!Number.isFinite(x) || !Number.isFinite(y)) {
    state.xx = Number.isFinite(x) ? 0 : Number.NaN;
    state.yy = Number.isFinite(y) ? 0 : Number.NaN;
    state.xy = Number.NaN;
  }
  return state;
}

function regression(name: string, result: (state: PairState) => Value): AggregateFunction {
  return aggregate(name, [FLOAT8, FLOAT8], name === "regr_count" ? INT8 : FLOAT8, {
    init: (): PairState => ({ count: 0, sumX: 0, sumY: 0, xx: 0, yy: 0, xy: 0 }),
    step: addPair,
    result,
  });
}

/** NULL for no pairs. */
const some = (result: (state: PairState) => number | null) => (state: PairState) =>
  state.count === 0 ? null : result(state);

function determination(state: PairState): number | null {
  if (state.xx === 0) return null;
  return state.yy === 0 ? 1 : (state.xy * state.xy) / (state.xx * state.yy);
}

export const STATISTICS: readonly AggregateFunction[] = [
  ...["variance", "var_samp"].flatMap((name) => both(name, true, false)),
  ...both("var_pop", false, false),
  ...["stddev", "stddev_samp"].flatMap((name) => both(name, true, true)),
  ...both("stddev_pop", false, true),
  regression("regr_count", (state) => state.count),
  regression(
    "regr_sxx",
    some((state) => state.xx),
  ),
  regression(
    "regr_syy",
    some((state) => state.yy),
  ),
  regression(
    "regr_sxy",
    some((state) => state.xy),
  ),
  regression(
    "regr_avgx",
    some((state) => state.sumX / state.count),
  ),
  regression(
    "regr_avgy",
    some((state) => state.sumY / state.count),
  ),
  regression("regr_r2", some(determination)),
  regression(
    "regr_slope",
    some((state) => (state.xx === 0 ? null : state.xy / state.xx)),
  ),
  regression(
    "regr_intercept",
    some((state) => (state.xx === 0 ? null : (state.sumY - (state.sumX * state.xy) / state.xx) / state.count)),
  ),
  regression(
    "covar_pop",
    some((state) => state.xy / state.count),
  ),
  regression("covar_samp", (state) => (state.count < 2 ? null : state.xy / (state.count - 1))),
  regression(
    "corr",
    some((state) => (state.xx === 0 || state.yy === 0 ? null : state.xy / Math.sqrt(state.xx * state.yy))),
  ),
];
