/**
 * Makes a verdict's scores from a model's outputs for a pair and from what the texts have in common (compare-texts.ts,
 * claim-evidence.ts, pair-traits.ts). A model that was trained on captions takes two texts about different things for a
 * contradiction, and is never certain about things that it has not seen. What it says is weighed by weights that
 * `bench/quality/fit-claims.ts` fits. Called by claim-verifier.ts; pure but for the meanings.
 */
import type { TextPair } from "../inference-messages.js";
import { evidenceOf } from "./claim-evidence.js";
import { GATE, JUDGED, SAME_SUBJECT, type Weights } from "./claim-weights.js";
import { readsAsEnglish } from "./claim-words.js";
import { compareTexts } from "./compare-texts.js";
import { type NliScores, scoresOf } from "./labels.js";
import { type Trait, traitsOf } from "./pair-traits.js";
import type { WordMeanings } from "./word-meanings.js";

export interface WeighedScores {
  readonly scores: NliScores;
  /** False: the premise has nothing to do with the hypothesis, so it neither entails nor contradicts it. */
  readonly isRelated: boolean;
}

const ENTAILED: NliScores = [0, 1, 0];
/** Certain but for what words alone do not tell. */
const OPPOSED: NliScores = [0.95, 0, 0.05];
const SUPPORTED: NliScores = [0, 0.95, 0.05];

/** From here up two texts are more likely about different things than not. */
const UNRELATED_FROM = 0.5;

/**
 * `logits`: the model's, in the order of labels.ts. `judgesByWords`: the model's manifest asks for it
 * (`judged_by_words`). Then evidence in the words decides before the model does, and the model is weighed. Texts that
 * say the same entail each other, and unrelated texts do not contradict, whatever the model. `isSameSubject`: it is
 * known that they are not unrelated.
 */
export function weighScores(
  pair: TextPair,
  logits: ArrayLike<number>,
  judgesByWords: boolean,
  meanings: WordMeanings,
  isSameSubject = false,
): WeighedScores {
  const { premise, hypothesis } = pair;
  const comparison = compareTexts(premise, hypothesis);
  if (comparison === "same") return { scores: ENTAILED, isRelated: true };
  const evidence = evidenceOf(premise, hypothesis, meanings);
  if (judgesByWords && evidence.contradicts) return { scores: OPPOSED, isRelated: true };
  if (judgesByWords && evidence.entails) return { scores: SUPPORTED, isRelated: true };
  const traits = traitsOf(pair, logits, comparison, evidence, meanings);
  const isEnglish = readsAsEnglish(premise) && readsAsEnglish(hypothesis);
  if (!judgesByWords) {
    const scores = scoresOf(logits);
    const [contradiction, entailment, neutral] = scores;
    const isRelated = isSameSubject || !isEnglish || 1 / (1 + Math.exp(-sumOf(GATE, traits))) < UNRELATED_FROM;
    return { scores: isRelated ? scores : [0, entailment, contradiction + neutral], isRelated };
  }
  const [contradiction, entailment, unrelated] = isSameSubject
    ? [...shares([SAME_SUBJECT.contradiction, SAME_SUBJECT.entailment], traits), 0]
    : shares([JUDGED.contradiction, JUDGED.entailment, JUDGED.unrelated], traits);
  // Numbers and dates are read, not guessed.
  const against = evidence.isMeasured || evidence.isUncertain ? 0 : contradiction;
  const forIt = evidence.isOpen || comparison === "other" ? 0 : entailment;
  return {
    scores: [against, forIt, 1 - against - forIt],
    isRelated: !isEnglish || unrelated < UNRELATED_FROM,
  };
}

/** How likely each answer is, beside that the pair is neutral. */
function shares<A extends readonly Weights[]>(
  answers: readonly [...A],
  traits: Readonly<Record<Trait, number>>,
): { [K in keyof A]: number } {
  const sums = answers.map((weights) => sumOf(weights, traits));
  const largest = Math.max(0, ...sums);
  const powers = sums.map((sum) => Math.exp(sum - largest));
  const all = powers.reduce((sum, power) => sum + power, Math.exp(-largest));
  return powers.map((power) => power / all) as { [K in keyof A]: number };
}

const sumOf = ({ constant, weights }: Weights, traits: Readonly<Record<Trait, number>>): number =>
  Object.entries(weights).reduce((sum, [trait, weight]) => sum + weight * traits[trait as Trait], constant);
