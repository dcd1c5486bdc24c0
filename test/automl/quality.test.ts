/** Metrics, calibration, linear models, networks and clusters against known answers. */
import fc from "fast-check";
import tap from "tap";
import { applyCalibration, calibrate, fitIsotonic, fitPlatt, valueAt } from "../../src/automl/calibration.js";
import { kMeans, silhouette } from "../../src/automl/cluster/k-means.js";
import { principalAxes, project } from "../../src/automl/features/reduce-vectors.js";
import { categoryStatistics, encodeForFit } from "../../src/automl/features/target-encoding.js";
import { fitLinear } from "../../src/automl/linear/linear-model.js";
import { areaUnderCurve, calibrationError, scoresOf } from "../../src/automl/metrics.js";
import { fitNetwork } from "../../src/automl/network/network.js";
import { indices, Random } from "../../src/automl/random.js";
import { selectEnsemble } from "../../src/automl/search/ensemble.js";
import { stratifiedFolds, timeOrderedFolds } from "../../src/automl/search/folds.js";
import { intervalSpread } from "../../src/automl/series/interval-spread.js";
import { seasonalScale, seriesScores } from "../../src/automl/series/series-scores.js";

const of = (...values: number[]) => Float64Array.from(values);
const near = (t: Pick<typeof tap, "ok">, actual: number, wanted: number, name: string, by = 1e-9) =>
  t.ok(Math.abs(actual - wanted) <= by, `${name}: ${actual}, wanted ${wanted}`);

tap.test("metrics of two classes", async (t) => {
  // Of 4 pairs of a positive and a negative, 3 are in order (scikit-learn's own example).
  t.equal(areaUnderCurve(of(0.1, 0.4, 0.35, 0.8), of(0, 0, 1, 1)), 0.75);
  t.equal(areaUnderCurve(of(0.5, 0.5, 0.5), of(0, 1, 1)), 0.5);
  const scores = scoresOf("binary_classification", of(1, 0, 1), of(0.9, 0.2, 0.4), 2);
  near(t, scores.log_loss!, -(Math.log(0.9) + Math.log(0.8) + Math.log(0.4)) / 3, "log-loss");
  near(t, scores.brier!, (0.01 + 0.04 + 0.36) / 3, "Brier");
  near(t, scores.accuracy!, 2 / 3, "accuracy");
  near(t, scores.f1!, 2 / 3, "F1");
});

tap.test("metrics of three classes and of values", async (t) => {
  const p = of(0.8, 0.1, 0.1, 0.2, 0.5, 0.3, 0.3, 0.4, 0.3);
  const scores = scoresOf("multiclass_classification", of(0, 1, 2), p, 3);
  near(t, scores.accuracy!, 2 / 3, "accuracy");
  near(t, scores.log_loss!, -(Math.log(0.8) + Math.log(0.5) + Math.log(0.3)) / 3, "log-loss");
  near(t, scores.f1!, (1 + 2 / 3 + 0) / 3, "F1");
  const values = scoresOf("regression", of(1, 2, 3, 4), of(1, 2, 3, 6), 0);
  near(t, values.rmse!, 1, "RMSE");
  near(t, values.mae!, 0.5, "MAE");
  near(t, values.r2!, 0.2, "R2");
  near(t, calibrationError(of(1, 0, 1, 1), of(0.75, 0.75, 0.75, 0.75), 2), 0, "ECE of true probabilities");
  near(t, calibrationError(of(0, 0, 1, 1), of(0.95, 0.95, 0.95, 0.95), 2), 0.45, "ECE of bold ones");
});

tap.test("AUC is the share of ordered pairs, for any scores", async () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.boolean()), { minLength: 2, maxLength: 60 }),
      (rows) => {
        const positives = rows.filter(([, is]) => is);
        const negatives = rows.filter(([, is]) => !is);
        if (positives.length === 0 || negatives.length === 0) return true;
        let ordered = 0;
        for (const [p] of positives) for (const [n] of negatives) ordered += p > n ? 1 : p === n ? 0.5 : 0;
        const auc = areaUnderCurve(of(...rows.map(([score]) => score)), of(...rows.map(([, is]) => (is ? 1 : 0))));
        return Math.abs(auc - ordered / (positives.length * negatives.length)) < 1e-9;
      },
    ),
  );
});

tap.test("isotonic regression pools adjacent violators", async (t) => {
  // The textbook case 1, 3, 2, 4 in shares of ten rows each: the middle two are pooled.
  const scores: number[] = [];
  const hits: number[] = [];
  for (const [score, share] of [
    [0.2, 1],
    [0.4, 3],
    [0.6, 2],
    [0.8, 4],
  ] as const) {
    for (let row = 0; row < 10; row++) {
      scores.push(score);
      hits.push(row < share ? 1 : 0);
    }
  }
  const curve = fitIsotonic(of(...scores), of(...hits));
  near(t, valueAt(curve, 0.2), 0.1, "first");
  near(t, valueAt(curve, 0.4), 0.25, "pooled");
  near(t, valueAt(curve, 0.6), 0.25, "pooled");
  near(t, valueAt(curve, 0.8), 0.4, "last");
  near(t, valueAt(curve, 0.3), 0.175, "between");
  near(t, valueAt(curve, 0.99), 0.4, "beyond");
});

tap.test("isotonic curves never fall", async () => {
  const row = fc.tuple(fc.float({ min: 0, max: 1, noNaN: true }), fc.boolean());
  fc.assert(
    fc.property(fc.array(row, { minLength: 2, maxLength: 80 }), (rows) => {
      const curve = fitIsotonic(of(...rows.map(([p]) => p)), of(...rows.map(([, is]) => (is ? 1 : 0))));
      const values = Array.from({ length: 101 }, (_, i) => valueAt(curve, i / 100));
      return values.every((value, i) => value > 0 && value < 1 && (i === 0 || value >= values[i - 1]! - 1e-12));
    }),
  );
});

tap.test("Platt's sigmoid takes overconfidence back", async (t) => {
  const random = new Random(1, "platt");
  const truth = Float64Array.from({ length: 4000 }, () => random.between(-2, 2));
  const hits = truth.map((z) => (random.next() < 1 / (1 + Math.exp(-z)) ? 1 : 0));
  const bold = truth.map((z) => 1 / (1 + Math.exp(-(3 * z + 1))));
  const curve = fitPlatt(bold, hits);
  if (curve.kind !== "platt") return t.fail("not Platt's");
  near(t, curve.slope, 1 / 3, "slope", 0.03);
  near(t, curve.intercept, -1 / 3, "intercept", 0.1);
});

tap.test("several classes are calibrated to sum to 1", async (t) => {
  const p = of(0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.3, 0.3, 0.4, 0.6, 0.2, 0.2);
  const curves = calibrate("isotonic", p, of(0, 1, 2, 1), 3);
  const calibrated = applyCalibration(curves, p, 3);
  for (let row = 0; row < 4; row++)
    near(t, calibrated[3 * row]! + calibrated[3 * row + 1]! + calibrated[3 * row + 2]!, 1, "sum");
});

const sampleOf = (columns: Float32Array[], target: Float64Array, classes: number) => ({
  inputs: { columns, binned: () => [] },
  train: indices(target.length),
  target,
  classes,
  watch: null,
  random: new Random(1, "test"),
  checkStop: () => {},
});

tap.test("linear: without a penalty the line through the points, with one a flatter line", async (t) => {
  const x = Float32Array.from({ length: 50 }, (_, i) => i);
  const y = Float64Array.from(x, (value) => 3 * value - 7);
  const predicted = fitLinear(sampleOf([x], y, 0), { penalty: 0, stepsMax: 100 }).predict([x], indices(50));
  predicted.forEach((value, i) => {
    if (Math.abs(value - y[i]!) > 1e-3) t.fail(`row ${i}: ${value}, wanted ${y[i]}`);
  });
  // Ridge on one standardised column: the slope is divided by 1 + penalty.
  const flat = fitLinear(sampleOf([x], y, 0), { penalty: 1, stepsMax: 100 }).predict([x], Int32Array.of(0, 49));
  near(t, (flat[1]! - flat[0]!) / 49, 1.5, "slope", 1e-3);
});

tap.test("logistic: the optimum's mean probability is the share of each class", async (t) => {
  const random = new Random(2, "logistic");
  const x = Float32Array.from({ length: 500 }, () => random.normal());
  for (const classes of [2, 3]) {
    const y = Float64Array.from(x, (value) =>
      Math.max(0, Math.min(classes - 1, Math.round(value + 0.5 * random.normal() + 0.5))),
    );
    const predicted = fitLinear(sampleOf([x], y, classes), { penalty: 0, stepsMax: 200 }).predict([x], indices(500));
    const outputs = classes === 2 ? 1 : classes;
    for (let k = 0; k < outputs; k++) {
      const is = classes === 2 ? 1 : k;
      const mean = y.reduce((sum, _, row) => sum + predicted[row * outputs + k]!, 0) / 500;
      near(t, mean, y.filter((each) => each === is).length / 500, `class ${is} of ${classes}`, 1e-4);
    }
  }
});

tap.test("a network learns what no line can: exclusive or", async (t) => {
  const random = new Random(3, "xor");
  const columns = [0, 1].map(() => Float32Array.from({ length: 600 }, () => random.between(-1, 1)));
  const y = Float64Array.from({ length: 600 }, (_, row) => (columns[0]![row]! > 0 !== columns[1]![row]! > 0 ? 1 : 0));
  const parameters = { hidden: [16], learningRate: 0.01, decay: 0, batch: 32, epochs: 80, patience: 20, rowsMax: 1000 };
  const predicted = fitNetwork(sampleOf(columns, y, 2), parameters).predict(columns, indices(600));
  const right = y.filter((is, row) => (predicted[row]! > 0.5 ? 1 : 0) === is).length;
  t.ok(right > 560, `${right} of 600`);
});

tap.test("target encoding: the drawn mean, and no row sees its own target", async (t) => {
  const codes = Int32Array.of(0, 0, 0, 1, 1, -1);
  const { means, prior } = categoryStatistics(codes, 2, [of(1, 1, 0, 0, 0, 1)], indices(6));
  near(t, prior[0]!, 0.5, "prior");
  near(t, means[0]!, (2 + 10 * 0.5) / 13, "first category", 1e-6);
  near(t, means[1]!, (0 + 10 * 0.5) / 12, "second category", 1e-6);
  // A key of a value each: crossed, its encoding tells nothing of the target.
  const target = Float64Array.from({ length: 500 }, (_, row) => row % 2);
  const [column] = encodeForFit(indices(500), 500, [target], indices(500), new Random(1, "encoding"));
  t.ok(areaUnderCurve(Float64Array.from(column!), target) < 0.6);
});

tap.test("principal axes find the plane that the vectors lie in", async (t) => {
  const random = new Random(5, "plane");
  const values = new Float32Array(300 * 8);
  for (let row = 0; row < 300; row++) {
    const [a, b] = [random.normal(), random.normal()];
    for (let i = 0; i < 8; i++) values[row * 8 + i] = a * Math.sin(i) + b * Math.cos(2 * i) + 1;
  }
  const axes = principalAxes(values, 8, 2, random);
  const columns = project(values, axes);
  let worst = 0;
  for (let row = 0; row < 300; row++) {
    for (let i = 0; i < 8; i++) {
      const back = axes.mean[i]! + axes.axes[i]! * columns[0]![row]! + axes.axes[8 + i]! * columns[1]![row]!;
      worst = Math.max(worst, Math.abs(back - values[row * 8 + i]!));
    }
  }
  t.ok(worst < 1e-3, `${worst}`);
});

tap.test("k-means finds three heaps, their silhouette is high", async (t) => {
  const random = new Random(6, "heaps");
  const matrix = new Float32Array(300 * 2);
  for (let row = 0; row < 300; row++) {
    matrix[2 * row] = 10 * (row % 3) + random.normal();
    matrix[2 * row + 1] = 10 * ((row % 3) % 2) + random.normal();
  }
  const { labels } = kMeans(matrix, 2, 3, random, () => {});
  for (let row = 3; row < 300; row++) if (labels[row] !== labels[row % 3]) t.fail(`row ${row} is in another cluster`);
  t.equal(new Set(labels).size, 3);
  t.ok(silhouette(matrix, 2, labels, random) > 0.7);
});

tap.test("folds: classes are even, time goes forward", async (t) => {
  const target = Float64Array.from({ length: 100 }, (_, row) => (row < 20 ? 1 : 0));
  const folds = stratifiedFolds(target, 2, 5, new Random(1, "folds"));
  t.same(
    folds.map(({ valid }) => valid.filter((row) => target[row] === 1).length),
    [4, 4, 4, 4, 4],
  );
  t.same(
    folds.flatMap(({ valid }) => [...valid]).sort((a, b) => a - b),
    [...indices(100)],
  );
  for (const { train, valid } of folds) t.equal(new Set([...train, ...valid]).size, 100);
  const times = Float64Array.from({ length: 60 }, (_, row) => (row * 37) % 60);
  for (const { train, valid } of timeOrderedFolds(times, 4)) {
    t.ok(Math.max(...[...train].map((row) => times[row]!)) < Math.min(...[...valid].map((row) => times[row]!)));
  }
});

tap.test("an ensemble takes what betters it, and the best alone when nothing does", async (t) => {
  const target = of(0, 0, 0, 0);
  const rmse = (wanted: Float64Array, predicted: Float64Array) => scoresOf("regression", wanted, predicted, 0).rmse!;
  const opposite = selectEnsemble([of(1, 1, 1, 1), of(-1.1, -1.1, -1.1, -1.1)], target, 1, rmse);
  t.same(
    opposite.map(({ member }) => member),
    [0, 1],
  );
  t.same(selectEnsemble([of(1, 1, 1, 1), of(2, 2, 2, 2)], target, 1, rmse), [{ member: 0, weight: 1 }]);
});

tap.test("scores and intervals of forecasts", async (t) => {
  t.equal(seasonalScale(of(1, 2, 3, 4), 1), 1);
  const scores = seriesScores(of(10, 20), of(12, 16), 2);
  near(t, scores.mase!, 1.5, "MASE");
  near(t, scores.smape!, ((200 * 2) / 22 + (200 * 4) / 36) / 2, "sMAPE");
  // Ten stretches of one step with errors 1 to 10: nine of ten lie within 9 or 10.
  const values = Float64Array.from({ length: 10 }, (_, i) => i + 1);
  const [half] = intervalSpread(values, new Float64Array(10), [...values.keys()], 1, 0.9);
  near(t, half!, 10, "half the width");
});
