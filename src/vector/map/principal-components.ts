/**
 * The directions in which vectors differ most. Subspace iteration over a sample (Halko, Martinsson, Tropp: "Finding
 * structure with randomness", 2011), because the packages decompose the whole matrix, which takes the cube of the
 * dimensions. Called by map-vectors.ts. Pure.
 */

/** So many passes tell directions apart whose shares differ by a fifth. */
const PASSES = 8;

export interface Components {
  readonly mean: Float32Array;
  /** Of length 1 and at right angles, the most important first. */
  readonly directions: readonly Float32Array[];
}

/** `rows` has `count` vectors one after another, and is changed. `random` gives numbers in [0, 1). */
export function principalComponents(
  rows: Float32Array,
  dimensions: number,
  wanted: number,
  random: () => number,
): Components {
  const count = rows.length / dimensions;
  const mean = takeMean(rows, dimensions, count);
  const size = Math.min(wanted, dimensions);
  let directions: Float32Array[] = Array.from({ length: size }, () =>
    Float32Array.from({ length: dimensions }, () => random() - 0.5),
  );
  orthonormalize(directions);
  for (let pass = 0; pass < PASSES; pass++) {
    directions = applied(rows, dimensions, count, directions);
    orthonormalize(directions);
  }
  return { mean, directions };
}

function takeMean(rows: Float32Array, dimensions: number, count: number): Float32Array {
  const sums = new Float64Array(dimensions);
  for (let at = 0, d = 0; at < rows.length; at++) {
    sums[d]! += rows[at]!;
    d = d + 1 === dimensions ? 0 : d + 1;
  }
  const mean = Float32Array.from(sums, (sum) => sum / count);
  for (let at = 0, d = 0; at < rows.length; at++) {
    rows[at]! -= mean[d]!;
    d = d + 1 === dimensions ? 0 : d + 1;
  }
  return mean;
}

/** The covariance times each direction. */
function applied(
  rows: Float32Array,
  dimensions: number,
  count: number,
  directions: readonly Float32Array[],
): Float32Array[] {
  const sums = directions.map(() => new Float64Array(dimensions));
  for (let r = 0; r < count; r++) {
    const from = r * dimensions;
    for (let k = 0; k < directions.length; k++) {
      const direction = directions[k]!;
      const sum = sums[k]!;
      let product = 0;
      for (let d = 0; d < dimensions; d++) product += rows[from + d]! * direction[d]!;
      for (let d = 0; d < dimensions; d++) sum[d]! += product * rows[from + d]!;
    }
  }
  return sums.map((sum) => Float32Array.from(sum));
}

/** Gram-Schmidt, from the first on; a direction that the ones before it span becomes zero. */
function orthonormalize(directions: readonly Float32Array[]): void {
  directions.forEach((direction, k) => {
    const before = length(direction);
    for (let i = 0; i < k; i++) {
      const other = directions[i]!;
      let product = 0;
      for (let d = 0; d < direction.length; d++) product += direction[d]! * other[d]!;
      for (let d = 0; d < direction.length; d++) direction[d]! -= product * other[d]!;
    }
    const left = length(direction);
    const scale = left > before * 1e-5 && left > 0 ? 1 / left : 0;
    for (let d = 0; d < direction.length; d++) direction[d]! *= scale;
  });
}

function length(vector: Float32Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}
