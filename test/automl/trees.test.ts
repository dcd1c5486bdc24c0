/** Trees against splits worked out by hand. */
import fc from "fast-check";
import t from "tap";
import type { Sample } from "../../src/automl/model/learner.js";
import { indices, Random } from "../../src/automl/random.js";
import { binColumn } from "../../src/automl/tree/bins.js";
import { fitBoosting } from "../../src/automl/tree/boosting.js";
import { fitForest } from "../../src/automl/tree/forest.js";
import { TreeGrower } from "../../src/automl/tree/grow-tree.js";
import { leafOf } from "../../src/automl/tree/tree.js";

const plain = {
  rounds: 1,
  patience: 1,
  learningRate: 1,
  leaves: 2,
  depth: 9,
  minChildWeight: 1,
  lambda: 0,
  rowShare: 1,
  columnShare: 1,
};

function sampleOf(columns: Float32Array[], target: number[], classes = 0): Sample {
  const rows = indices(target.length);
  return {
    inputs: { columns, binned: () => columns.map(binColumn) },
    train: rows,
    target: Float64Array.from(target),
    classes,
    watch: null,
    random: new Random(1, "test"),
    checkStop: () => {},
  };
}

t.test("bins: a cut between each two values, missing values apart", async (t) => {
  const { bins, cuts } = binColumn(Float32Array.of(3, 1, Number.NaN, 2, 1));
  t.same([...cuts], [1.5, 2.5]);
  t.same([...bins], [2, 0, 3, 1, 0]);
});

t.test("bins: a value and its bin's cuts agree, whatever the values", async () => {
  fc.assert(
    fc.property(fc.float32Array({ minLength: 1, maxLength: 600 }), (values) => {
      const finite = values.map((value) => (Number.isFinite(value) ? value : Number.NaN));
      const { bins, cuts } = binColumn(finite);
      for (let row = 0; row < finite.length; row++) {
        const bin = bins[row]!;
        if (Number.isNaN(finite[row]!)) {
          if (bin !== cuts.length + 1) return false;
        } else if (bin > 0 && !(finite[row]! > cuts[bin - 1]!)) return false;
        else if (bin < cuts.length && !(finite[row]! <= cuts[bin]!)) return false;
      }
      return cuts.length <= 253;
    }),
  );
});

t.test("one split of squared error is where a hand finds it", async (t) => {
  // Mean 4; the greatest gain is between 3 and 10: left mean 1, right mean 10.
  const columns = [Float32Array.of(1, 2, 3, 10)];
  const model = fitBoosting(sampleOf(columns, [0, 1, 2, 13]), plain);
  t.same([...model.predict(columns, indices(4))], [1, 1, 1, 13]);
  const at = [Float32Array.of(6.4, 6.6)];
  t.same([...model.predict(at, indices(2))], [1, 13], "the threshold is the middle, 6.5");
});

t.test("lambda and the learning rate shrink a leaf as the formula says", async (t) => {
  const columns = [Float32Array.of(0, 0, 1, 1)];
  const model = fitBoosting(sampleOf(columns, [0, 0, 10, 10]), { ...plain, learningRate: 0.5, lambda: 2 });
  // Base 5; residual sums of -10 and 10 over weight 2 + lambda 2, times 0.5.
  t.same([...model.predict(columns, indices(4))], [3.75, 3.75, 6.25, 6.25]);
});

t.test("log-loss: the leaf is -G / (H + lambda), on the log-odds", async (t) => {
  const columns = [Float32Array.of(0, 0, 0, 1, 1, 1)];
  const model = fitBoosting(sampleOf(columns, [0, 0, 1, 1, 1, 0], 2), { ...plain, minChildWeight: 0.1 });
  const base = Math.log(3.5 / 3.5);
  const leaf = (positive: number) => base - (3 * 0.5 - positive) / (3 * 0.25);
  const wanted = [1, 1, 1, 2, 2, 2].map((positive) => 1 / (1 + Math.exp(-leaf(positive))));
  const predicted = model.predict(columns, indices(6));
  for (const [row, value] of wanted.entries()) t.ok(Math.abs(predicted[row]! - value) < 1e-6, `row ${row}`);
});

t.test("missing values go where they gain most", async (t) => {
  const columns = [Float32Array.of(1, 2, 3, 4, Number.NaN, Number.NaN)];
  const high = fitBoosting(sampleOf(columns, [0, 0, 9, 9, 9, 9]), plain);
  t.same([...high.predict(columns, indices(6))], [0, 0, 9, 9, 9, 9]);
  const low = fitBoosting(sampleOf(columns, [0, 0, 9, 9, 0, 0]), plain);
  t.same([...low.predict(columns, indices(6))], [0, 0, 9, 9, 0, 0]);
  const apart = fitBoosting(sampleOf(columns, [0, 0, 0, 0, 9, 9]), plain);
  t.same([...apart.predict(columns, indices(6))], [0, 0, 0, 0, 9, 9]);
});

t.test("subtracted histograms give the tree that summed ones give", async (t) => {
  const random = new Random(3, "table");
  const columns = Array.from({ length: 5 }, () =>
    Float32Array.from({ length: 400 }, () => Math.round(random.between(0, 40))),
  );
  const gradients = Float64Array.from({ length: 400 }, () => Math.round(random.between(-50, 50)));
  const hessians = new Float64Array(400).fill(1);
  const binned = columns.map(binColumn);
  const grow = (featuresPerNode: number | null) => {
    const options = {
      leavesMax: 1e6,
      depthMax: 6,
      minChildWeight: 3,
      lambda: 1,
      gainMin: 1e-9,
      featuresPerNode,
      cuts: "best" as const,
    };
    const grower = new TreeGrower(binned, { kind: "gradient", gradients, hessians }, options, random, 400);
    const tree = grower.grow(indices(400), indices(5), 1);
    return columns[0]!.map((_, row) => tree.values[leafOf(tree, 0, columns, row)]!);
  };
  t.same([...grow(null)], [...grow(5)]);
});

t.test("contributions and base add up to the prediction", async (t) => {
  const random = new Random(4, "table");
  const columns = Array.from({ length: 4 }, () => Float32Array.from({ length: 300 }, () => random.next()));
  const values = Array.from({ length: 300 }, (_, row) => 3 * columns[0]![row]! + (columns[1]![row]! > 0.5 ? 2 : 0));
  const sample = sampleOf(columns, values);
  const models = [
    fitBoosting(sample, { ...plain, rounds: 20, learningRate: 0.2, leaves: 8 }),
    fitForest(sample, { trees: 10, featureShare: 0.5, minLeafRows: 2, depth: 12, cuts: "best", rowsMax: 300 }),
  ];
  for (const model of models) {
    const predicted = model.predict(columns, indices(300));
    for (const row of [0, 100, 299]) {
      const { base, contributions } = model.explain(columns, row, 0)!;
      const sum = contributions.reduce((total, part) => total + part, base);
      t.ok(Math.abs(sum - predicted[row]!) < 1e-4, `row ${row}: ${sum} and ${predicted[row]}`);
      t.ok(
        Math.abs(contributions[0]!) + Math.abs(contributions[1]!) >
          Math.abs(contributions[2]!) + Math.abs(contributions[3]!),
      );
    }
  }
});

t.test("several classes: boosting and forests tell three stripes apart, probabilities sum to 1", async (t) => {
  const random = new Random(5, "table");
  const columns = [
    Float32Array.from({ length: 300 }, () => random.between(0, 3)),
    Float32Array.from({ length: 300 }, () => random.next()),
  ];
  const sample = sampleOf(columns, Array.from(columns[0]!, Math.floor), 3);
  for (const model of [
    fitBoosting(sample, { ...plain, rounds: 30, learningRate: 0.3, leaves: 4 }),
    fitForest(sample, { trees: 20, featureShare: 1, minLeafRows: 1, depth: 12, cuts: "best", rowsMax: 300 }),
  ]) {
    const predicted = model.predict(columns, indices(300));
    let wrong = 0;
    for (let row = 0; row < 300; row++) {
      const shares = predicted.subarray(3 * row, 3 * row + 3);
      if (Math.abs(shares[0]! + shares[1]! + shares[2]! - 1) > 1e-5) t.fail(`row ${row} sums to another number`);
      if (shares[sample.target[row]!]! < 0.5) wrong++;
    }
    t.ok(wrong <= 5, `${wrong} rows, near the stripes' edges, are taken for another class`);
  }
});
