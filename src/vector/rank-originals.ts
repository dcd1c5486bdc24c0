/**
 * Ranks what a graph of codes has found by the vectors that its owner keeps. Each vector is a read of a record, so only
 * those are asked for that may still be among the nearest: the code says how far away a vector is at least. Called by
 * vector-graph.ts; the query is the module's input.
 */
import { floatsAt, type GraphModule } from "./graph-module.js";

/** The vectors in slots, as added; undefined: not to be found. */
export type Originals = (slots: readonly number[]) => readonly (Float32Array | undefined)[];

export interface Candidates {
  readonly slots: ArrayLike<number>;
  /** What the module measured by codes, ascending. Null: that says nothing of the distance, so all are asked for. */
  readonly measured: ArrayLike<number> | null;
  /** By how much of a code's largest error what was measured may be wrong. */
  readonly errorShare: number;
  /** Of those that may be among the nearest: whether it counts. Left out: all do. */
  readonly passes?: Passes | undefined;
}

export type Passes = (slot: number) => boolean;

export interface Ranked {
  readonly slot: number;
  /** As the module measures. */
  readonly distance: number;
}

/** What was measured of vectors that were read before, and how many more may be read now (read-distances.ts). */
export interface Reads {
  of(slot: number): number | undefined;
  /** How many of so many; it does not return if none. */
  allow(count: number): number;
  note(slot: number, distance: number): void;
}

/** Vectors of one read. Of many that are wanted so large a part, since each read sorts them. */
const GROUP = 8;
const GROUP_MAX = 128;
const GROUP_SHARE = 16;
/** Of a code's error, what is reckoned with before anything was read. */
const LIKELY_SHARE = 1;
const LINKED = 1;

/** What it takes to rank. */
export interface Ranking {
  readonly module: GraphModule;
  readonly originals: Originals;
  /** Of a search that may take turns. */
  readonly reads: Reads | undefined;
}

/** The nearest `k` of the candidates, nearest first; those for which `isTooFar` says so are not wanted. */
export function rankOriginals(
  ranking: Ranking,
  { slots, measured, errorShare, passes = () => true }: Candidates,
  k: number,
  isTooFar: (distance: number) => boolean = () => false,
): Ranked[] {
  const { module } = ranking;
  let best: Ranked[] = [];
  // Not a number, where a code has no bound: then the vector is asked for.
  const leastOf = (i: number): number => measured![i]! - errorShare * module.errorOf(slots[i]!);
  const mayCount = (i: number): boolean => {
    if (measured === null) return true;
    const least = leastOf(i);
    return !isTooFar(least) && !(best.length >= k && least > best[k - 1]!.distance);
  };
  const group = measured === null ? GROUP_MAX : Math.max(GROUP, Math.min(GROUP_MAX, Math.floor(k / GROUP_SHARE)));
  let wanted = measured === null ? GROUP_MAX : firstGroup(module, slots, measured, errorShare, k);
  for (let next = 0; next < slots.length; wanted = group) {
    const asked: number[] = [];
    for (; next < slots.length && asked.length < wanted; next++) {
      const slot = slots[next]!;
      if (module.slotState(slot) === LINKED && mayCount(next) && passes(slot)) asked.push(slot);
    }
    if (asked.length === 0) continue;
    for (const { slot, distance } of distancesOf(ranking, asked))
      if (!Number.isNaN(distance) && !isTooFar(distance)) best.push({ slot, distance });
    if (best.length >= k) best = nearestOf(best, k);
  }
  return nearestOf(best, k);
}

function nearestOf(ranked: Ranked[], k: number): Ranked[] {
  return ranked.sort((a, b) => a.distance - b.distance || a.slot - b.slot).slice(0, k);
}

/**
 * How many to ask for at first: `k`, and those of the next few that may be nearer than the furthest of these can be, so
 * that most searches read once.
 */
function firstGroup(
  module: GraphModule,
  slots: ArrayLike<number>,
  measured: ArrayLike<number>,
  errorShare: number,
  k: number,
): number {
  const last = Math.min(k, slots.length) - 1;
  if (last < 0 || k >= GROUP_MAX) return Math.max(GROUP, Math.min(GROUP_MAX, k));
  // Not a number, where a code has no bound: then it is `k`.
  const most = measured[last]! + errorShare * module.errorOf(slots[last]!) * LIKELY_SHARE;
  let count = k;
  const end = Math.min(slots.length, k + GROUP);
  while (count < end && measured[count]! <= most) count++;
  return Math.max(GROUP, count);
}

/** Not a number for those that have none. What may be read is read together. */
function distancesOf({ module, originals, reads }: Ranking, slots: readonly number[]): Ranked[] {
  const found: Ranked[] = [];
  const unread: number[] = [];
  for (const slot of slots) {
    const distance = reads?.of(slot);
    if (distance === undefined) unread.push(slot);
    else found.push({ slot, distance });
  }
  while (unread.length > 0) {
    const some = unread.splice(0, reads?.allow(unread.length) ?? unread.length);
    const vectors = originals(some);
    for (const [i, slot] of some.entries()) {
      const distance = distanceTo(module, vectors[i]);
      reads?.note(slot, distance);
      found.push({ slot, distance });
    }
  }
  return found;
}

function distanceTo(module: GraphModule, vector: Float32Array | undefined): number {
  if (vector === undefined) return Number.NaN;
  floatsAt(module, module.otherAt(), vector.length).set(vector);
  return module.distanceToOther();
}
