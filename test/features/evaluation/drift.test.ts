/** Drift and calibration against values that were computed by hand. */
import t from "tap";
import { calibrationBins, expectedError } from "../../../src/automl/metrics.js";
import { Random } from "../../../src/automl/random.js";
import { driftOfNumbers, driftOfTexts, driftVerdict, stabilityIndex } from "../../../src/features/evaluation/drift.js";
import { sortedInSteps } from "../../../src/features/evaluation/sort-in-steps.js";

function run<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
const near = (t: Pick<typeof import("tap").default, "ok">, found: number, wanted: number, within = 1e-9) =>
  t.ok(Math.abs(found - wanted) < within, `${found}, wanted ${wanted}`);

t.test("the stability index", async (t) => {
  near(t, stabilityIndex([0.5, 0.5], [0.5, 0.5]), 0);
  // (.8 - .5) ln(.8/.5) + (.2 - .5) ln(.2/.5)
  near(t, stabilityIndex([0.5, 0.5], [0.8, 0.2]), 0.3 * Math.log(1.6) - 0.3 * Math.log(0.4));
  t.same([0.099, 0.1, 0.25, 0.251].map(driftVerdict), ["stable", "some", "some", "much"]);
});

t.test("texts", async (t) => {
  const was = [..."aaaaabbbbb"];
  const is = [..."aaaaaaaabb"];
  near(t, run(driftOfTexts(was, is)).psi, 0.3 * Math.log(1.6) - 0.3 * Math.log(0.4));
  const same = run(driftOfTexts(was, [...was].reverse()));
  t.match(same, { psi: 0, verdict: "stable", missing: 0, reference_missing: 0 });
  near(t, same.psi_by_chance, 1 / 10 + 1 / 10);
  const fresh = run(driftOfTexts(was, [..."cccccccccc"]));
  t.equal(fresh.verdict, "much", "a category that was not there");
  const lost = run(driftOfTexts(was, [null, null, null, null, null, ..."aabbb"]));
  t.match(lost, { missing: 0.5, verdict: "much" });
});

t.test("numbers", async (t) => {
  const random = new Random(1, "drift");
  const draw = (count: number, mean: number) => Float64Array.from({ length: count }, () => random.normal() + mean);
  const was = draw(20_000, 0);
  const still = run(driftOfNumbers(was, draw(20_000, 0)));
  t.equal(still.verdict, "stable");
  t.ok(still.psi < 10 * still.psi_by_chance && still.ks! < 0.02 && still.ks_p_value! > 0.001, JSON.stringify(still));
  const moved = run(driftOfNumbers(was, draw(20_000, 1)));
  t.equal(moved.verdict, "much");
  // Of two normal distributions one apart: 2 Φ(½) - 1.
  near(t, moved.ks!, 0.3829, 0.02);
  t.ok(moved.ks_p_value! < 1e-9);
  const few = run(driftOfNumbers(Float64Array.of(1, 2, 3, 4), Float64Array.of(3, 4, 5, 6)));
  near(t, few.ks!, 0.5);
  const same = run(driftOfNumbers(Float64Array.of(5, 5, 5), Float64Array.of(5, 5)));
  t.match(same, { psi: 0, ks: 0, ks_p_value: 1, verdict: "stable" });
  const none = run(driftOfNumbers(Float64Array.of(1, 2), Float64Array.of(Number.NaN, Number.NaN)));
  t.match(none, { missing: 1, verdict: "much" });
  t.equal(none.ks, undefined, "nothing is there to compare");
});

t.test("a sort in steps", async (t) => {
  const random = new Random(2, "sort");
  for (const count of [0, 1, 4096, 4097, 13_000]) {
    const numbers = Float64Array.from({ length: count }, () => random.below(5000));
    t.same(run(sortedInSteps(numbers)), numbers.toSorted(), `${count} numbers`);
  }
});

t.test("calibration", async (t) => {
  const bins = calibrationBins(Float64Array.of(1, 0, 1, 1), Float64Array.of(0.95, 0.95, 0.15, 0.1), 2);
  t.same(
    bins.map(({ rows }) => rows),
    [0, 2, 0, 0, 0, 0, 0, 0, 0, 2],
  );
  near(t, bins[9]!.probability, 0.95);
  near(t, bins[9]!.frequency, 0.5);
  near(t, expectedError(bins), (2 * 0.45 + 2 * (1 - 0.125)) / 4);
  const several = calibrationBins(Float64Array.of(2, 0), Float64Array.of(0.1, 0.2, 0.7, 0.1, 0.8, 0.1), 3);
  near(t, expectedError(several), (0.3 + 0.8) / 2);
});
