/** Forests: which features a node looks at, cuts by chance, classes that no leaf has, and committees of folds. */
import t from "tap";
import { Committee } from "../../src/automl/model/committee.js";
import type { Sample, StoredArray } from "../../src/automl/model/learner.js";
import { loadFitted } from "../../src/automl/model/load-fitted.js";
import { indices, Random } from "../../src/automl/random.js";
import { binColumn } from "../../src/automl/tree/bins.js";
import { fitForest } from "../../src/automl/tree/forest.js";
import { randomSplit } from "../../src/automl/tree/random-split.js";

const plain = { trees: 20, featureShare: 0, minLeafRows: 1, depth: 12, rowsMax: 300 } as const;

function sampleOf(columns: Float32Array[], target: ArrayLike<number>, classes: number, seed = 1): Sample {
  return {
    inputs: { columns, binned: () => columns.map(binColumn) },
    train: indices(target.length),
    target: Float64Array.from(target),
    classes,
    watch: null,
    random: new Random(seed, "test"),
    checkStop: () => {},
  };
}

/** One column tells the three classes, nine others have one value. */
function stripes(): Sample {
  const random = new Random(5, "stripes");
  const telling = Float32Array.from({ length: 300 }, () => random.between(0, 3));
  const same = Array.from({ length: 9 }, () => new Float32Array(300).fill(7));
  return sampleOf([...same, telling], Array.from(telling, Math.floor), 3);
}

t.test("a node looks at features whose values differ in it, with either kind of cuts", async (t) => {
  const sample = stripes();
  for (const cuts of ["best", "random"] as const) {
    const predicted = fitForest(sample, { ...plain, cuts }).predict(sample.inputs.columns, indices(300));
    const right = indices(300).filter((row) => predicted[3 * row + sample.target[row]!]! > 0.5).length;
    t.ok(right >= 290, `${cuts}: ${right} of 300 right`);
  }
});

t.test("a cut by chance leaves rows on both sides, and its sums are theirs", async (t) => {
  const column = binColumn(Float32Array.of(1, 2, 3, 4, 5, 6));
  const rows = indices(6);
  const statistics = { kind: "classes", labels: Uint8Array.of(0, 0, 0, 1, 1, 1), classes: 2 } as const;
  const totals = Float64Array.of(3, 3, 6);
  const rules = { minChildWeight: 1, gainMin: 1e-12 };
  const seen = new Set<number>();
  for (let seed = 0; seed < 50; seed++) {
    const random = new Random(seed, "cut");
    const range = { rows, start: 0, end: 6 };
    const split = randomSplit([column], statistics, range, Int32Array.of(0), totals, rules, random);
    if (split === null) return t.fail(`no split with seed ${seed}`);
    seen.add(split.bin);
    const left = split.bin + 1;
    t.same([...split.left], [Math.min(left, 3), Math.max(0, left - 3), left]);
  }
  t.same([...seen].sort(), [0, 1, 2, 3, 4]);
});

t.test("a column of one value and holes is cut between both", async (t) => {
  const column = binColumn(Float32Array.of(1, 1, Number.NaN, Number.NaN));
  const gradients = Float64Array.of(1, 1, -1, -1);
  const statistics = { kind: "gradient", gradients, hessians: new Float64Array(4).fill(1) } as const;
  const range = { rows: indices(4), start: 0, end: 4 };
  const rules = { minChildWeight: 1, gainMin: 1e-12 };
  const totals = Float64Array.of(0, 4);
  const split = randomSplit([column], statistics, range, Int32Array.of(0), totals, rules, new Random(1, "cut"));
  t.match(split, { feature: 0, missingLeft: false });
  t.same([...split!.left], [2, 2]);
});

t.test("no class is impossible because no leaf has it", async (t) => {
  const sample = stripes();
  const predicted = fitForest(sample, { ...plain, cuts: "best" }).predict(sample.inputs.columns, indices(300));
  t.ok(predicted.every((share) => share > 0.01));
});

t.test("a committee answers with the mean of its members, also when it was stored", async (t) => {
  const sample = stripes();
  const members = [1, 2].map((seed) =>
    fitForest({ ...sample, random: new Random(seed, "member") }, { ...plain, cuts: "random" }),
  );
  const { columns } = sample.inputs;
  const [one, other] = members.map((member) => member.predict(columns, indices(300)));
  const committee = new Committee(members);
  const arrays: StoredArray[] = [];
  const saved = JSON.parse(JSON.stringify(committee.save({ add: (array) => arrays.push(array) - 1 })));
  for (const each of [committee, loadFitted(saved, arrays)]) {
    const together = each.predict(columns, indices(300));
    t.ok(together.every((share, i) => Math.abs(share - (one![i]! + other![i]!) / 2) < 1e-12));
    const { base, contributions } = each.explain(columns, 7, 1)!;
    const sum = contributions.reduce((total, part) => total + part, base);
    t.ok(Math.abs(sum - together[3 * 7 + 1]!) < 1e-4, "contributions and base add up to it");
  }
});
