/**
 * Corrects a model's scores of a pair by what the texts have in common (compare-texts.ts). A model that was trained on
 * captions takes two texts about different things for a contradiction, and is never certain about things that it has
 * not seen. Called by claim-verifier.ts; pure.
 */
import type { TextPair } from "../inference-messages.js";
import { compareTexts } from "./compare-texts.js";
import type { NliScores } from "./labels.js";

const ENTAILED: NliScores = [0, 1, 0];
/** Of what differs in the one word that turns it round: certain but for what words alone do not tell. */
const OPPOSED: NliScores = [0.95, 0, 0.05];

/**
 * `judgesByWords`: the model's manifest asks for it (`judged_by_words`). Then unrelated texts are neutral, texts that
 * share little do not contradict, opposites contradict, and another number or name is not entailed. Texts that say the
 * same entail each other, whatever the model.
 */
export function weighScores({ premise, hypothesis }: TextPair, scores: NliScores, judgesByWords: boolean): NliScores {
  const comparison = compareTexts(premise, hypothesis);
  if (comparison === "same") return ENTAILED;
  if (!judgesByWords || comparison === "related") return scores;
  if (comparison === "opposite") return OPPOSED;
  const [contradiction, entailment, neutral] = scores;
  if (comparison === "other") return [contradiction, 0, entailment + neutral];
  return comparison === "distant" ? [0, entailment, contradiction + neutral] : [0, 0, 1];
}
