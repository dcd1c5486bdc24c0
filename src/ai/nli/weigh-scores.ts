/**
 * Corrects a model's scores of a pair by what the texts have in common (compare-texts.ts, claim-evidence.ts). A model
 * that was trained on captions takes two texts about different things for a contradiction, and is never certain about
 * things that it has not seen. A wrong contradiction does more harm than a missed one, so it needs more evidence than
 * an entailment. Called by claim-verifier.ts; pure but for the meanings.
 */
import type { TextPair } from "../inference-messages.js";
import { evidenceOf } from "./claim-evidence.js";
import { readsAsEnglish } from "./claim-words.js";
import { compareTexts } from "./compare-texts.js";
import type { NliScores } from "./labels.js";
import type { WordMeanings } from "./word-meanings.js";

export interface WeighedScores {
  readonly scores: NliScores;
  /** False: the premise has nothing to do with the hypothesis, so it neither entails nor contradicts it. */
  readonly isRelated: boolean;
}

const ENTAILED: NliScores = [0, 1, 0];
const NEUTRAL: NliScores = [0, 0, 1];
/** Certain but for what words alone do not tell. */
const OPPOSED: NliScores = [0.95, 0, 0.05];
const SUPPORTED: NliScores = [0, 0.95, 0.05];

/**
 * Of the hypothesis's words by weight, words that are alike in part: with less, the texts are about different things.
 */
const RELATED_MIN = 0.25;
/** As much has to be said before a model's own judgement counts. */
const SAID_FOR_CONTRADICTION = 0.5;
const SAID_FOR_ENTAILMENT = 0.5;
/** What words do not show has to be more certain by the model. */
const DOUBT = 0.75;

/**
 * `judgesByWords`: the model's manifest asks for it (`judged_by_words`). Then evidence in the words decides before the
 * model does. Texts that say the same entail each other, and unrelated texts do not contradict, whatever the model.
 */
export function weighScores(
  { premise, hypothesis }: TextPair,
  scores: NliScores,
  judgesByWords: boolean,
  meanings: WordMeanings,
): WeighedScores {
  const comparison = compareTexts(premise, hypothesis);
  if (comparison === "same") return { scores: ENTAILED, isRelated: true };
  const evidence = evidenceOf(premise, hypothesis, meanings);
  const [contradiction, entailment, neutral] = scores;
  if (evidence.relatedness < RELATED_MIN && readsAsEnglish(premise) && readsAsEnglish(hypothesis)) {
    return { scores: judgesByWords ? NEUTRAL : [0, entailment, contradiction + neutral], isRelated: false };
  }
  if (!judgesByWords) return { scores, isRelated: true };
  if (evidence.contradicts) return { scores: OPPOSED, isRelated: true };
  if (evidence.entails) return { scores: SUPPORTED, isRelated: true };
  // Numbers and dates are read, not guessed.
  const against =
    !evidence.isMeasured && evidence.said >= SAID_FOR_CONTRADICTION && comparison !== "distant"
      ? contradiction * DOUBT
      : 0;
  const isFor = evidence.said >= SAID_FOR_ENTAILMENT && !evidence.isOpen && comparison !== "other";
  const forIt = isFor ? entailment : 0;
  return { scores: [against, forIt, 1 - against - forIt], isRelated: true };
}
