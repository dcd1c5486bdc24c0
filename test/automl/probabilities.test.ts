/** Probabilities lie from 0 to 1, whatever rounding does to sums of shares. */
import t from "tap";
import type { FittedModel } from "../../src/automl/model/learner.js";
import { predictRows, type RowModel } from "../../src/automl/model/row-model.js";
import { Random } from "../../src/automl/random.js";

/** One member that says `predicted` of every input. */
function modelOf(classes: readonly string[], predicted: readonly number[]): RowModel {
  const fitted = { predict: () => Float64Array.from(predicted) } as unknown as FittedModel;
  const members = [{ weight: 1, fitted }];
  const calibration = { method: "none", curves: [] } as const;
  const labelKind = classes.length === 2 ? "boolean" : "text";
  return { classes, labelKind, planned: [], statistics: [], members, calibration } as unknown as RowModel;
}

t.test("of two classes and of several", async (t) => {
  const two = predictRows(modelOf(["false", "true"], [1.0000000000000007, -6.66e-16, 0.25]), [], 3, false);
  t.same([...two.probabilities!], [0, 1, 1, 0, 0.75, 0.25]);
  t.same(two.predictions, [true, false, false]);
  const three = predictRows(modelOf(["a", "b", "c"], [-1e-16, 1.0000000000000002, 0]), [], 1, false);
  t.same([...three.probabilities!], [0, 1, 0]);
  t.same(three.predictions, ["b"]);
});

t.test("they add up to exactly 1, in whatever order", async (t) => {
  const classes = ["a", "b", "c", "d", "e", "f", "g"];
  const random = new Random(7, "shares");
  for (let i = 0; i < 300; i++) {
    const raw = classes.map(() => random.next() ** 4);
    const sum = raw.reduce((a, b) => a + b);
    const shares = predictRows(
      modelOf(
        classes,
        raw.map((share) => share / sum),
      ),
      [],
      1,
      false,
    ).probabilities!;
    for (const order of [[...shares], [...shares].reverse(), [...shares].sort((a, b) => a - b)]) {
      if (order.reduce((a, b) => a + b, 0) !== 1) t.fail(`${order}`);
    }
    if (shares.some((share) => share < 0 || share > 1)) t.fail(`${shares}`);
  }
  const none = predictRows(modelOf(["a", "b", "c"], [0, 0, 0]), [], 1, false).probabilities!;
  t.equal(
    none.reduce((a, b) => a + b, 0),
    1,
  );
});
