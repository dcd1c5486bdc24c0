/**
 * What tells how the premise of a pair stands to its hypothesis: the model's outputs, and what the texts share.
 * Called by weigh-scores.ts and by what fits its weights (`bench/quality/fit-claims.ts`); pure but for the meanings.
 */
import type { TextPair } from "../inference-messages.js";
import type { Evidence } from "./claim-evidence.js";
import { wordsOf } from "./claim-words.js";
import type { Comparison } from "./compare-texts.js";
import type { WordMeanings } from "./word-meanings.js";

/** In the order of the weights. */
export const TRAITS = [
  "contradiction",
  "entailment",
  "apart",
  "relatedness",
  "said",
  "nearness",
  "noWordShared",
  "fewWordsShared",
  "open",
  "measured",
  "uncounted",
  "premiseLength",
  "hypothesisLength",
  "scene",
  "contradictionOfRelated",
  "contradictionOfScene",
  "entailmentOfSaid",
] as const;
export type Trait = (typeof TRAITS)[number];

/** Those that need no model. */
export const WORD_TRAITS = TRAITS.filter(
  (trait) => !/^(?:contradiction|entailment|apart|(?:contradiction|entailment)Of.*)$/.test(trait),
);

/** `logits`: for contradiction, entailment, neutral and, if the model has it, unrelated. */
export function traitsOf(
  { premise, hypothesis }: TextPair,
  logits: ArrayLike<number>,
  comparison: Comparison,
  { relatedness, said, isOpen, isMeasured, isUncounted }: Evidence,
  meanings: WordMeanings,
): Record<Trait, number> {
  const [contradiction, entailment, neutral] = [logits[0]!, logits[1]!, logits[2]!];
  const largest = Math.max(contradiction, entailment, neutral);
  const any =
    largest +
    Math.log(Math.exp(contradiction - largest) + Math.exp(entailment - largest) + Math.exp(neutral - largest));
  const scene = (Number(isScene(premise)) + Number(isScene(hypothesis))) / 2;
  return {
    contradiction: contradiction - neutral,
    entailment: entailment - neutral,
    apart: logits.length > 3 ? logits[3]! - any : 0,
    relatedness,
    said,
    nearness: meanings.nearness(premise, hypothesis) ?? relatedness,
    noWordShared: Number(comparison === "unrelated"),
    fewWordsShared: Number(comparison === "distant"),
    open: Number(isOpen),
    measured: Number(isMeasured),
    uncounted: Number(isUncounted),
    premiseLength: lengthOf(premise),
    hypothesisLength: lengthOf(hypothesis),
    scene,
    contradictionOfRelated: (contradiction - neutral) * relatedness,
    contradictionOfScene: (contradiction - neutral) * scene,
    entailmentOfSaid: (entailment - neutral) * said,
  };
}

/**
 * Whether it tells what somebody is doing at a moment. Who is doing one thing is not doing another; what is true of a
 * thing otherwise says little against another fact about it.
 */
const isScene = (text: string) =>
  wordsOf(text).some(({ word }) => /\p{L}{2}ing$/u.test(word) && !NO_ACTIVITY.test(word));
const NO_ACTIVITY =
  /^(?:(?:any|every|no|some)?thing|during|evening|morning|ceiling|building|wedding|clothing|spring|string)$/;

const lengthOf = (text: string) => Math.log(1 + wordsOf(text).length);
