/**
 * Principal components of vectors, by randomised subspace iteration (Halko, Martinsson and Tropp 2011, algorithm 4.4).
 * Called by plan.ts; no state.
 */
import type { Random } from "../random.js";

export interface Axes {
  readonly mean: Float32Array;
  /** Components × dimensions, orthonormal. */
  readonly axes: Float32Array;
}

const SAMPLE_ROWS_MAX = 4000;
const ITERATIONS = 3;

/** `values`: row-major; rows that start with NaN do not count. The greatest `count` components, in no set order. */
export function principalAxes(values: Float32Array, dimensions: number, count: number, random: Random): Axes {
  const rows = values.length / dimensions;
  const step = Math.max(1, Math.ceil(rows / SAMPLE_ROWS_MAX));
  const sample: Float64Array[] = [];
  for (let row = 0; row < rows; row += step) {
    if (Number.isNaN(values[row * dimensions]!)) continue;
    sample.push(Float64Array.from(values.subarray(row * dimensions, (row + 1) * dimensions)));
  }
  const mean = new Float64Array(dimensions);
  for (const vector of sample) for (let i = 0; i < dimensions; i++) mean[i]! += vector[i]! / sample.length;
  for (const vector of sample) for (let i = 0; i < dimensions; i++) vector[i]! -= mean[i]!;
  let axes = Array.from({ length: count }, () => Float64Array.from({ length: dimensions }, () => random.normal()));
  orthonormalise(axes);
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const next = axes.map(() => new Float64Array(dimensions));
    for (const vector of sample) {
      for (let c = 0; c < count; c++) addScaled(next[c]!, vector, dot(axes[c]!, vector));
    }
    axes = next;
    orthonormalise(axes);
  }
  const flat = new Float32Array(count * dimensions);
  axes.forEach((axis, c) => {
    flat.set(axis, c * dimensions);
  });
  return { mean: Float32Array.from(mean), axes: flat };
}

/** Modified Gram-Schmidt; what is left of nothing stays zero. */
function orthonormalise(axes: readonly Float64Array[]): void {
  axes.forEach((axis, c) => {
    for (let other = 0; other < c; other++) addScaled(axis, axes[other]!, -dot(axis, axes[other]!));
    const length = Math.sqrt(dot(axis, axis));
    for (let i = 0; i < axis.length; i++) axis[i] = length > 1e-9 ? axis[i]! / length : 0;
  });
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

function addScaled(to: Float64Array, from: Float64Array, factor: number): void {
  for (let i = 0; i < to.length; i++) to[i]! += factor * from[i]!;
}

/** Columns: the components of each row; NaN where the row's vector is missing. */
export function project(values: Float32Array, { mean, axes }: Axes): Float32Array[] {
  const dimensions = mean.length;
  const rows = values.length / dimensions;
  const columns = Array.from({ length: axes.length / dimensions }, () => new Float32Array(rows));
  for (let row = 0; row < rows; row++) {
    columns.forEach((column, c) => {
      let sum = 0;
      for (let i = 0; i < dimensions; i++)
        sum += axes[c * dimensions + i]! * (values[row * dimensions + i]! - mean[i]!);
      column[row] = sum;
    });
  }
  return columns;
}
