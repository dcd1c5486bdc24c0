/**
 * How good a list of found documents is, given the grades of those that are relevant (0: not relevant). Used by
 * evaluations of retrieval and by `make quality`. Pure.
 */

/** By document. */
export type Grades = ReadonlyMap<string, number>;

/** Of the first `places`: normalized discounted cumulative gain with the gain 2^grade - 1 (Burges et al. 2005). */
export function ndcg(found: readonly string[], relevant: Grades, places: number): number {
  const best = [...relevant.values()].sort((a, b) => b - a);
  const most = gainOf(best, places);
  const grades = found.map((id) => relevant.get(id) ?? 0);
  return most === 0 ? 0 : gainOf(grades, places) / most;
}

function gainOf(grades: readonly number[], places: number): number {
  return grades.slice(0, places).reduce((sum, grade, rank) => sum + (2 ** grade - 1) / Math.log2(rank + 2), 0);
}

/** The share of the relevant documents that are among the first `places`. */
export function recall(found: readonly string[], relevant: Grades, places: number): number {
  const all = [...relevant.values()].filter((grade) => grade > 0).length;
  return all === 0 ? 0 : hits(found, relevant, places) / all;
}

/** The share of the first `places` that are relevant; a place that is left empty counts as a miss. */
export function precision(found: readonly string[], relevant: Grades, places: number): number {
  return hits(found, relevant, places) / places;
}

/** 1 divided by the rank of the first relevant document among the first `places`; 0 without one. */
export function reciprocalRank(found: readonly string[], relevant: Grades, places: number): number {
  const rank = found.slice(0, places).findIndex((id) => isRelevant(id, relevant));
  return rank < 0 ? 0 : 1 / (rank + 1);
}

function hits(found: readonly string[], relevant: Grades, places: number): number {
  return found.slice(0, places).filter((id) => isRelevant(id, relevant)).length;
}

const isRelevant = (id: string, relevant: Grades) => (relevant.get(id) ?? 0) > 0;

/** 1 for a question without any relevant document among those that were found. */
export const NO_HIT = "no_hit";

/** What is measured of each question, by name: `k` is the number of documents that a search gives. */
export function measuresOf(k: number): ReadonlyMap<string, (found: readonly string[], relevant: Grades) => number> {
  const recalls = [...new Set([1, 5, k])].filter((places) => places <= k);
  return new Map([
    ...recalls.map(
      (places) =>
        [`recall@${places}`, (found: readonly string[], relevant: Grades) => recall(found, relevant, places)] as const,
    ),
    [`precision@${k}`, (found, relevant) => precision(found, relevant, k)],
    [`ndcg@${k}`, (found, relevant) => ndcg(found, relevant, k)],
    ["mrr", (found, relevant) => reciprocalRank(found, relevant, k)],
    [NO_HIT, (found, relevant) => (hits(found, relevant, k) === 0 ? 1 : 0)],
  ]);
}
