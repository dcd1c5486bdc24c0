/**
 * The three answers of a classifier of claims, in the order in which scores are given everywhere except inside a
 * bundle. A bundle may have a fourth output: that the texts have nothing to do with each other.
 */
import { BundleError } from "../manifest.js";

export const NLI_LABELS = ["contradiction", "entailment", "neutral"] as const;
const UNRELATED = "unrelated";

/** Probabilities, which add up to 1. */
export type NliScores = readonly [contradiction: number, entailment: number, neutral: number];

/**
 * Where the bundle's outputs have contradiction, entailment and neutral, and `unrelated` behind them if it has that;
 * names count whatever their case. Throws BundleError for labels that are not these.
 */
export function labelPlaces(labels: readonly string[] | undefined): readonly number[] {
  const names = (labels ?? []).map((label) => label.trim().toLowerCase());
  const wanted = names.includes(UNRELATED) ? [...NLI_LABELS, UNRELATED] : NLI_LABELS;
  const places = wanted.map((label) => names.indexOf(label));
  if (names.length !== wanted.length || places.includes(-1)) {
    const given = names.length === 0 ? "has no labels" : `has the labels ${names.join(", ")}`;
    throw new BundleError(
      `the manifest ${given}; those of claims are ${NLI_LABELS.join(", ")} and, if it has it, ${UNRELATED}`,
    );
  }
  return places;
}

/** Softmax, in double precision, of a model's outputs for contradiction, entailment and neutral, whatever is behind. */
export function scoresOf(logits: ArrayLike<number>): NliScores {
  const [contradiction, entailment, neutral] = [logits[0]!, logits[1]!, logits[2]!];
  // Less the largest, so that nothing overflows.
  const largest = Math.max(contradiction, entailment, neutral);
  const [c, e, n] = [Math.exp(contradiction - largest), Math.exp(entailment - largest), Math.exp(neutral - largest)];
  const sum = c + e + n;
  return [c / sum, e / sum, n / sum];
}
