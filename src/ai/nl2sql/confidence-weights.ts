/** Written by bench/quality/fit-confidence.ts: how each trait of an answer speaks for it. Do not edit. */
import type { Trait } from "./traits.js";

export const CONSTANT = 2.636;

/** Of other schemas than it was fitted on, at most 3 % of the answers from here up were wrong. */
export const SURE_FROM = 0.963;

export const WEIGHTS: Readonly<Record<Trait, number>> = {
  certainty: 4.413,
  sure: 0.1789,
  unreadWords: 0.4306,
  unsaidConditions: 0.09799,
  unsaidMeasures: -0.9137,
  unsaidGroups: -0.1064,
  unsaidTables: -0.08522,
  weakNames: -0.8393,
  rivals: -0.259,
  joins: -0.2909,
  exists: -0.6069,
  denied: 0.3589,
  grouped: -0.09922,
  ranked: 0.2077,
  having: 1.401,
  times: 0.2092,
  subqueries: 0.3463,
  headNotShown: 0.3068,
  aside: -3.472,
  unsaidFunction: -0.2009,
  unsaidCount: -0.4124,
  farExists: -0.1928,
  leftOut: -2.378,
};
