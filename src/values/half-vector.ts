/**
 * Numbers of half precision (IEEE 754 binary16), as pgvector's type halfvec has them: a Float32Array of values that a
 * half can be.
 */
import { sqlError } from "../protocol/errors.js";

const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);
const INFINITE = 0x7c00;

/** The nearest half's bits; of two that are equally near the even one. */
function halfOf(x: number): number {
  FLOAT[0] = x;
  const bits = BITS[0]!;
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const fraction = bits & 0x7fffff;
  if (exponent >= 31) return sign | INFINITE;
  if (exponent < -10) return sign;
  // Below 2^-14 the leading one is written out.
  const whole = exponent > 0 ? (exponent << 23) | fraction : fraction | 0x800000;
  const shift = exponent > 0 ? 13 : 14 - exponent;
  const half = whole >>> shift;
  const rest = whole & ((1 << shift) - 1);
  const middle = 1 << (shift - 1);
  return sign | (rest > middle || (rest === middle && (half & 1) === 1) ? half + 1 : half);
}

let values: Float32Array | null = null;

/** By bits. */
function halfValues(): Float32Array {
  if (values !== null) return values;
  values = new Float32Array(65_536);
  for (let bits = 0; bits < values.length; bits++) {
    const exponent = (bits >>> 10) & 31;
    const fraction = (bits & 1023) / 1024;
    const size = exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15);
    values[bits] = (bits & 0x8000) === 0 ? size : -size;
  }
  return values;
}

/** The nearest half; infinite where that is too large for one. */
export function roundHalf(x: number): number {
  const half = halfOf(x);
  return (half & 0x7fff) === INFINITE ? Number.POSITIVE_INFINITY : halfValues()[half]!;
}

/** Rounds the members in place. Throws 22003 for one that is too large. */
export function asHalves(vector: Float32Array): Float32Array {
  const known = halfValues();
  for (let i = 0; i < vector.length; i++) {
    const half = halfOf(vector[i]!);
    if ((half & 0x7fff) === INFINITE) throw sqlError("22003", `"${vector[i]}" is out of range for type halfvec`);
    vector[i] = known[half]!;
  }
  return vector;
}

export function halfBits(vector: Float32Array): Uint16Array {
  const bits = new Uint16Array(vector.length);
  for (let i = 0; i < bits.length; i++) bits[i] = halfOf(vector[i]!);
  return bits;
}

export function ofHalfBits(bits: ArrayLike<number>): Float32Array {
  const known = halfValues();
  const vector = new Float32Array(bits.length);
  for (let i = 0; i < vector.length; i++) vector[i] = known[bits[i]!]!;
  return vector;
}
