/** Written by bench/quality/fit-confidence.ts: how each trait of an answer speaks for it. Do not edit. */
import type { Trait } from "./traits.js";

export const CONSTANT = 2.371;

/** Of other schemas than it was fitted on, at most 3 % of the answers from here up were wrong. */
export const SURE_FROM = 0.969;

export const WEIGHTS: Readonly<Record<Trait, number>> = {
  certainty: 3.925,
  sure: 0.3568,
  unreadWords: 0.04688,
  unsaidConditions: 0.09944,
  unsaidMeasures: -0.7028,
  unsaidGroups: 0.02816,
  unsaidTables: -0.03783,
  weakNames: -0.7481,
  rivals: -0.1585,
  joins: -0.3511,
  exists: -0.3897,
  denied: 0.4499,
  grouped: -0.3143,
  ranked: 0.2708,
  having: 1.61,
  times: 0.2539,
  subqueries: 0.4122,
  headNotShown: 0.4672,
  aside: -3.29,
  unsaidFunction: -0.07547,
  unsaidCount: -0.05248,
  farExists: -0.02639,
  leftOut: -2.156,
  allRows: 0.9201,
};
