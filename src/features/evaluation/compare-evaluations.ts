/**
 * Compares two evaluations of a kind on the questions that both have: settings of the same name with each other, or
 * each with each where no name is the same. Called by the route; no state.
 */
import { invalid } from "../../document/field-path.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { giveWay, type Turns } from "../../protocol/turns.js";
import { takeSteps } from "../automl/rows-in-turns.js";
import type { StoredEvaluation } from "./evaluation-store.js";
import { type Interval, meanOf, resampled } from "./intervals.js";
import { NO_HIT } from "./retrieval-metrics.js";
import { differenceOf } from "./verdict.js";

type Comparisons = ResponseOf<"evaluation.compare">;

const LOWER_IS_BETTER: ReadonlySet<string> = new Set([NO_HIT, "contradicted", "absolute_error"]);
const ABOUT = { retrieval: "questions", answers: "answers", models: "rows" } as const;

/** Throws invalid_request where the two have no question in common. */
export async function compareEvaluations(
  turns: Turns,
  first: StoredEvaluation,
  second: StoredEvaluation,
): Promise<Comparisons> {
  if (first.kind !== second.kind) {
    throw invalid("other", `it is an evaluation of ${second.kind}, and the first is one of ${first.kind}`);
  }
  const [ours, theirs] = [first.scores, second.scores];
  const places = new Map(theirs.keys.map((key, place) => [key, place]));
  const common = ours.keys.flatMap((key, place) => (places.has(key) ? [[place, places.get(key)!] as const] : []));
  if (common.length === 0) {
    const why =
      ours.keys.length === 0 || theirs.keys.length === 0
        ? "one of the two keeps no row by row figures, because it had too many rows"
        : "the two have no question in common";
    throw invalid("other", why);
  }
  const couples: Couple[] = [];
  for (const [one, other] of couplesOf(Object.keys(ours.series), Object.keys(theirs.series))) {
    for (const [metric, values] of Object.entries(ours.series[one]!)) {
      const counterparts = theirs.series[other]![metric];
      if (counterparts === undefined) continue;
      const all = common.map(([place, placed]) => values[place]! - counterparts[placed]!);
      const differences = Float64Array.from(all.filter((difference) => !Number.isNaN(difference)));
      if (differences.length > 0) couples.push({ first: one, second: other, metric, differences });
      await giveWay(turns);
    }
  }
  const comparisons = await compared(turns, couples, ABOUT[first.kind]);
  return { first: first.id, second: second.id, kind: first.kind, questions: common.length, comparisons };
}

interface Couple {
  readonly first: string;
  readonly second: string;
  readonly metric: string;
  /** Of the questions that both have a figure of. */
  readonly differences: Float64Array;
}

/** Those of as many questions share their draws. */
async function compared(turns: Turns, couples: readonly Couple[], about: string): Promise<Comparisons["comparisons"]> {
  const lengths = new Set(couples.map(({ differences }) => differences.length));
  const intervals = new Map<Couple, Interval>();
  for (const length of lengths) {
    const some = couples.filter(({ differences }) => differences.length === length);
    const found = await takeSteps(turns, resampled(some.map(({ differences }) => differences)));
    for (const [i, couple] of some.entries()) intervals.set(couple, found[i]!);
  }
  return couples.map((couple) => {
    const { first, second, metric, differences } = couple;
    const names = [`${first} of the first`, `${second} of the second`] as const;
    const isLower = LOWER_IS_BETTER.has(metric);
    const interval = intervals.get(couple)!;
    const said = differenceOf(names, meanOf(differences), interval, differences.length, isLower, about);
    return { first, second, metric, ...said };
  });
}

function couplesOf(ones: readonly string[], others: readonly string[]): (readonly [string, string])[] {
  const same = ones.filter((name) => others.includes(name));
  if (same.length > 0) return same.map((name) => [name, name]);
  return ones.flatMap((one) => others.map((other) => [one, other] as const));
}
