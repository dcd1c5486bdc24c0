/** The fitted weights of claims, and what fits them. */
import t from "tap";
import { fitSoftmax, probabilities } from "../../../bench/quality/claim-fit.js";
import { GATE, JUDGED } from "../../../src/ai/nli/claim-weights.js";
import { TRAITS, WORD_TRAITS } from "../../../src/ai/nli/pair-traits.js";

t.test("there is a weight for each trait, so they were fitted since a trait came or went", async (t) => {
  for (const [name, { weights }] of Object.entries(JUDGED)) t.same(Object.keys(weights), TRAITS, name);
  t.same(Object.keys(GATE.weights), WORD_TRAITS);
});

t.test("a fit gives the shares that it was shown", async (t) => {
  // Of each of two traits so many rows of three classes, and the second class counts twice.
  const shown = [
    { traits: [1, 0], counts: [300, 100, 400] },
    { traits: [0, 1], counts: [100, 250, 100] },
  ];
  const rows = shown.flatMap(({ traits, counts }) =>
    counts.flatMap((count, own) =>
      Array.from({ length: count }, () => ({ traits, class: own, weight: own === 1 ? 2 : 1 })),
    ),
  );
  const fitted = fitSoftmax(rows, 3);
  for (const { traits, counts } of shown) {
    const weighed = counts.map((count, own) => (own === 1 ? 2 * count : count));
    const all = weighed.reduce((sum, count) => sum + count, 0);
    const found = probabilities(fitted, traits);
    t.ok(Math.abs(found.reduce((sum, p) => sum + p, 0) - 1) < 1e-12);
    for (const [own, count] of weighed.entries()) t.ok(Math.abs(found[own]! - count / all) < 0.02, `${found}`);
  }
});
