/**
 * Distances, many at a time. Vectors are measured four at once: the query's part is loaded once for four of them, and
 * four streams of memory are under way, which is what a walk waits for. Smaller is nearer under every metric: cosine
 * 1 - cos, l2 squared, dot negated, l1 as it is.
 *
 * int8 (a scale per vector: x ≈ scale · code) measures the query in 16 bits against the codes; with the exact squared
 * norms, l2² = |q|² + |x|² - 2 q·x. l1 takes the codes times their scales. binary counts members that are above the
 * vector's mean in one of the two only; bits count so, too (l2), or compare what both have with what one has (jaccard).
 */

import { BITS, codeOf, codeStride, dimensions, F32, INT8, metric, padded, query, storage } from "./layout";

// Numbers of the metrics (values/vector-metric.ts). Saved graphs hold them: never change one.
export const COSINE: i32 = 0;
export const L2: i32 = 1;
export const DOT: i32 = 2;
export const L1: i32 = 3;
/** Of bits only. */
export const JACCARD: i32 = 4;

/** Distances from the prepared query at `q` to `count` slots at `list`; room for 3 more is needed at both ends. */
export function measure(q: usize, list: usize, count: i32, out: usize): void {
  if (count <= 0) return;
  // The last group is filled up by repeating its last slot, whose vector is in the cache.
  const last = load<u32>(list + ((<usize>(count - 1)) << 2));
  for (let i = count; (i & 3) !== 0; i++) store<u32>(list + ((<usize>i) << 2), last);
  if (storage === F32) {
    if (metric === L2) squares(q, list, count, out);
    else if (metric === L1) gaps(q, list, count, out);
    else products(q, list, count, out);
  } else if (storage === INT8) {
    if (metric === L1) codeGaps<i16>(q, list, count, out);
    else codes<i16>(q, list, count, out);
  } else if (metric === JACCARD) shares(q, list, count, out);
  else signs(q, list, count, out);
}

/** Distances from the stored vector of `slot`. */
export function measureFrom(slot: u32, list: usize, count: i32, out: usize): void {
  if (storage !== INT8) {
    measure(codeOf(slot), list, count, out);
    return;
  }
  if (count <= 0) return;
  const last = load<u32>(list + ((<usize>(count - 1)) << 2));
  for (let i = count; (i & 3) !== 0; i++) store<u32>(list + ((<usize>i) << 2), last);
  if (metric === L1) codeGaps<i8>(codeOf(slot), list, count, out);
  else codes<i8>(codeOf(slot), list, count, out);
}

/** Distance of two float32 vectors in the metric, of which each has `padded` elements. */
export function exactDistance(a: usize, b: usize): f32 {
  const end = a + ((<usize>padded) << 2);
  let even = f32x4.splat(0);
  let odd = f32x4.splat(0);
  if (metric === L2) {
    for (; a < end; a += 32, b += 32) {
      const x = f32x4.sub(v128.load(a), v128.load(b));
      const y = f32x4.sub(v128.load(a, 16), v128.load(b, 16));
      even = f32x4.add(even, f32x4.mul(x, x));
      odd = f32x4.add(odd, f32x4.mul(y, y));
    }
    return sumOf(f32x4.add(even, odd));
  }
  if (metric === L1) {
    for (; a < end; a += 32, b += 32) {
      even = f32x4.add(even, gap(a, b));
      odd = f32x4.add(odd, gap(a + 16, b + 16));
    }
    return sumOf(f32x4.add(even, odd));
  }
  for (; a < end; a += 32, b += 32) {
    even = f32x4.add(even, f32x4.mul(v128.load(a), v128.load(b)));
    odd = f32x4.add(odd, f32x4.mul(v128.load(a, 16), v128.load(b, 16)));
  }
  const product = sumOf(f32x4.add(even, odd));
  return metric === COSINE ? 1 - product : -product;
}

/** Cosine distance of a vector of length 1 to one of any length; NaN when that has no direction. */
export function cosineToAny(unit: usize, any: usize): f32 {
  const end = unit + ((<usize>padded) << 2);
  let product = f32x4.splat(0);
  let squared = f32x4.splat(0);
  let b = any;
  for (let a = unit; a < end; a += 16, b += 16) {
    const x = v128.load(b);
    product = f32x4.add(product, f32x4.mul(v128.load(a), x));
    squared = f32x4.add(squared, f32x4.mul(x, x));
  }
  const norm = sumOf(squared);
  if (norm > 1e-20 && norm < 1e30) return 1 - sumOf(product) / Mathf.sqrt(norm);
  return normalise(any) ? exactDistance(unit, any) : NaN;
}

function sumOf(x: v128): f32 {
  return f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 1) + (f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3));
}

/** The four sums of four vectors' lanes. */
function sums(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const cd = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<f64>(ab, cd, 0, 2), v128.shuffle<f64>(ab, cd, 1, 3));
}

function products(q: usize, list: usize, count: i32, out: usize): void {
  const end = q + ((<usize>padded) << 2);
  const base = metric === COSINE ? f32x4.splat(1) : f32x4.splat(0);
  for (let i = 0; i < count; i += 4, list += 16, out += 16) {
    let a = codeOf(load<u32>(list));
    let b = codeOf(load<u32>(list, 4));
    let c = codeOf(load<u32>(list, 8));
    let d = codeOf(load<u32>(list, 12));
    let a0 = f32x4.splat(0);
    let b0 = f32x4.splat(0);
    let c0 = f32x4.splat(0);
    let d0 = f32x4.splat(0);
    let a1 = f32x4.splat(0);
    let b1 = f32x4.splat(0);
    let c1 = f32x4.splat(0);
    let d1 = f32x4.splat(0);
    for (let p = q; p < end; p += 32, a += 32, b += 32, c += 32, d += 32) {
      const x = v128.load(p);
      const y = v128.load(p, 16);
      a0 = f32x4.add(a0, f32x4.mul(x, v128.load(a)));
      b0 = f32x4.add(b0, f32x4.mul(x, v128.load(b)));
      c0 = f32x4.add(c0, f32x4.mul(x, v128.load(c)));
      d0 = f32x4.add(d0, f32x4.mul(x, v128.load(d)));
      a1 = f32x4.add(a1, f32x4.mul(y, v128.load(a, 16)));
      b1 = f32x4.add(b1, f32x4.mul(y, v128.load(b, 16)));
      c1 = f32x4.add(c1, f32x4.mul(y, v128.load(c, 16)));
      d1 = f32x4.add(d1, f32x4.mul(y, v128.load(d, 16)));
    }
    const dots = sums(f32x4.add(a0, a1), f32x4.add(b0, b1), f32x4.add(c0, c1), f32x4.add(d0, d1));
    v128.store(out, f32x4.sub(base, dots));
  }
}

function squares(q: usize, list: usize, count: i32, out: usize): void {
  const end = q + ((<usize>padded) << 2);
  for (let i = 0; i < count; i += 4, list += 16, out += 16) {
    let a = codeOf(load<u32>(list));
    let b = codeOf(load<u32>(list, 4));
    let c = codeOf(load<u32>(list, 8));
    let d = codeOf(load<u32>(list, 12));
    let a0 = f32x4.splat(0);
    let b0 = f32x4.splat(0);
    let c0 = f32x4.splat(0);
    let d0 = f32x4.splat(0);
    for (let p = q; p < end; p += 32, a += 32, b += 32, c += 32, d += 32) {
      let x = v128.load(p);
      let u = f32x4.sub(x, v128.load(a));
      a0 = f32x4.add(a0, f32x4.mul(u, u));
      u = f32x4.sub(x, v128.load(b));
      b0 = f32x4.add(b0, f32x4.mul(u, u));
      u = f32x4.sub(x, v128.load(c));
      c0 = f32x4.add(c0, f32x4.mul(u, u));
      u = f32x4.sub(x, v128.load(d));
      d0 = f32x4.add(d0, f32x4.mul(u, u));
      x = v128.load(p, 16);
      u = f32x4.sub(x, v128.load(a, 16));
      a0 = f32x4.add(a0, f32x4.mul(u, u));
      u = f32x4.sub(x, v128.load(b, 16));
      b0 = f32x4.add(b0, f32x4.mul(u, u));
      u = f32x4.sub(x, v128.load(c, 16));
      c0 = f32x4.add(c0, f32x4.mul(u, u));
      u = f32x4.sub(x, v128.load(d, 16));
      d0 = f32x4.add(d0, f32x4.mul(u, u));
    }
    v128.store(out, sums(a0, b0, c0, d0));
  }
}

function gap(a: usize, b: usize): v128 {
  return f32x4.abs(f32x4.sub(v128.load(a), v128.load(b)));
}

function gaps(q: usize, list: usize, count: i32, out: usize): void {
  const end = q + ((<usize>padded) << 2);
  for (let i = 0; i < count; i += 4, list += 16, out += 16) {
    let a = codeOf(load<u32>(list));
    let b = codeOf(load<u32>(list, 4));
    let c = codeOf(load<u32>(list, 8));
    let d = codeOf(load<u32>(list, 12));
    let a0 = f32x4.splat(0);
    let b0 = f32x4.splat(0);
    let c0 = f32x4.splat(0);
    let d0 = f32x4.splat(0);
    for (let p = q; p < end; p += 16, a += 16, b += 16, c += 16, d += 16) {
      a0 = f32x4.add(a0, gap(p, a));
      b0 = f32x4.add(b0, gap(p, b));
      c0 = f32x4.add(c0, gap(p, c));
      d0 = f32x4.add(d0, gap(p, d));
    }
    v128.store(out, sums(a0, b0, c0, d0));
  }
}

/** Each has a scale of its own, so the codes have to be numbers again before they are compared. */
function codeGaps<T>(q: usize, list: usize, count: i32, out: usize): void {
  const end = q + ((<usize>padded) << alignof<T>());
  const scale = f32x4.splat(load<f32>(end));
  for (let i = 0; i < count; i++) {
    let code = codeOf(load<u32>(list + ((<usize>i) << 2)));
    const other = f32x4.splat(load<f32>(code + <usize>padded));
    let low = f32x4.splat(0);
    let high = f32x4.splat(0);
    for (let p = q; p < end; p += sizeof<T>() * 8, code += 8) {
      const x = sizeof<T>() === 1 ? v128.load_ext<i8>(p) : v128.load(p);
      const y = v128.load_ext<i8>(code);
      const xs = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(x)), scale);
      const ys = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(y)), other);
      low = f32x4.add(low, f32x4.abs(f32x4.sub(xs, ys)));
      const xt = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(x)), scale);
      const yt = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(y)), other);
      high = f32x4.add(high, f32x4.abs(f32x4.sub(xt, yt)));
    }
    store<f32>(out + ((<usize>i) << 2), sumOf(f32x4.add(low, high)));
  }
}

/** `T` is how the query lies there: i16 as prepared, i8 as stored. Its scale and squared norm follow it. */
function codes<T>(q: usize, list: usize, count: i32, out: usize): void {
  const end = q + ((<usize>padded) << alignof<T>());
  const scale = load<f32>(end);
  const norm = load<f32>(end, 4);
  for (let i = 0; i < count; i += 4, list += 16, out += 16) {
    let a = codeOf(load<u32>(list));
    let b = codeOf(load<u32>(list, 4));
    let c = codeOf(load<u32>(list, 8));
    let d = codeOf(load<u32>(list, 12));
    let a0 = i32x4.splat(0);
    let b0 = i32x4.splat(0);
    let c0 = i32x4.splat(0);
    let d0 = i32x4.splat(0);
    for (let p = q; p < end; p += sizeof<T>() * 8, a += 8, b += 8, c += 8, d += 8) {
      const x = sizeof<T>() === 1 ? v128.load_ext<i8>(p) : v128.load(p);
      a0 = i32x4.add(a0, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(a)));
      b0 = i32x4.add(b0, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(b)));
      c0 = i32x4.add(c0, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(c)));
      d0 = i32x4.add(d0, i32x4.dot_i16x8_s(x, v128.load_ext<i8>(d)));
    }
    const scales = f32x4(load<f32>(a), load<f32>(b), load<f32>(c), load<f32>(d));
    const dots = f32x4.mul(f32x4.convert_i32x4_s(intSums(a0, b0, c0, d0)), f32x4.mul(scales, f32x4.splat(scale)));
    if (metric === COSINE) v128.store(out, f32x4.sub(f32x4.splat(1), dots));
    else if (metric === DOT) v128.store(out, f32x4.neg(dots));
    else {
      const norms = f32x4(load<f32>(a, 4), load<f32>(b, 4), load<f32>(c, 4), load<f32>(d, 4));
      const both = f32x4.add(norms, f32x4.splat(norm));
      v128.store(out, f32x4.sub(both, f32x4.add(dots, dots)));
    }
  }
}

function intSums(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab = i32x4.add(v128.shuffle<i32>(a, b, 0, 4, 1, 5), v128.shuffle<i32>(a, b, 2, 6, 3, 7));
  const cd = i32x4.add(v128.shuffle<i32>(c, d, 0, 4, 1, 5), v128.shuffle<i32>(c, d, 2, 6, 3, 7));
  return i32x4.add(v128.shuffle<i64>(ab, cd, 0, 2), v128.shuffle<i64>(ab, cd, 1, 3));
}

function signs(q: usize, list: usize, count: i32, out: usize): void {
  for (let i = 0; i < count; i++) {
    const code = codeOf(load<u32>(list + ((<usize>i) << 2)));
    let differing: i64 = 0;
    for (let at: usize = 0; at < codeStride; at += 8) {
      differing += popcnt<u64>(load<u64>(q + at) ^ load<u64>(code + at));
    }
    store<f32>(out + ((<usize>i) << 2), <f32>differing);
  }
}

/** What share of the bits that one of the two has the other lacks; 1 where they have none in common. */
function shares(q: usize, list: usize, count: i32, out: usize): void {
  for (let i = 0; i < count; i++) {
    const code = codeOf(load<u32>(list + ((<usize>i) << 2)));
    let both: i64 = 0;
    let either: i64 = 0;
    for (let at: usize = 0; at < codeStride; at += 8) {
      const x = load<u64>(q + at);
      const y = load<u64>(code + at);
      both += popcnt<u64>(x & y);
      either += popcnt<u64>(x | y);
    }
    store<f32>(out + ((<usize>i) << 2), both === 0 ? 1 : <f32>(1 - <f64>both / <f64>either));
  }
}

/** Two members of a float32 vector in double precision. */
function pairAt(at: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(at));
}

function sumOfPair(pair: v128): f64 {
  return f64x2.extract_lane(pair, 0) + f64x2.extract_lane(pair, 1);
}

/** Brings the float32 vector at `vector` to length 1 (computed in double precision); false for a zero vector. */
export function normalise(vector: usize): bool {
  const end = vector + ((<usize>padded) << 2);
  let sums = f64x2.splat(0);
  for (let p = vector; p < end; p += 8) sums = f64x2.add(sums, f64x2.mul(pairAt(p), pairAt(p)));
  const sum = sumOfPair(sums);
  if (sum === 0) return false;
  const factor = f64x2.splat(1 / Math.sqrt(sum));
  for (let p = vector; p < end; p += 8) {
    v128.store64_lane(p, f32x4.demote_f64x2_zero(f64x2.mul(pairAt(p), factor)), 0);
  }
  return true;
}

/** Writes the code of the float32 vector at `vector` as it is stored. */
export function encode(vector: usize, code: usize): void {
  if (storage === F32) memory.copy(code, vector, (<usize>padded) << 2);
  else if (storage === INT8) quantise<i8>(vector, code, 127);
  else {
    memory.fill(code, 0, codeStride);
    // Above the vector's own mean: signs alone would carry no information for vectors whose members are all positive.
    let mean: f64 = 0;
    if (storage !== BITS) {
      for (let i: u32 = 0; i < dimensions; i++) mean += <f64>load<f32>(vector + ((<usize>i) << 2));
      mean /= <f64>dimensions;
    }
    for (let i: u32 = 0; i < dimensions; i++) {
      if (<f64>load<f32>(vector + ((<usize>i) << 2)) > mean) {
        const at = code + (<usize>i >> 3);
        store<u8>(at, load<u8>(at) | ((<u8>1) << (<u8>(i & 7))));
      }
    }
  }
}

/** Writes what `measure` takes as its query for the float32 vector at `vector`. */
export function prepare(vector: usize, to: usize): void {
  // As many bits as keep the sum of products with codes of 7 bits within 31.
  if (storage === INT8) quantise<i16>(vector, to, min<f64>(2047, Math.floor(2147483647.0 / (128.0 * <f64>padded))));
  else encode(vector, to);
}

function quantise<T>(vector: usize, to: usize, levels: f64): void {
  const last = vector + ((<usize>padded) << 2);
  let mosts = f64x2.splat(0);
  let norms = f64x2.splat(0);
  for (let p = vector; p < last; p += 8) {
    const pair = pairAt(p);
    mosts = f64x2.max(mosts, f64x2.abs(pair));
    norms = f64x2.add(norms, f64x2.mul(pair, pair));
  }
  const most = max(f64x2.extract_lane(mosts, 0), f64x2.extract_lane(mosts, 1));
  const norm = sumOfPair(norms);
  const scale = <f32>(most / levels);
  const factor = f64x2.splat(most > 0 ? levels / most : 0);
  const unit = f64x2.splat(<f64>scale);
  let losses = f64x2.splat(0);
  let place = to;
  for (let p = vector; p < last; p += 8) {
    const pair = pairAt(p);
    const codes = f64x2.nearest(f64x2.mul(pair, factor));
    const whole = i32x4.trunc_sat_f64x2_s_zero(codes);
    store<T>(place, <T>i32x4.extract_lane(whole, 0));
    store<T>(place, <T>i32x4.extract_lane(whole, 1), sizeof<T>());
    place += 2 * sizeof<T>();
    const difference = f64x2.sub(pair, f64x2.mul(codes, unit));
    losses = f64x2.add(losses, f64x2.mul(difference, difference));
  }
  const lost = sumOfPair(losses);
  const end = to + ((<usize>padded) << alignof<T>());
  store<f32>(end, scale);
  store<f32>(end, <f32>norm, 4);
  store<f32>(end, <f32>Math.sqrt(lost), 8);
  store<f32>(end, 0, 12);
}

/**
 * int8: the most by which the distance measured from the query to the slot may be wrong. A product of two vectors of
 * which parts were lost is wrong by no more than the products of lengths with what was lost. A sum of gaps is wrong by
 * the sum of what was lost, which is no more than its length times the root of the dimensions.
 */
export function errorMax(slot: u32): f32 {
  const q = query + ((<usize>padded) << 1);
  const code = codeOf(slot) + <usize>padded;
  const lost = load<f32>(code, 8);
  if (metric === L1) return Mathf.sqrt(<f32>dimensions) * (lost + load<f32>(q, 8));
  const error = Mathf.sqrt(load<f32>(q, 4)) * lost + load<f32>(q, 8) * (Mathf.sqrt(load<f32>(code, 4)) + lost);
  return metric === L2 ? error * 2 : error;
}

/** Whether the code of the float32 vector at `vector` is the slot's. Takes the place of the query. */
export function hasCode(slot: u32, vector: usize): bool {
  encode(vector, query);
  return memory.compare(query, codeOf(slot), codeStride) === 0;
}

/** Writes zeros and ones for the bits of a code. */
export function spread(code: usize, vector: usize): void {
  for (let i: u32 = 0; i < dimensions; i++) {
    const bit = (load<u8>(code + (<usize>i >> 3)) >> <u8>(i & 7)) & 1;
    store<f32>(vector + ((<usize>i) << 2), <f32>bit);
  }
}

/** The query for a slot's own vector, made of its code. */
export function prepareStored(slot: u32, to: usize): void {
  const code = codeOf(slot);
  if (storage !== INT8) {
    memory.copy(to, code, codeStride);
    return;
  }
  for (let i: usize = 0; i < <usize>padded; i += 8) v128.store(to + (i << 1), v128.load_ext<i8>(code + i));
  v128.store(to + ((<usize>padded) << 1), v128.load(code + <usize>padded));
}
