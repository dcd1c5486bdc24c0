/** Cross-encoders as they are loaded and run: a tiny bundle whose outputs the test computes itself. */
import { truncateSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { findBundle } from "../../../src/ai/bundle.js";
import type { TextPair } from "../../../src/ai/inference-messages.js";
import { BundleError } from "../../../src/ai/manifest.js";
import { type CrossEncoder, loadCrossEncoder } from "../../../src/ai/nli/cross-encoder.js";
import { scoresOf } from "../../../src/ai/nli/labels.js";
import {
  addClaimBundle,
  type ClaimBundleOptions,
  CONTRADICTING,
  ENTAILING,
  emptyRoot,
  expectedScores,
} from "./claim-bundles.js";

async function encoderOf(t: Test, options: ClaimBundleOptions = {}): Promise<CrossEncoder> {
  const directory = addClaimBundle(emptyRoot(), options);
  const encoder = await loadCrossEncoder(directory, findBundle(directory)!.manifest!, 1);
  t.teardown(() => encoder.release());
  return encoder;
}

async function scores(encoder: CrossEncoder, pairs: readonly TextPair[]): Promise<number[][]> {
  const { numbers } = await encoder.run(pairs);
  return pairs.map((_, i) => [...scoresOf(numbers.subarray(3 * i, 3 * i + 3))]);
}

function close(t: Test, found: readonly number[], expected: readonly number[], what: string): void {
  const apart = Math.max(...found.map((x, i) => Math.abs(x - expected[i]!)));
  t.ok(apart < 2e-5, `${what}: ${found.map((x) => x.toFixed(5))} is ${expected.map((x) => x.toFixed(5))}`);
}

const LONG = "Every table has a key, and the rows of a table are read in its order. ";
const PAIRS: readonly TextPair[] = [
  { premise: `It is ${CONTRADICTING} so.`, hypothesis: "The rows are written." },
  { premise: "The rows are written.", hypothesis: `It is ${CONTRADICTING} so.` },
  { premise: `The ${ENTAILING} rows.`, hypothesis: "The rows are written." },
  { premise: "a", hypothesis: "b" },
  { premise: LONG.repeat(3), hypothesis: "a table" },
  { premise: "a table", hypothesis: LONG.repeat(40) },
  { premise: LONG.repeat(40), hypothesis: "a table" },
  { premise: LONG.repeat(40), hypothesis: LONG.repeat(30) },
];

for (const types of [false, true]) {
  t.test(`scores of a graph ${types ? "with" : "without"} token types are those of its formula`, async (t) => {
    const encoder = await encoderOf(t, { types });
    const found = await scores(encoder, PAIRS);
    for (const [i, { premise, hypothesis }] of PAIRS.entries()) {
      const what = `${premise.slice(0, 20)} / ${hypothesis.slice(0, 20)}`;
      close(t, found[i]!, expectedScores(premise, hypothesis, { types }), what);
    }
  });
}

t.test("premise and hypothesis are not the same thing", async (t) => {
  const encoder = await encoderOf(t);
  const [there, back] = await scores(encoder, PAIRS);
  t.ok(there![0]! > 0.9, "the first tokens weigh most");
  t.ok(back![0]! < there![0]! - 0.02, `${there} and ${back}`);
});

t.test("the order and the case of labels are the bundle's own", async (t) => {
  const expected = expectedScores(PAIRS[2]!.premise, PAIRS[2]!.hypothesis);
  t.ok(expected[1] > 0.9);
  for (const labels of [
    ["contradiction", "entailment", "neutral"],
    ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"],
    ["neutral", "Entailment ", "Contradiction"],
  ]) {
    const encoder = await encoderOf(t, { labels });
    const [, , found] = await scores(encoder, PAIRS);
    close(t, found!, expected, labels.join());
  }
});

t.test("an output that the texts are unrelated stands behind the others", async (t) => {
  const encoder = await encoderOf(t, { labels: ["unrelated", "neutral", "contradiction", "entailment"] });
  t.equal(encoder.width, 4);
  const pair = PAIRS[2]!;
  const { numbers } = await encoder.run([pair]);
  close(t, scoresOf(numbers), expectedScores(pair.premise, pair.hypothesis), "the three labels");
  t.equal(numbers[3], 0, "the graph gives 0 for what is no label of claims");
});

t.test("pairs that share a run get what they get alone", async (t) => {
  const encoder = await encoderOf(t);
  const many = Array.from({ length: 100 }, (_, i) => ({
    premise: LONG.slice(0, 5 + ((i * 37) % 60)).repeat(1 + (i % 7)),
    hypothesis: `${i} rows ${i % 3 === 0 ? CONTRADICTING : ENTAILING}`,
  }));
  const together = await scores(encoder, many);
  for (const [i, pair] of many.entries()) {
    const [alone] = await scores(encoder, [pair]);
    close(t, together[i]!, alone!, `pair ${i}`);
  }
});

t.test("a smaller window of the model's cuts pairs", async (t) => {
  const encoder = await encoderOf(t, { window: 24 });
  const found = await scores(encoder, PAIRS);
  for (const [i, { premise, hypothesis }] of PAIRS.entries()) {
    close(t, found[i]!, expectedScores(premise, hypothesis, { window: 24 }), String(i));
  }
  const { tokens } = await encoder.run(PAIRS.slice(4));
  t.equal(tokens, 4 * 24);
});

t.test("a window that is larger than 512 is one of 512", async (t) => {
  const encoder = await encoderOf(t, { window: 2048 });
  t.equal((await encoder.run([PAIRS[7]!])).tokens, 512);
});

const broken: readonly (readonly [string, ClaimBundleOptions, RegExp])[] = [
  ["without labels", { edit: ({ labels: _, ...rest }) => rest }, /has no labels/],
  ["with other labels", { edit: (m) => ({ ...m, labels: ["LABEL_0", "LABEL_1", "LABEL_2"] }) }, /label_0, label_1/],
  [
    "that is judged by words and does not tell what is unrelated",
    { edit: (m) => ({ ...m, judged_by_words: true }) },
    /judged_by_words, which needs a model with the label unrelated/,
  ],
  ["with two labels", { labels: ["entailment", "not_entailment"] }, /entailment, not_entailment/],
  [
    "whose graph gives another number of outputs",
    { labels: ["a", "b", "c", "d"], edit: (m) => ({ ...m, labels: ["contradiction", "entailment", "neutral"] }) },
    /gives float32 \[1,4\], not 3 numbers per pair/,
  ],
  ["with a window that is too small", { window: 2 }, /leaves no room/],
];
for (const [what, options, reason] of broken) {
  t.test(`a bundle ${what} is refused`, async (t) => {
    await t.rejects(encoderOf(t, options), { message: reason });
    await t.rejects(encoderOf(t, options), BundleError);
  });
}

t.test("a changed byte is found when the model is loaded", async (t) => {
  const directory = addClaimBundle(emptyRoot());
  const { manifest } = findBundle(directory)!;
  truncateSync(join(directory, "model.onnx"), 500);
  await t.rejects(loadCrossEncoder(directory, manifest!, 1), { message: /model.onnx has 500 bytes/ });
});
