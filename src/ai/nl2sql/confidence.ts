/**
 * How sure an answer of the rules is: a regression over its traits, fitted on questions that were asked before the
 * rules were changed for them (`bench/quality/fit-confidence.ts`). Called by `match-question.ts`; stateless.
 */
import { CONSTANT, SURE_FROM, WEIGHTS } from "./confidence-weights.js";
import { type Answered, type NamedSchema, TRAITS, traitsOf } from "./traits.js";

/** Told of what is sure, at least; and at most, of anything. */
export const TOLD_SURE = 0.9;
const TOLD_MAX = 0.97;
/** Less likely counts, of things some of which have none, are readings to choose from. */
export const LIKELY = 0.7;

/** How likely it is right, 0 to 1. */
export function likelihood(text: string, answered: Answered, schema: NamedSchema): number {
  const traits = traitsOf(text, answered, schema);
  const sum = TRAITS.reduce((total, trait) => total + WEIGHTS[trait] * traits[trait], CONSTANT);
  return 1 / (1 + Math.exp(-sum));
}

/** As it is told: above .9 only where, of other schemas, few answers as likely were wrong. */
export function confidenceOf(likely: number, sureFrom = SURE_FROM): number {
  const told =
    likely < sureFrom
      ? (likely / sureFrom) * TOLD_SURE
      : TOLD_SURE + ((likely - sureFrom) / (1 - sureFrom)) * (TOLD_MAX - TOLD_SURE);
  return Math.floor(told * 100) / 100;
}
