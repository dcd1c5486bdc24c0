/**
 * Turns scores into a verdict by the interface's five rules, in their order. Called by claim-verifier.ts; pure.
 *
 *  1. Each anchor counts by itself: its scores are those of (premise: the anchor, hypothesis: the statement).
 *  2. An anchor that reaches the contradiction threshold makes the statement a LIE, whatever the others say.
 *  3. Otherwise one that reaches the entailment threshold makes it the TRUTH.
 *  4. Otherwise, in an open world, it is UNVERIFIED_PLAUSIBLE.
 *  5. Otherwise, in a closed world, it is a LIE.
 */
import type { NliScores } from "./labels.js";

export interface VerdictRules {
  readonly closedWorld: boolean;
  /** From 0 to 1; a score that is equal reaches it. */
  readonly contradictionThreshold: number;
  readonly entailmentThreshold: number;
}

export interface Verdict {
  readonly verdict: "TRUTH" | "LIE" | "UNVERIFIED_PLAUSIBLE";
  readonly reason: string;
  /**
   * From 0 to 1. Of a contradiction or an entailment its score; of a LIE in a closed world how little the best anchor
   * entails; of UNVERIFIED_PLAUSIBLE how far the best anchor is from either.
   */
  readonly confidence: number;
  /** The number, from 0, of the anchor that contradicts most; null unless rule 2 decided. */
  readonly violated: number | null;
  /** Of the one that entails most; null unless rule 3 decided. */
  readonly matched: number | null;
}

/** `scores`: of each anchor, at least one. */
export function verdictOf(scores: readonly NliScores[], rules: VerdictRules): Verdict {
  const { closedWorld, contradictionThreshold, entailmentThreshold } = rules;
  const contradiction = highest(scores.map(([c]) => c));
  const entailment = highest(scores.map(([, e]) => e));
  const contradicts = `contradiction ${shown(contradiction.score)} of ${name(contradiction)}`;
  const entails = `entailment ${shown(entailment.score)} of ${name(entailment)}`;
  if (contradiction.score >= contradictionThreshold) {
    return {
      verdict: "LIE",
      reason: `An anchor contradicts the statement: ${contradicts} reaches ${contradictionThreshold}.`,
      confidence: contradiction.score,
      violated: contradiction.anchor,
      matched: null,
    };
  }
  if (entailment.score >= entailmentThreshold) {
    return {
      verdict: "TRUTH",
      reason: `An anchor entails the statement: ${entails} reaches ${entailmentThreshold}, and none contradicts it.`,
      confidence: entailment.score,
      violated: null,
      matched: entailment.anchor,
    };
  }
  if (!closedWorld) {
    return {
      verdict: "UNVERIFIED_PLAUSIBLE",
      reason: `No anchor contradicts or entails the statement: ${contradicts} is below ${contradictionThreshold}, ${entails} below ${entailmentThreshold}.`,
      confidence: 1 - Math.max(contradiction.score, entailment.score),
      violated: null,
      matched: null,
    };
  }
  return {
    verdict: "LIE",
    reason: `No anchor entails the statement, and in a closed world, whatever is not entailed is false: ${entails} is below ${entailmentThreshold}.`,
    confidence: 1 - entailment.score,
    violated: null,
    matched: null,
  };
}

interface Highest {
  readonly anchor: number;
  readonly score: number;
}

/** The first of the highest. */
function highest(scores: readonly number[]): Highest {
  const score = Math.max(...scores);
  return { anchor: scores.indexOf(score), score };
}

const name = ({ anchor }: Highest): string => `truth_anchors[${anchor}]`;

/** Cut rather than rounded, so that a score below a threshold does not look as if it reached it. */
const shown = (score: number): string => (Math.floor(score * 10_000) / 10_000).toFixed(4);
