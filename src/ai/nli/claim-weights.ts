/** Written by bench/quality/fit-claims.ts: how a trait of a pair speaks for an answer beside neutral. Do not edit. */
import type { Trait } from "./pair-traits.js";

export interface Weights {
  readonly constant: number;
  readonly weights: Readonly<Partial<Record<Trait, number>>>;
}

/** For models whose manifest has judged_by_words. */
export const JUDGED = {
  contradiction: {
    constant: -0.9647,
    weights: {
      contradiction: 0.2589,
      entailment: 0.06694,
      apart: -0.2561,
      relatedness: 1.704,
      said: -0.7775,
      nearness: -1.067,
      noWordShared: -0.4987,
      fewWordsShared: -1.284,
      open: -0.2449,
      measured: -1.006,
      uncounted: -0.4231,
      premiseLength: 1.244,
      hypothesisLength: -1.426,
      scene: 0.5988,
      contradictionOfRelated: 0.5356,
      contradictionOfScene: 0.4225,
      entailmentOfSaid: -0.09122,
    },
  },
  entailment: {
    constant: -6.833,
    weights: {
      contradiction: -0.5536,
      entailment: 0.8128,
      apart: 0.1269,
      relatedness: 0.07386,
      said: -0.5031,
      nearness: 8.599,
      noWordShared: 0.9937,
      fewWordsShared: 0.1492,
      open: 0.1357,
      measured: -0.6368,
      uncounted: -0.779,
      premiseLength: 1.959,
      hypothesisLength: -1.517,
      scene: 0.7133,
      contradictionOfRelated: 0.581,
      contradictionOfScene: 0.1325,
      entailmentOfSaid: 0.1866,
    },
  },
  unrelated: {
    constant: 0.4554,
    weights: {
      contradiction: 0.09746,
      entailment: -0.08988,
      apart: 0.2322,
      relatedness: -1.46,
      said: 0.3522,
      nearness: -12.82,
      noWordShared: 0.9543,
      fewWordsShared: 0.2514,
      open: -0.3333,
      measured: -0.3023,
      uncounted: 0.1142,
      premiseLength: 0.3929,
      hypothesisLength: -0.198,
      scene: 0.5398,
      contradictionOfRelated: 0.5658,
      contradictionOfScene: 0.2393,
      entailmentOfSaid: 0.1604,
    },
  },
} satisfies Readonly<Record<string, Weights>>;

/** For the same models, if it is known that the texts are about the same thing or scene. */
export const SAME_SUBJECT = {
  contradiction: {
    constant: -1.134,
    weights: {
      contradiction: 0.2637,
      entailment: 0.008537,
      apart: -0.2522,
      relatedness: 1.612,
      said: -0.6407,
      nearness: -1.771,
      noWordShared: -0.08326,
      fewWordsShared: -0.7344,
      open: -0.5293,
      measured: -0.7901,
      uncounted: -0.2469,
      premiseLength: 0.8418,
      hypothesisLength: -0.8307,
      scene: 0.8869,
      contradictionOfRelated: 0.5284,
      contradictionOfScene: 0.6404,
      entailmentOfSaid: 0.03246,
    },
  },
  entailment: {
    constant: -5.91,
    weights: {
      contradiction: -0.648,
      entailment: 0.7546,
      apart: 0.37,
      relatedness: 1.078,
      said: -0.6364,
      nearness: 9.028,
      noWordShared: 1.026,
      fewWordsShared: 0.3994,
      open: 0.1959,
      measured: -0.5508,
      uncounted: -0.4455,
      premiseLength: 1.678,
      hypothesisLength: -1.68,
      scene: 0.9987,
      contradictionOfRelated: 0.5688,
      contradictionOfScene: 0.3506,
      entailmentOfSaid: 0.2664,
    },
  },
} satisfies Readonly<Record<string, Weights>>;

/** That two texts are about different things, by their words alone: for other models. */
export const GATE: Weights = {
  constant: 0.1795,
  weights: {
    relatedness: -2.598,
    said: 0.3932,
    nearness: -14.08,
    noWordShared: 1.536,
    fewWordsShared: 0.9108,
    open: -0.232,
    measured: -0.07197,
    uncounted: 0.2727,
    premiseLength: 0.0408,
    hypothesisLength: 0.4667,
    scene: 0.5281,
  },
};
