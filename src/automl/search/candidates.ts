/**
 * The configurations of a search: each algorithm's usual ones in turn, then others by chance (Bergstra and Bengio
 * 2012). Called by search.ts; no state.
 */
import type { Algorithm } from "../contract.js";
import type { Parameters } from "../model/learner.js";
import { parametersByChance, usualParameters } from "../model/learners.js";
import type { Random } from "../random.js";

export interface Candidate {
  readonly trial: number;
  readonly algorithm: Algorithm;
  readonly parameters: Parameters;
}

/** Boosting has the most to gain from its parameters, linear models the least. */
const TURNS: readonly Algorithm[] = ["xgboost", "neural_network", "xgboost", "random_forest", "xgboost", "linear"];

export function candidatesOf(
  algorithms: readonly Algorithm[],
  trials: number,
  rows: number,
  classes: number,
  random: Random,
): Candidate[] {
  const usual = algorithms.map((algorithm) => usualParameters(algorithm, rows, classes));
  const rounds = Math.max(...usual.map(({ length }) => length));
  const chosen = Array.from({ length: rounds }, (_, round) =>
    algorithms.flatMap((algorithm, i) => {
      const parameters = usual[i]![round];
      return parameters === undefined ? [] : [{ algorithm, parameters }];
    }),
  ).flat();
  const turns = TURNS.filter((algorithm) => algorithms.includes(algorithm));
  while (chosen.length < trials) {
    const algorithm = turns[chosen.length % turns.length]!;
    chosen.push({ algorithm, parameters: parametersByChance(algorithm, random) });
  }
  return chosen.slice(0, trials).map((each, trial) => ({ trial, ...each }));
}
