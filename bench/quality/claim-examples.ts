/**
 * Pairs that the weights of claims are fitted on (`fit-claims.ts`): those that were held out of the model's training,
 * those that its rules were tuned on, and pairs of texts that say nothing about each other. None is of a test set.
 */
import { join } from "node:path";
import { findBundles } from "../../src/ai/bundle.js";
import type { TextPair } from "../../src/ai/inference-messages.js";
import { Models } from "../../src/ai/models.js";
import { evidenceOf } from "../../src/ai/nli/claim-evidence.js";
import { compareTexts } from "../../src/ai/nli/compare-texts.js";
import { loadCrossEncoder } from "../../src/ai/nli/cross-encoder.js";
import { TRAITS, traitsOf } from "../../src/ai/nli/pair-traits.js";
import { EncodedMeanings, type WordMeanings } from "../../src/ai/nli/word-meanings.js";
import { ROOT } from "../servers.js";
import { facts, labelledPairs } from "./claim-sets.js";
import { type Found, groupsOf, heldOutPairs, numberOf, type SourcedPair } from "./public-sets.js";

/** In the order of the fitted weights; the others are weighed against the last one. */
export const CLASSES = ["contradiction", "entailment", "unrelated", "neutral"] as const;
export type Class = (typeof CLASSES)[number];

export interface ClaimExample extends TextPair {
  /** The source of a pair; of unrelated ones what they are: `unrelated captions`. */
  readonly kind: string;
  readonly class: Class;
  readonly traits: readonly number[];
  /** What the words alone decide, whatever the model. */
  readonly told: "contradiction" | "entailment" | null;
  /** What they rule out. */
  readonly isOpen: boolean;
  readonly isMeasured: boolean;
  readonly logits: readonly number[];
}

type Pair = TextPair & { readonly kind: string; readonly class: Class };

const OF_EACH_KIND = 600;
/** Of a picture the nearest one among so many others is about the same topic. */
const TOPIC_AMONG = 150;
const PAIRS_AT_ONCE = 64;
const MODEL = "nli-mini";

export async function claimExamples(): Promise<ClaimExample[]> {
  const models = new Models({
    roots: [join(ROOT, "models")],
    embeddingModel: "tessera-embed-384",
    warn: () => undefined,
    inference: null,
  });
  const meanings = new EncodedMeanings((text) => models.sumNow(text));
  const { directory, manifest } = findBundles(join(ROOT, "models")).find((one) => one.manifest?.id === MODEL)!;
  const encoder = await loadCrossEncoder(directory, manifest!, 1);
  const pairs = pairsOf(meanings);
  const examples: ClaimExample[] = [];
  for (let at = 0; at < pairs.length; at += PAIRS_AT_ONCE) {
    const some = pairs.slice(at, at + PAIRS_AT_ONCE);
    const { numbers } = await encoder.run(some);
    for (const [i, pair] of some.entries()) {
      const logits = [...numbers.subarray(i * encoder.width, (i + 1) * encoder.width)];
      const comparison = compareTexts(pair.premise, pair.hypothesis);
      const evidence = evidenceOf(pair.premise, pair.hypothesis, meanings);
      const traits = traitsOf(pair, logits, comparison, evidence, meanings);
      const told = evidence.contradicts ? "contradiction" : evidence.entails ? "entailment" : null;
      examples.push({
        ...pair,
        logits,
        traits: TRAITS.map((trait) => traits[trait]),
        told: comparison === "same" ? "entailment" : told,
        isOpen: evidence.isOpen || comparison === "other",
        isMeasured: evidence.isMeasured,
      });
    }
  }
  await encoder.release();
  return examples;
}

function pairsOf(meanings: WordMeanings): Pair[] {
  const draw = drawer(1);
  const held = required(heldOutPairs());
  const asked = held.map(([kind, premise, hypothesis, label]) => ({
    kind,
    premise,
    hypothesis,
    class: label as Class,
  }));
  const own = labelledPairs("tuning").map(({ kind, label, premise, hypothesis }) => ({
    kind: "own",
    premise,
    hypothesis,
    class: kind === "unrelated" ? ("unrelated" as const) : label,
  }));
  const captions = required(groupsOf("cap")).filter(([first]) => numberOf(first!) % 10 === 0);
  const splits = required(groupsOf("wsplit")).flatMap((group) => splitOf(group));
  const of = (...sources: string[]) => held.filter(([source]) => sources.includes(source));
  return [
    ...asked,
    ...own,
    ...ofFacts(),
    ...turnedAway("unrelated claims about pictures", of("snli-dev", "cad"), draw),
    ...turnedAway("unrelated texts", of("litl", "mnli-olora"), draw),
    ...turnedAway("unrelated facts", of("conj", "help"), draw),
    ...times(OF_EACH_KIND, () => {
      const [one, other] = [draw(captions), draw(captions)];
      return pairOf("unrelated captions", "unrelated", draw(one), draw(other), one === other);
    }),
    ...times(OF_EACH_KIND / 4, () => {
      const one = draw(captions);
      const others = Array.from({ length: TOPIC_AMONG }, () => draw(captions)).filter((other) => other !== one);
      const premise = draw(one);
      const hypotheses = others.map((other) => draw(other));
      const near = hypotheses.map((hypothesis) => meanings.nearness(premise, hypothesis) ?? 0);
      return pairOf("captions of one topic", "neutral", premise, hypotheses[near.indexOf(Math.max(...near))]!, false);
    }),
    ...times(OF_EACH_KIND, () => {
      const [one, other] = draw(splits);
      return pairOf("facts about the same", "neutral", one, other, one === other);
    }),
    ...times(OF_EACH_KIND, () => {
      const [one, other] = [draw(splits), draw(splits)];
      return pairOf("unrelated articles", "unrelated", one[0], other[0], one === other);
    }),
  ];
}

/** What excludes a fact contradicts it; another fact about the same thing does not. */
function ofFacts(): Pair[] {
  const all = facts();
  return all.flatMap(({ thing, fact, excluded }) => [
    { kind: "excluded facts", class: "contradiction", premise: fact, hypothesis: excluded },
    { kind: "excluded facts", class: "contradiction", premise: excluded, hypothesis: fact },
    ...all
      .filter((other) => other.thing === thing && other.fact !== fact)
      .flatMap((other): Pair[] => [
        { kind: "other facts", class: "neutral", premise: fact, hypothesis: other.fact },
        { kind: "other facts", class: "neutral", premise: excluded, hypothesis: other.fact },
      ]),
  ]);
}

/** A premise with the hypothesis of another pair. */
function turnedAway(kind: string, pairs: readonly SourcedPair[], draw: Draw): Pair[] {
  return times(OF_EACH_KIND, () => {
    const [[, premise], [, other, hypothesis]] = [draw(pairs), draw(pairs)];
    return pairOf(kind, "unrelated", premise, hypothesis, numberOf(premise) === numberOf(other));
  });
}

const pairOf = (
  kind: string,
  ofClass: Class,
  premise: string,
  hypothesis: string,
  isOfOne: boolean,
): readonly Pair[] => (isOfOne ? [] : [{ kind, class: ofClass, premise, hypothesis }]);

const times = (count: number, make: () => readonly Pair[]): Pair[] => Array.from({ length: count }, make).flat();

/** "X was born in Y . He plays Z ." as two plain sentences. */
function splitOf(group: readonly string[]): (readonly [string, string])[] {
  const [first, second, ...rest] = (group[1] ?? "").split(/(?<= [.!?])\s{2,}/);
  if (first === undefined || second === undefined || rest.length > 0) return [];
  const plain = (text: string) =>
    text
      .replaceAll(/``|''/g, '"')
      .replaceAll(/ ([.,;:!?)%])/g, "$1")
      .replaceAll("( ", "(")
      .replaceAll(" 's", "'s")
      .trim();
  return [[plain(first), plain(second)]];
}

function required<T>(found: Found<T>): T {
  if ("missing" in found) throw new Error(`The weights cannot be fitted here, for ${found.missing}.`);
  return found.set;
}

type Draw = <T>(from: readonly T[]) => T;

/** The same each time: a linear congruence (Numerical Recipes). */
function drawer(seed: number): Draw {
  let state = seed;
  return (from) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return from[Math.floor((state / 2 ** 32) * from.length)]!;
  };
}
