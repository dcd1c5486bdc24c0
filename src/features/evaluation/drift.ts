/**
 * How far the distribution of a column has moved: the population stability index (PSI), and for numbers the distance of
 * Kolmogorov and Smirnov. Pure; what grows with the rows works in steps, so that others get their turns.
 */
import { mergeSorted, sortedInSteps } from "./sort-in-steps.js";

export interface Drift {
  readonly psi: number;
  /** What PSI is on average for samples of these sizes when nothing has moved. */
  readonly psi_by_chance: number;
  readonly verdict: DriftVerdict;
  /** The greatest distance of the two cumulative distributions, and how likely it is when nothing has moved. */
  readonly ks?: number;
  readonly ks_p_value?: number;
  /** Shares of rows without a value. */
  readonly missing: number;
  readonly reference_missing: number;
}

export type DriftVerdict = "stable" | "some" | "much";

/** Usual bounds of PSI (Siddiqi 2006). */
const SOME = 0.1;
const MUCH = 0.25;
/** Parts of the reference's numbers, each with as many rows; categories that count by themselves. */
const PARTS = 10;
const CATEGORIES = 20;
/** For an empty part, so that the logarithm exists. */
const SHARE_MIN = 1e-4;
const ROWS_A_STEP = 1024;

export function driftVerdict(psi: number): DriftVerdict {
  return psi < SOME ? "stable" : psi <= MUCH ? "some" : "much";
}

/** Of shares by part; both add up to 1. */
export function stabilityIndex(reference: readonly number[], current: readonly number[]): number {
  return reference.reduce((sum, share, part) => {
    const [was, is] = [Math.max(share, SHARE_MIN), Math.max(current[part]!, SHARE_MIN)];
    return sum + (is - was) * Math.log(is / was);
  }, 0);
}

/** NaN is a missing value. */
export function* driftOfNumbers(reference: Float64Array, current: Float64Array): Generator<void, Drift> {
  const was = yield* presentOf(reference);
  const is = yield* presentOf(current);
  const edges = edgesOf(was);
  const counts = [yield* countsBetween(was, edges), yield* countsBetween(is, edges)] as const;
  const drift = ofCounts(
    [...counts[0], reference.length - was.length],
    [...counts[1], current.length - is.length],
    reference.length,
    current.length,
  );
  if (was.length === 0 || is.length === 0) return drift;
  const ks = yield* distanceOf(was, is);
  return { ...drift, ks, ks_p_value: probabilityOf(ks, was.length, is.length) };
}

/** Null is a missing value. Rare categories of the reference, and new ones, count as one. */
export function* driftOfTexts(
  reference: readonly (string | null)[],
  current: readonly (string | null)[],
): Generator<void, Drift> {
  const was = yield* countsByText(reference);
  const is = yield* countsByText(current);
  const missing = [was.get(null) ?? 0, is.get(null) ?? 0] as const;
  was.delete(null);
  is.delete(null);
  const kept = [...was].sort((a, b) => b[1] - a[1]).slice(0, CATEGORIES);
  const known = kept.map(([text]) => is.get(text) ?? 0);
  const others = [reference.length - missing[0], current.length - missing[1]] as const;
  const rest = (all: number, counts: readonly number[]) => all - counts.reduce((sum, count) => sum + count, 0);
  const keptCounts = kept.map(([, count]) => count);
  return ofCounts(
    [...keptCounts, rest(others[0], keptCounts), missing[0]],
    [...known, rest(others[1], known), missing[1]],
    reference.length,
    current.length,
  );
}

/** The last count is that of missing values. */
function ofCounts(was: readonly number[], is: readonly number[], wasRows: number, isRows: number): Drift {
  const used = was.flatMap((count, part) => (count + is[part]! > 0 ? [part] : []));
  const psi = stabilityIndex(
    used.map((part) => was[part]! / wasRows),
    used.map((part) => is[part]! / isRows),
  );
  return {
    psi,
    psi_by_chance: (used.length - 1) * (1 / wasRows + 1 / isRows),
    verdict: driftVerdict(psi),
    missing: is.at(-1)! / isRows,
    reference_missing: was.at(-1)! / wasRows,
  };
}

function* presentOf(values: Float64Array): Generator<void, Float64Array> {
  const present = new Float64Array(values.length);
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if (!Number.isNaN(values[i]!)) present[count++] = values[i]!;
    if (i % ROWS_A_STEP === 0) yield;
  }
  return yield* sortedInSteps(present.subarray(0, count));
}

/** Upper ends of parts, each once: a value that fills several of them is one part. */
function edgesOf(sorted: Float64Array): number[] {
  if (sorted.length === 0) return [];
  const edges = Array.from(
    { length: PARTS - 1 },
    (_, part) => sorted[Math.floor(((part + 1) * sorted.length) / PARTS)]!,
  );
  return [...new Set(edges)].filter((edge) => edge > sorted[0]!);
}

/** A part holds what is below its edge and not below the one before. */
function* countsBetween(sorted: Float64Array, edges: readonly number[]): Generator<void, number[]> {
  const counts = new Array<number>(edges.length + 1).fill(0);
  let part = 0;
  for (let i = 0; i < sorted.length; i++) {
    while (part < edges.length && sorted[i]! >= edges[part]!) part++;
    counts[part]!++;
    if (i % ROWS_A_STEP === 0) yield;
  }
  return counts;
}

function* countsByText(values: readonly (string | null)[]): Generator<void, Map<string | null, number>> {
  const counts = new Map<string | null, number>();
  for (let i = 0; i < values.length; i++) {
    counts.set(values[i]!, (counts.get(values[i]!) ?? 0) + 1);
    if (i % ROWS_A_STEP === 0) yield;
  }
  return counts;
}

function* distanceOf(one: Float64Array, other: Float64Array): Generator<void, number> {
  let greatest = 0;
  let steps = 0;
  for (const { ones, others } of mergeSorted(one, other)) {
    greatest = Math.max(greatest, Math.abs(ones / one.length - others / other.length));
    if (++steps % ROWS_A_STEP === 0) yield;
  }
  return greatest;
}

/** The asymptotic distribution (Kolmogorov 1933), with the correction of Stephens (1970) for small samples. */
function probabilityOf(distance: number, one: number, other: number): number {
  const root = Math.sqrt((one * other) / (one + other));
  const x = (root + 0.12 + 0.11 / root) * distance;
  if (x < 0.2) return 1;
  let sum = 0;
  for (let k = 1; k <= 100; k++) sum += (k % 2 === 1 ? 2 : -2) * Math.exp(-2 * k * k * x * x);
  return Math.min(1, Math.max(0, sum));
}
