/**
 * The vectors of bench/vector, from a fixed seed: Gaussian clouds around centres, and the true neighbours of queries.
 */

export interface VectorData {
  readonly vectors: readonly Float32Array[];
  readonly queries: readonly Float32Array[];
}

const CENTRES = 200;
/** Of a cloud, beside centres whose members have a deviation of 1. */
const SPREAD = 0.6;
const SEED = 7;
/** Digits of a number, as an embedding service sends it: single precision has no more. */
const DIGITS = 7;

/** mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let z = Math.imul(state ^ (state >>> 15), 1 | state);
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z;
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
  };
}

/** Queries are of the same clouds, and not among the vectors. */
export function clusteredVectors(count: number, queryCount: number, dimensions: number): VectorData {
  const random = randomFrom(SEED);
  const gauss = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const centres = Array.from({ length: CENTRES }, () => Float32Array.from({ length: dimensions }, gauss));
  const all = Array.from({ length: count + queryCount }, () => {
    const centre = centres[Math.floor(random() * CENTRES)]!;
    return centre.map((x) => Number((x + SPREAD * gauss()).toPrecision(DIGITS)));
  });
  return { vectors: all.slice(0, count), queries: all.slice(count) };
}

/** Numbers of the `k` nearest by cosine among those for which `matches` says so, by comparing all of them. */
export function nearestByCosine(
  vectors: readonly Float32Array[],
  query: Float32Array,
  k: number,
  matches: (index: number) => boolean = () => true,
): Set<string> {
  const best: { index: number; similarity: number }[] = [];
  for (let index = 0; index < vectors.length; index++) {
    if (!matches(index)) continue;
    const similarity = cosine(vectors[index]!, query);
    if (best.length === k && similarity <= best[k - 1]!.similarity) continue;
    const at = best.findIndex((other) => other.similarity < similarity);
    best.splice(at === -1 ? best.length : at, 0, { index, similarity });
    if (best.length > k) best.pop();
  }
  return new Set(best.map(({ index }) => String(index)));
}

function cosine(a: Float32Array, b: Float32Array): number {
  let product = 0;
  let squares = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i]!;
    product += x * b[i]!;
    squares += x * x;
  }
  return product / Math.sqrt(squares);
}

/** As a request has it. */
export function vectorJson(vector: Float32Array): string {
  return `[${Array.from(vector, (x) => Number(x.toPrecision(DIGITS))).join()}]`;
}
