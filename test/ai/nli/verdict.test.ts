/** The five rules of verdicts: each, its precedence, thresholds at the exact boundary, both worlds. */
import t from "tap";
import { labelPlaces, type NliScores, scoresOf } from "../../../src/ai/nli/labels.js";
import { type VerdictRules, verdictOf } from "../../../src/ai/nli/verdict.js";

const RULES: VerdictRules = { closedWorld: false, contradictionThreshold: 0.6, entailmentThreshold: 0.6 };
const BELOW = 0.6 - 2 ** -53;
const ABOVE = 0.6 + 2 ** -53;

const c = (contradiction: number, entailment = 0): NliScores => [
  contradiction,
  entailment,
  1 - contradiction - entailment,
];
const e = (entailment: number): NliScores => c(0, entailment);
const CLOSED = { closedWorld: true };

/** Scores, rules that differ, verdict, violated, matched, confidence. */
const table: readonly (readonly [
  string,
  readonly NliScores[],
  Partial<VerdictRules>,
  string,
  number | null,
  number | null,
  number,
])[] = [
  ["nothing is known", [c(0.1, 0.2)], {}, "UNVERIFIED_PLAUSIBLE", null, null, 0.8],
  ["nothing is known, closed", [c(0.1, 0.2)], CLOSED, "LIE", null, null, 0.8],
  ["a contradiction", [c(0.9, 0.05)], {}, "LIE", 0, null, 0.9],
  ["a contradiction, closed", [c(0.9, 0.05)], CLOSED, "LIE", 0, null, 0.9],
  ["an entailment", [e(0.9)], {}, "TRUTH", null, 0, 0.9],
  ["an entailment, closed", [e(0.9)], CLOSED, "TRUTH", null, 0, 0.9],
  ["contradiction at the threshold", [c(0.6)], {}, "LIE", 0, null, 0.6],
  ["contradiction just below", [c(BELOW)], {}, "UNVERIFIED_PLAUSIBLE", null, null, 1 - BELOW],
  ["contradiction just above", [c(ABOVE)], {}, "LIE", 0, null, ABOVE],
  ["entailment at the threshold", [e(0.6)], {}, "TRUTH", null, 0, 0.6],
  ["entailment just below", [e(BELOW)], {}, "UNVERIFIED_PLAUSIBLE", null, null, 1 - BELOW],
  ["entailment just below, closed", [e(BELOW)], CLOSED, "LIE", null, null, 1 - BELOW],
  ["entailment at the threshold, closed", [e(0.6)], CLOSED, "TRUTH", null, 0, 0.6],
  ["contradiction goes before a stronger entailment", [e(0.99), c(0.6)], {}, "LIE", 1, null, 0.6],
  ["also in a closed world", [e(0.99), c(0.6)], CLOSED, "LIE", 1, null, 0.6],
  ["a contradiction below does not", [e(0.7), c(BELOW)], {}, "TRUTH", null, 0, 0.7],
  ["the strongest anchors are named", [c(0.7), c(0.95), c(0.8)], {}, "LIE", 1, null, 0.95],
  ["of equals the first", [c(0.1), e(0.8), e(0.8)], {}, "TRUTH", null, 1, 0.8],
  ["anchors do not add up", Array(32).fill(c(0.3, 0.59)), {}, "UNVERIFIED_PLAUSIBLE", null, null, 1 - 0.59],
  ["a threshold of the request's", [c(0.3)], { contradictionThreshold: 0.3 }, "LIE", 0, null, 0.3],
  ["each has its own", [c(0.5, 0.4)], { entailmentThreshold: 0.4 }, "TRUTH", null, 0, 0.4],
  [
    "both reached by one anchor",
    [c(0.5, 0.5)],
    { contradictionThreshold: 0.5, entailmentThreshold: 0.5 },
    "LIE",
    0,
    null,
    0.5,
  ],
  ["a threshold of 0 is always reached", [e(1)], { contradictionThreshold: 0 }, "LIE", 0, null, 0],
  ["one of 1 by certainty only", [e(1)], { entailmentThreshold: 1 }, "TRUTH", null, 0, 1],
];

for (const [what, scores, rules, verdict, violated, matched, confidence] of table) {
  t.test(what, async (t) => {
    const found = verdictOf(scores, { ...RULES, ...rules });
    t.match(found, { verdict, violated, matched });
    t.ok(Math.abs(found.confidence - confidence) < 1e-15, `confidence ${found.confidence}`);
    t.ok(found.reason.length > 20);
  });
}

t.test("reasons name the anchor and what was reached or not", async (t) => {
  const reason = (scores: readonly NliScores[], rules: Partial<VerdictRules> = {}) =>
    verdictOf(scores, { ...RULES, ...rules }).reason;
  t.match(reason([e(0.7), c(0.9)]), /contradiction 0\.9000 of truth_anchors\[1\] reaches 0\.6/);
  t.match(reason([c(0.1), e(0.75)]), /entailment 0\.7500 of truth_anchors\[1\] reaches 0\.6/);
  t.match(reason([c(BELOW)]), /contradiction 0\.5999 of truth_anchors\[0\] is below 0\.6/);
  t.match(reason([e(BELOW)], CLOSED), /closed world.* entailment 0\.5999 of truth_anchors\[0\] is below 0\.6/);
});

t.test("softmax in double precision", async (t) => {
  t.same(scoresOf([0, 0, 0]), [1 / 3, 1 / 3, 1 / 3]);
  const [contradiction, entailment, neutral] = scoresOf(Float32Array.of(2, 1, 0));
  t.equal(contradiction, 1 / (1 + Math.exp(-1) + Math.exp(-2)));
  t.ok(Math.abs(contradiction + entailment + neutral - 1) < 1e-15);
  t.same(scoresOf([1e30, 0, -1e30]), [1, 0, 0], "large ones do not overflow");
});

t.test("labels are found whatever their order and case", async (t) => {
  t.same(labelPlaces(["contradiction", "entailment", "neutral"]), [0, 1, 2]);
  t.same(labelPlaces(["Neutral", "CONTRADICTION", "entailment"]), [1, 2, 0]);
  t.same(
    labelPlaces(["Unrelated", "neutral", "contradiction", "entailment"]),
    [2, 3, 1, 0],
    "one that tells that, too",
  );
  for (const labels of [
    undefined,
    [],
    ["contradiction", "entailment"],
    ["a", "b", "c"],
    ["neutral", "neutral", "neutral"],
  ]) {
    t.throws(() => labelPlaces(labels), { name: "BundleError", message: /contradiction, entailment, neutral/ });
  }
  t.throws(() => labelPlaces(["contradiction", "entailment", "unrelated"]), { name: "BundleError" });
  t.throws(() => labelPlaces(["contradiction", "entailment", "neutral", "other"]), { name: "BundleError" });
});
