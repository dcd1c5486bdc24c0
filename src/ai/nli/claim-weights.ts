/** Written by bench/quality/fit-claims.ts: how a trait of a pair speaks for an answer beside neutral. Do not edit. */
import type { Trait } from "./pair-traits.js";

export interface Weights {
  readonly constant: number;
  readonly weights: Readonly<Partial<Record<Trait, number>>>;
}

/** For models whose manifest has judged_by_words. */
export const JUDGED = {
  contradiction: {
    constant: -1.067,
    weights: {
      contradiction: 0.2234,
      entailment: 0.05214,
      apart: -0.2442,
      relatedness: 1.613,
      said: -0.6924,
      nearness: -0.9534,
      noWordShared: -0.4845,
      fewWordsShared: -1.258,
      open: -0.2366,
      measured: -1.01,
      uncounted: -0.4466,
      premiseLength: 1.214,
      hypothesisLength: -1.359,
      scene: 0.5995,
      contradictionOfRelated: 0.5881,
      contradictionOfScene: 0.4153,
      entailmentOfSaid: -0.0657,
    },
  },
  entailment: {
    constant: -6.856,
    weights: {
      contradiction: -0.5623,
      entailment: 0.8111,
      apart: 0.1269,
      relatedness: 0.03761,
      said: -0.4653,
      nearness: 8.607,
      noWordShared: 1.01,
      fewWordsShared: 0.1512,
      open: 0.1364,
      measured: -0.6356,
      uncounted: -0.7873,
      premiseLength: 1.955,
      hypothesisLength: -1.503,
      scene: 0.7111,
      contradictionOfRelated: 0.5974,
      contradictionOfScene: 0.1317,
      entailmentOfSaid: 0.1879,
    },
  },
  unrelated: {
    constant: -1.523,
    weights: {
      contradiction: 0.09625,
      entailment: -0.1557,
      apart: 0.2319,
      relatedness: -0.99,
      said: -0.4002,
      nearness: -10.62,
      noWordShared: 0.6221,
      fewWordsShared: -0.2604,
      open: -0.2549,
      measured: -0.3195,
      uncounted: 0.1248,
      premiseLength: 0.4669,
      hypothesisLength: -0.2091,
      scene: 0.3443,
      contradictionOfRelated: 0.436,
      contradictionOfScene: 0.2913,
      entailmentOfSaid: 0.1614,
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
