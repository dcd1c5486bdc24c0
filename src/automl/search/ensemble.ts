/**
 * Chooses which models vote together: those near the best, then greedy selection with replacement (Caruana et al. 2004)
 * on out-of-fold predictions. No state.
 */

export interface Vote {
  /** Place among the candidates. */
  readonly member: number;
  /** Shares that sum to 1. */
  readonly weight: number;
}

const PICKS_MAX = 15;
const MEMBERS_MAX = 4;
/** Rows on which the votes are tried. */
const ROWS_MAX = 20_000;
/** Whose loss is larger than the least by this share at most: they all have a vote at first, for they err elsewhere. */
const NEAR = 0.1;
/** A vote more must better the score by this share of it. */
const WORTHWHILE = 0.0005;

/**
 * `candidates`: predictions, rows × outputs, the best first. `score`: of target and predictions; lower is better here.
 */
export function selectEnsemble(
  candidates: readonly Float64Array[],
  target: Float64Array,
  outputs: number,
  score: (target: Float64Array, predicted: Float64Array) => number,
): Vote[] {
  const step = Math.max(1, Math.ceil(target.length / ROWS_MAX));
  const rows = Math.ceil(target.length / step);
  const wanted = Float64Array.from({ length: rows }, (_, i) => target[i * step]!);
  const thinned = candidates.map((predicted) =>
    Float64Array.from(
      { length: rows * outputs },
      (_, i) => predicted[Math.floor(i / outputs) * step * outputs + (i % outputs)]!,
    ),
  );
  const picks = nearLeader(thinned.map((predicted) => score(wanted, predicted)));
  const sum = new Float64Array(thinned[0]!.length);
  const join = (member: number) => {
    for (let i = 0; i < sum.length; i++) sum[i]! += thinned[member]![i]!;
  };
  for (const member of picks) join(member);
  let best = score(
    wanted,
    sum.map((part) => part / picks.length),
  );
  while (picks.length < PICKS_MAX) {
    const members = new Set(picks);
    let chosen = -1;
    let chosenScore = best - WORTHWHILE * Math.abs(best);
    for (let member = 0; member < thinned.length; member++) {
      if (!members.has(member) && members.size >= MEMBERS_MAX) continue;
      const count = picks.length + 1;
      const mixed = sum.map((part, i) => (part + thinned[member]![i]!) / count);
      const mixedScore = score(wanted, mixed);
      if (mixedScore < chosenScore) {
        chosen = member;
        chosenScore = mixedScore;
      }
    }
    if (chosen < 0) break;
    picks.push(chosen);
    join(chosen);
    best = chosenScore;
  }
  return [...new Set(picks)].map((member) => ({
    member,
    weight: picks.filter((pick) => pick === member).length / picks.length,
  }));
}

/** By their losses. */
function nearLeader(losses: readonly number[]): number[] {
  const lead = Math.min(...losses);
  return [...losses.keys()].filter((member) => losses[member]! <= lead + NEAR * Math.abs(lead)).slice(0, MEMBERS_MAX);
}

/** The weighted mean of predictions. */
export function mix(predictions: readonly Float64Array[], weights: readonly number[]): Float64Array {
  const mixed = new Float64Array(predictions[0]!.length);
  predictions.forEach((predicted, member) => {
    const weight = weights[member]!;
    for (let i = 0; i < mixed.length; i++) mixed[i]! += weight * predicted[i]!;
  });
  return mixed;
}
