/**
 * The classifier and the decoder that come with the program: what their cards say of them, on the smallest examples.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { findBundles } from "../../src/ai/bundle.js";
import { loadDecoder } from "../../src/ai/generation/decoder.js";
import type { GenerationRequest, TextPair } from "../../src/ai/inference-messages.js";
import { DEFAULT_RULES } from "../../src/ai/nli/claim-requests.js";
import { loadCrossEncoder } from "../../src/ai/nli/cross-encoder.js";
import { NLI_LABELS, type NliScores, scoresOf } from "../../src/ai/nli/labels.js";
import { verdictOf } from "../../src/ai/nli/verdict.js";
import { weighScores } from "../../src/ai/nli/weigh-scores.js";
import type { StreamRunner } from "../../src/ai/runner.js";
import { bundledMeanings } from "./nli/bundled-meanings.js";

interface ClaimCase {
  readonly claim: string;
  /** Texts: with the claim's words, that contradict it, that entail it, about another fact of the same thing. */
  readonly same: readonly string[];
  readonly against: readonly string[];
  readonly follows: readonly string[];
  readonly beside: readonly string[];
}

const MODELS = join(fileURLToPath(new URL("../../../", import.meta.url)), "models");
const bundle = (id: string) => findBundles(MODELS).find(({ manifest }) => manifest?.id === id)!;

t.test("nli-mini", async (t) => {
  const { directory, manifest } = bundle("nli-mini");
  const encoder = await loadCrossEncoder(directory, manifest!, 1);
  t.teardown(() => encoder.release());
  const scores = async (...pairs: readonly [string, string][]): Promise<NliScores[]> => {
    const { numbers } = await encoder.run(pairs.map(([premise, hypothesis]) => ({ premise, hypothesis })));
    return pairs.map((_, i) => scoresOf(numbers.subarray(i * encoder.width, (i + 1) * encoder.width)));
  };
  const pairs: [string, string, (typeof NLI_LABELS)[number]][] = [
    ["A man is sleeping.", "A person is asleep.", "entailment"],
    ["A man is sleeping.", "A man is running.", "contradiction"],
    ["The invoice was paid on May 3.", "The invoice was paid.", "entailment"],
    ["A dog runs on the grass.", "An animal is outside.", "entailment"],
    ["A woman plays the violin.", "A woman plays for her mother.", "neutral"],
  ];
  const together = await scores(...pairs.map(([premise, hypothesis]) => [premise, hypothesis] as [string, string]));
  for (const [i, [premise, hypothesis, label]] of pairs.entries()) {
    t.ok(together[i]![NLI_LABELS.indexOf(label)]! >= 0.6, `${premise} ${hypothesis} ${together[i]}`);
    const [alone] = await scores([premise, hypothesis]);
    for (const [j, score] of alone!.entries()) t.ok(Math.abs(score - together[i]![j]!) < 1e-4, "whatever is beside it");
  }
  const before = "The weather was calm that day. ".repeat(55);
  const [end, none] = await scores([`${before}A cat slept.`, "A cat slept."], [before, "A cat slept."]);
  t.ok(end![1] - none![1] > 0.05, `what stands at the end of 400 tokens counts: ${end![1]}, ${none![1]}`);
});

t.test("nli-mini as it is served: claims of all kinds", async (t) => {
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const claims = JSON.parse(readFileSync(join(root, "bench/quality/claims.json"), "utf8")) as readonly ClaimCase[];
  const { directory, manifest } = bundle("nli-mini");
  const encoder = await loadCrossEncoder(directory, manifest!, 1);
  t.teardown(() => encoder.release());
  t.equal(manifest!.judged_by_words, true);
  const meanings = bundledMeanings();
  const verdictsOf = async (pairs: readonly TextPair[]) => {
    const { numbers } = await encoder.run(pairs);
    return pairs.map((pair, i) => {
      const logits = numbers.subarray(i * encoder.width, (i + 1) * encoder.width);
      return verdictOf([weighScores(pair, logits, true, meanings).scores], DEFAULT_RULES).verdict;
    });
  };
  const share = async (verdict: string, pairs: readonly TextPair[]) =>
    (await verdictsOf(pairs)).filter((one) => one === verdict).length / pairs.length;
  const by = (kind: Exclude<keyof ClaimCase, "claim">) =>
    claims.flatMap(({ claim, ...of }) => of[kind].map((premise) => ({ premise, hypothesis: claim })));
  const others = claims.flatMap(({ claim: hypothesis }, i) =>
    Array.from({ length: 10 }, (_, k) => ({ premise: claims[(i + 6 * (k + 1)) % claims.length]!.claim, hypothesis })),
  );
  t.equal(await share("UNVERIFIED_PLAUSIBLE", others), 1, "unrelated anchors");
  t.equal(await share("TRUTH", by("same")), 1, "the same words");
  t.ok((await share("UNVERIFIED_PLAUSIBLE", by("beside"))) > 0.95, "another fact about the same");
  t.ok((await share("LIE", by("against"))) > 0.8, "one thing turned round");
  t.ok((await share("TRUTH", by("against"))) < 0.05, "and hardly one of them is called true");
  t.ok((await share("TRUTH", by("follows"))) > 0.9, "what follows");
});

t.test("tessera-chat", async (t) => {
  const { directory, manifest } = bundle("tessera-chat");
  const decoder = (await loadDecoder(directory, manifest!, 1)) as StreamRunner;
  t.teardown(() => decoder.release());
  const answer = async (content: string, more: Partial<GenerationRequest> = {}) => {
    const pieces: string[] = [];
    const request = {
      messages: [{ role: "user" as const, content }],
      tokensMax: 40,
      temperature: 0,
      topP: 1,
      seed: null,
      stop: [],
      ...more,
    };
    const end = await decoder.run(request, (piece) => pieces.push(piece), new AbortController().signal);
    return { text: pieces.join(""), pieces, end };
  };
  const hello = await answer("Hello!");
  t.equal(hello.text, "Hello! How can I help you?");
  t.equal(hello.end.reason, "stop");
  t.ok(hello.pieces.length > 3, "piece by piece");
  t.match((await answer("Who are you?")).text, /^I am Tessera's small built-in language model\./);
  const passage =
    "Use the text to answer.\n\n[1] zorbel: a small green lamp that burns oil\n[2] A quint is a boat with five sails.";
  t.equal((await answer(`${passage}\n\nWhat is a quint?`)).text, "A quint is a boat with five sails.");
  t.equal((await answer(`${passage}\n\nWhat is a zorbel?`)).text, "A zorbel is a small green lamp that burns oil.");
  const seeded = { temperature: 1, topP: 0.95, seed: 7 };
  const [first, again] = await Promise.all([answer("Tell me a story.", seeded), answer("Tell me a story.", seeded)]);
  t.equal(first.text, again.text);
  t.not(first.text, (await answer("Tell me a story.", { ...seeded, seed: 8 })).text);
});
