/**
 * Compares two evaluations of a kind on the questions that both have: settings of the same name with each other, or
 * each with each where no name is the same. Called by the route; no state.
 */
import { invalid } from "../../document/field-path.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import type { Turns } from "../../protocol/turns.js";
import { takeSteps } from "../automl/rows-in-turns.js";
import type { StoredEvaluation } from "./evaluation-store.js";
import { meanOf, resampled } from "./intervals.js";
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
  const places = new Map(second.keys.map((key, place) => [key, place]));
  const common = first.keys.flatMap((key, place) => (places.has(key) ? [[place, places.get(key)!] as const] : []));
  if (common.length === 0) {
    const why =
      first.keys.length === 0 || second.keys.length === 0
        ? "one of the two keeps no row by row figures, because it had too many rows"
        : "the two have no question in common";
    throw invalid("other", why);
  }
  const comparisons: Comparisons["comparisons"][number][] = [];
  for (const [one, other] of couplesOf(Object.keys(first.scores), Object.keys(second.scores))) {
    for (const metric of Object.keys(first.scores[one]!)) {
      const [ours, theirs] = [first.scores[one]![metric]!, second.scores[other]![metric]];
      if (theirs === undefined) continue;
      const differences = Float64Array.from(
        common.flatMap(([place, placed]) => {
          const [value, counterpart] = [ours[place]!, theirs[placed]!];
          return value === null || counterpart === null ? [] : [value - counterpart];
        }),
      );
      if (differences.length === 0) continue;
      const [interval] = await takeSteps(turns, resampled([differences]));
      const names = [`${one} of the first`, `${other} of the second`] as const;
      const isLower = LOWER_IS_BETTER.has(metric);
      const { length } = differences;
      const said = differenceOf(names, meanOf(differences), interval!, length, isLower, ABOUT[first.kind]);
      comparisons.push({ first: one, second: other, metric, ...said });
    }
  }
  return { first: first.id, second: second.id, kind: first.kind, questions: common.length, comparisons };
}

function couplesOf(ones: readonly string[], others: readonly string[]): (readonly [string, string])[] {
  const same = ones.filter((name) => others.includes(name));
  if (same.length > 0) return same.map((name) => [name, name]);
  return ones.flatMap((one) => others.map((other) => [one, other] as const));
}
