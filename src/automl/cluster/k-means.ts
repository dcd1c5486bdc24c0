/**
 * k-means (Lloyd 1982) started by k-means++ (Arthur and Vassilvitskii 2007), the best of several starts; and the mean
 * silhouette (Rousseeuw 1987). On row-major matrices. No state.
 */
import { indices, type Random } from "../random.js";

export interface Clustering {
  /** Clusters × width. */
  readonly centres: Float32Array;
  /** Of each row. */
  readonly labels: Int32Array;
  /** Sum of squared distances to the own centre. */
  readonly inertia: number;
}

const STARTS = 4;
const STEPS_MAX = 60;

export function kMeans(
  matrix: Float32Array,
  width: number,
  count: number,
  random: Random,
  checkStop: () => void,
): Clustering {
  let best: Clustering | null = null;
  for (let start = 0; start < STARTS; start++) {
    const found = descend(matrix, width, startingCentres(matrix, width, count, random), checkStop);
    if (best === null || found.inertia < best.inertia) best = found;
  }
  return best!;
}

function startingCentres(matrix: Float32Array, width: number, count: number, random: Random): Float32Array {
  const rows = matrix.length / width;
  const centres = new Float32Array(count * width);
  const nearest = new Float64Array(rows).fill(Number.POSITIVE_INFINITY);
  let chosen = random.below(rows);
  for (let c = 0; c < count; c++) {
    centres.set(matrix.subarray(chosen * width, (chosen + 1) * width), c * width);
    let total = 0;
    for (let row = 0; row < rows; row++) {
      nearest[row] = Math.min(nearest[row]!, squaredDistance(matrix, row * width, centres, c * width, width));
      total += nearest[row]!;
    }
    let left = random.next() * total;
    chosen = rows - 1;
    for (let row = 0; row < rows; row++) {
      left -= nearest[row]!;
      if (left < 0) {
        chosen = row;
        break;
      }
    }
  }
  return centres;
}

function descend(matrix: Float32Array, width: number, centres: Float32Array, checkStop: () => void): Clustering {
  const rows = matrix.length / width;
  const count = centres.length / width;
  const labels = new Int32Array(rows).fill(-1);
  let inertia = 0;
  for (let step = 0; step < STEPS_MAX; step++) {
    checkStop();
    let moved = 0;
    inertia = 0;
    const sums = new Float64Array(centres.length);
    const sizes = new Float64Array(count);
    for (let row = 0; row < rows; row++) {
      const { cluster, distance } = nearestCentre(matrix, row * width, centres, width);
      if (labels[row] !== cluster) moved++;
      labels[row] = cluster;
      inertia += distance;
      sizes[cluster]! += 1;
      for (let i = 0; i < width; i++) sums[cluster * width + i]! += matrix[row * width + i]!;
    }
    if (moved === 0) break;
    // A centre that lost all its rows stays where it was.
    for (let i = 0; i < sums.length; i++) {
      const size = sizes[Math.floor(i / width)]!;
      if (size > 0) centres[i] = sums[i]! / size;
    }
  }
  return { centres, labels, inertia };
}

export function nearestCentre(
  matrix: Float32Array,
  at: number,
  centres: Float32Array,
  width: number,
): { cluster: number; distance: number } {
  let cluster = 0;
  let distance = Number.POSITIVE_INFINITY;
  for (let c = 0; c * width < centres.length; c++) {
    const away = squaredDistance(matrix, at, centres, c * width, width);
    if (away < distance) {
      cluster = c;
      distance = away;
    }
  }
  return { cluster, distance };
}

function squaredDistance(a: Float32Array, from: number, b: Float32Array, to: number, width: number): number {
  let sum = 0;
  for (let i = 0; i < width; i++) {
    const away = a[from + i]! - b[to + i]!;
    sum += away * away;
  }
  return sum;
}

/** Rows whose silhouette is taken, beside each other. */
const SILHOUETTE_ROWS_MAX = 1000;

/** From -1 to 1; rows alone in their cluster count 0, as in the paper. */
export function silhouette(matrix: Float32Array, width: number, labels: Int32Array, random: Random): number {
  const all = indices(labels.length);
  const rows =
    all.length <= SILHOUETTE_ROWS_MAX ? all : random.shuffle(all, SILHOUETTE_ROWS_MAX).slice(0, SILHOUETTE_ROWS_MAX);
  const clusters = labels.reduce((most, label) => Math.max(most, label), 0) + 1;
  const sizes = new Float64Array(clusters);
  for (const row of rows) sizes[labels[row]!]! += 1;
  let total = 0;
  for (const row of rows) {
    const own = labels[row]!;
    if (sizes[own]! < 2) continue;
    const sums = new Float64Array(clusters);
    for (const other of rows) {
      sums[labels[other]!]! += Math.sqrt(squaredDistance(matrix, row * width, matrix, other * width, width));
    }
    const inside = sums[own]! / (sizes[own]! - 1);
    let outside = Number.POSITIVE_INFINITY;
    for (let c = 0; c < clusters; c++)
      if (c !== own && sizes[c]! > 0) outside = Math.min(outside, sums[c]! / sizes[c]!);
    if (Number.isFinite(outside) && Math.max(inside, outside) > 0)
      total += (outside - inside) / Math.max(inside, outside);
  }
  return total / rows.length;
}
