/** Figures of retrieval against values that were computed by hand. */
import t from "tap";
import { intervalOfMean, intervalOfShare, quantileOf, resampled } from "../../../src/features/evaluation/intervals.js";
import {
  measuresOf,
  ndcg,
  precision,
  recall,
  reciprocalRank,
} from "../../../src/features/evaluation/retrieval-metrics.js";
import { differenceOf } from "../../../src/features/evaluation/verdict.js";

const near = (t: Tap, found: number, wanted: number, what: string) =>
  t.ok(Math.abs(found - wanted) < 1e-9, `${what}: ${found}, wanted ${wanted}`);
type Tap = Pick<typeof t, "ok">;

const RELEVANT = new Map([
  ["a", 2],
  ["b", 1],
  ["c", 1],
  ["zero", 0],
]);

t.test("of one question", async (t) => {
  const found = ["x", "a", "zero", "b"];
  near(t, recall(found, RELEVANT, 1), 0, "recall@1");
  near(t, recall(found, RELEVANT, 4), 2 / 3, "recall@4");
  near(t, precision(found, RELEVANT, 4), 2 / 4, "precision@4");
  near(t, precision(["a"], RELEVANT, 10), 1 / 10, "places that are left empty are misses");
  near(t, reciprocalRank(found, RELEVANT, 10), 1 / 2, "the first that is relevant stands second");
  near(t, reciprocalRank(found, RELEVANT, 1), 0, "beyond the list");
  // 3/log2(3) + 1/log2(5), of 3/log2(2) + 1/log2(3) + 1/log2(4).
  const gain = 3 / Math.log2(3) + 1 / Math.log2(5);
  near(t, ndcg(found, RELEVANT, 10), gain / (3 + 1 / Math.log2(3) + 0.5), "nDCG@10");
  near(t, ndcg(found, RELEVANT, 2), 3 / Math.log2(3) / (3 + 1 / Math.log2(3)), "nDCG@2 is of the two best");
  near(t, ndcg(["a", "c", "b"], RELEVANT, 10), 1, "the best order");
  near(t, ndcg([], RELEVANT, 10), 0, "nothing found");
});

t.test("which figures there are", async (t) => {
  t.same([...measuresOf(10).keys()], ["recall@1", "recall@5", "recall@10", "precision@10", "ndcg@10", "mrr", "no_hit"]);
  t.same([...measuresOf(1).keys()], ["recall@1", "precision@1", "ndcg@1", "mrr", "no_hit"]);
  t.equal(measuresOf(3).get("no_hit")!(["x", "y"], RELEVANT), 1);
  t.equal(measuresOf(3).get("no_hit")!(["zero", "y", "c"], RELEVANT), 0);
});

t.test("intervals", async (t) => {
  t.same(intervalOfMean([0.5, 0.5, 0.5]), [0.5, 0.5]);
  const values = Array.from({ length: 100 }, (_, i) => i % 2);
  const [low, high] = intervalOfMean(values);
  t.ok(low > 0.38 && low < 0.43 && high > 0.57 && high < 0.62, `${low} to ${high}: .5 ± 1.96 · .05`);
  t.same(intervalOfMean(values), [low, high], "the same at every call");
  const [share, upper] = intervalOfShare(0, 40);
  t.equal(share, 0);
  near(t, upper, 1.96 ** 2 / (40 + 1.96 ** 2), "what has not happened in 40 questions");
  const hundred = Float64Array.from({ length: 100 }, (_, i) => i + 1);
  t.same(quantileOf(hundred, 0.5), { value: 50, low: 41, high: 61 });
  t.same(quantileOf(hundred, 0.95), { value: 95, low: 91, high: 100 });
  t.same(quantileOf(Float64Array.of(7), 0.95), { value: 7, low: 7, high: 7 });
});

t.test("pairs are drawn together", async (t) => {
  const one = Float64Array.from({ length: 50 }, (_, i) => i / 50);
  const other = one.map((value) => value - 0.1);
  const steps = resampled([one, other, one.map((value, i) => value - other[i]!)]);
  let step = steps.next();
  while (!step.done) step = steps.next();
  const [first, , difference] = step.value;
  t.ok(first![1] - first![0] > 0.1, "the questions differ much");
  t.ok(difference![1] - difference![0] < 1e-9, "the difference is the same for each");
});

t.test("verdicts", async (t) => {
  const said = (value: number, low: number, high: number, questions = 40, isLower = false) =>
    differenceOf(["hybrid", "text"], value, [low, high], questions, isLower).verdict;
  t.equal(said(0.041, 0.012, 0.071), "hybrid is better than text: +.041, interval .012 to .071");
  t.equal(said(-0.041, -0.071, -0.012), "text is better than hybrid: +.041, interval .012 to .071");
  t.equal(said(0.02, -0.01, 0.05), "no difference can be told with 40 questions");
  t.equal(said(0.3, 0.2, 0.4, 9), "no difference can be told with 9 questions", "too few to be trusted");
  t.equal(said(0.3, 0.2, 0.4, 10, true), "text is better than hybrid: -.300, interval -.400 to -.200", "of errors");
});
