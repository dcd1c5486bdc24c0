/**
 * Distances and norms over vectors (Float32Array), without checks: callers make sure that both are equally long. SQL's
 * functions and vector indexes use the same ones, so both give the same numbers. Sums are kept in doubles, four at a
 * time, so that the processor need not wait for one addition before it begins the next. Pure.
 */

/** Number by number, a shorter one before those that go on: the order in which vectors are sorted. */
export function compareVectors(a: Float32Array, b: Float32Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = a[i]! - b[i]!;
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Σ aᵢ·bᵢ */
export function innerProduct(a: Float32Array, b: Float32Array): number {
  const { length } = a;
  const whole = length & ~3;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  for (let i = 0; i < whole; i += 4) {
    s0 += a[i]! * b[i]!;
    s1 += a[i + 1]! * b[i + 1]!;
    s2 += a[i + 2]! * b[i + 2]!;
    s3 += a[i + 3]! * b[i + 3]!;
  }
  for (let i = whole; i < length; i++) s0 += a[i]! * b[i]!;
  return s0 + s1 + (s2 + s3);
}

/** Σ (aᵢ − bᵢ)², whose order is that of the distance. */
export function squaredDistance(a: Float32Array, b: Float32Array): number {
  const { length } = a;
  const whole = length & ~3;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  for (let i = 0; i < whole; i += 4) {
    const d0 = a[i]! - b[i]!;
    const d1 = a[i + 1]! - b[i + 1]!;
    const d2 = a[i + 2]! - b[i + 2]!;
    const d3 = a[i + 3]! - b[i + 3]!;
    s0 += d0 * d0;
    s1 += d1 * d1;
    s2 += d2 * d2;
    s3 += d3 * d3;
  }
  for (let i = whole; i < length; i++) {
    const d = a[i]! - b[i]!;
    s0 += d * d;
  }
  return s0 + s1 + (s2 + s3);
}

/** √Σ (aᵢ − bᵢ)² */
export function l2Distance(a: Float32Array, b: Float32Array): number {
  return Math.sqrt(squaredDistance(a, b));
}

/** Σ |aᵢ − bᵢ| */
export function l1Distance(a: Float32Array, b: Float32Array): number {
  const { length } = a;
  const whole = length & ~3;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  for (let i = 0; i < whole; i += 4) {
    s0 += Math.abs(a[i]! - b[i]!);
    s1 += Math.abs(a[i + 1]! - b[i + 1]!);
    s2 += Math.abs(a[i + 2]! - b[i + 2]!);
    s3 += Math.abs(a[i + 3]! - b[i + 3]!);
  }
  for (let i = whole; i < length; i++) s0 += Math.abs(a[i]! - b[i]!);
  return s0 + s1 + (s2 + s3);
}

/** Cosine of the angle between them, −1 to 1; NaN when one of them is all zeros. */
export function cosineSimilarity(a: Float32Array, b: Float32Array): number {
  const { length } = a;
  const whole = length & ~1;
  // Three sums of two each: as many as there are registers' worth of work in flight.
  let p0 = 0;
  let p1 = 0;
  let a0 = 0;
  let a1 = 0;
  let b0 = 0;
  let b1 = 0;
  for (let i = 0; i < whole; i += 2) {
    const x0 = a[i]!;
    const y0 = b[i]!;
    const x1 = a[i + 1]!;
    const y1 = b[i + 1]!;
    p0 += x0 * y0;
    a0 += x0 * x0;
    b0 += y0 * y0;
    p1 += x1 * y1;
    a1 += x1 * x1;
    b1 += y1 * y1;
  }
  if (whole < length) {
    const x = a[whole]!;
    const y = b[whole]!;
    p0 += x * y;
    a0 += x * x;
    b0 += y * y;
  }
  return similarityOf(p0 + p1, a0 + a1, b0 + b1);
}

/** The same from an inner product and the squares of both lengths, for callers that keep lengths. */
export function similarityOf(product: number, squareA: number, squareB: number): number {
  const similarity = product / Math.sqrt(squareA * squareB);
  return similarity > 1 ? 1 : similarity < -1 ? -1 : similarity;
}

/** 1 − the cosine similarity, 0 to 2; NaN when one of them is all zeros. */
export function cosineDistance(a: Float32Array, b: Float32Array): number {
  return 1 - cosineSimilarity(a, b);
}

/** Of vectors of zeros and ones: the share of the ones that the two do not have in common; 1 where they have none. */
export function jaccardDistance(a: Float32Array, b: Float32Array): number {
  let both = 0;
  let either = 0;
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i]! > 0, b[i]! > 0];
    if (x && y) both++;
    if (x || y) either++;
  }
  return both === 0 ? 1 : 1 - both / either;
}

/** √Σ aᵢ² */
export function norm(a: Float32Array): number {
  return Math.sqrt(innerProduct(a, a));
}

/** The vector of length 1 in the same direction, a new one; all zeros stay so. */
export function normalized(a: Float32Array): Float32Array {
  const length = norm(a);
  const result = new Float32Array(a.length);
  if (length > 0) for (let i = 0; i < a.length; i++) result[i] = a[i]! / length;
  return result;
}
