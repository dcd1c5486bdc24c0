/**
 * Learning of a small network of dense layers in single precision. A module of its own (perceptron.wasm), called by
 * automl/network/trainer.ts, which lays out the memory: each vector is padded with zeros to a multiple of four, and has
 * a 1 behind its numbers, so that a unit's bias is its last weight. What is padded stays zero.
 */

/** Behind what the compiler has put into memory. */
const START: usize = 1024;

export function startAt(): usize {
  return START;
}

/** Has room for so many bytes from the start on; false: there is none. */
export function makeRoom(bytes: usize): bool {
  const pages = <i32>((START + bytes + 0xffff) >> 16);
  const missing = pages - memory.size();
  return missing <= 0 || memory.grow(missing) >= 0;
}

/**
 * One layer for `rows` rows. Strides are bytes of a row: of inputs (and of a unit's weights), and of outputs.
 * `rectified`: what is negative becomes zero.
 */
export function forward(
  weights: usize,
  inputs: usize,
  outputs: usize,
  rows: i32,
  units: i32,
  stride: usize,
  outStride: usize,
  rectified: bool,
): void {
  for (let row = 0; row < rows; row++) {
    let at = weights;
    let unit = 0;
    // Four units at a time: the row's part is loaded once for four of them.
    for (; unit + 4 <= units; unit += 4) {
      let p = f32x4.splat(0);
      let q = f32x4.splat(0);
      let r = f32x4.splat(0);
      let s = f32x4.splat(0);
      for (let i: usize = 0; i < stride; i += 16) {
        const x = v128.load(inputs + i);
        const w = at + i;
        p = f32x4.add(p, f32x4.mul(x, v128.load(w)));
        q = f32x4.add(q, f32x4.mul(x, v128.load(w + stride)));
        r = f32x4.add(r, f32x4.mul(x, v128.load(w + 2 * stride)));
        s = f32x4.add(s, f32x4.mul(x, v128.load(w + 3 * stride)));
      }
      const out = outputs + ((<usize>unit) << 2);
      put(out, sum(p), rectified);
      put(out + 4, sum(q), rectified);
      put(out + 8, sum(r), rectified);
      put(out + 12, sum(s), rectified);
      at += 4 * stride;
    }
    for (; unit < units; unit++) {
      let p = f32x4.splat(0);
      for (let i: usize = 0; i < stride; i += 16) {
        p = f32x4.add(p, f32x4.mul(v128.load(inputs + i), v128.load(at + i)));
      }
      put(outputs + ((<usize>unit) << 2), sum(p), rectified);
      at += stride;
    }
    inputs += stride;
    outputs += outStride;
  }
}

function put(at: usize, value: f32, rectified: bool): void {
  store<f32>(at, rectified && !(value > 0) ? 0 : value);
}

function sum(x: v128): f32 {
  return f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 1) + (f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3));
}

/** The weights' derivatives, summed over the rows; `deltas`: those of the layer's outputs. */
export function slopes(
  gradients: usize,
  inputs: usize,
  deltas: usize,
  rows: i32,
  units: i32,
  stride: usize,
  deltaStride: usize,
): void {
  for (let unit = 0; unit < units; unit++) {
    const gradient = gradients + <usize>unit * stride;
    for (let i: usize = 0; i < stride; i += 16) v128.store(gradient + i, f32x4.splat(0));
    let delta = deltas + ((<usize>unit) << 2);
    let input = inputs;
    for (let row = 0; row < rows; row++) {
      const slope = load<f32>(delta);
      // A unit that was rectified has none.
      if (slope !== 0) {
        const x = f32x4.splat(slope);
        for (let i: usize = 0; i < stride; i += 16) {
          const to = gradient + i;
          v128.store(to, f32x4.add(v128.load(to), f32x4.mul(x, v128.load(input + i))));
        }
      }
      delta += deltaStride;
      input += stride;
    }
  }
}

/** The derivatives of a layer's inputs, which are rectified outputs of the layer before. */
export function backward(
  weights: usize,
  inputs: usize,
  deltas: usize,
  before: usize,
  rows: i32,
  units: i32,
  stride: usize,
  deltaStride: usize,
): void {
  for (let row = 0; row < rows; row++) {
    for (let i: usize = 0; i < stride; i += 16) v128.store(before + i, f32x4.splat(0));
    let weight = weights;
    for (let unit = 0; unit < units; unit++) {
      const slope = load<f32>(deltas + ((<usize>unit) << 2));
      if (slope !== 0) {
        const x = f32x4.splat(slope);
        for (let i: usize = 0; i < stride; i += 16) {
          const to = before + i;
          v128.store(to, f32x4.add(v128.load(to), f32x4.mul(x, v128.load(weight + i))));
        }
      }
      weight += stride;
    }
    for (let i: usize = 0; i < stride; i += 16) {
      const to = before + i;
      v128.store(to, v128.and(v128.load(to), f32x4.gt(v128.load(inputs + i), f32x4.splat(0))));
    }
    inputs += stride;
    deltas += deltaStride;
    before += stride;
  }
}

/** A step of Adam with decoupled decay. `share`: one over the rows; corrections: one over 1 - β to the steps. */
export function update(
  weights: usize,
  gradients: usize,
  firsts: usize,
  seconds: usize,
  bytes: usize,
  share: f32,
  rate: f32,
  decay: f32,
  firstCorrection: f32,
  secondCorrection: f32,
): void {
  const ofShare = f32x4.splat(share);
  const ofRate = f32x4.splat(rate);
  const ofDecay = f32x4.splat(decay);
  const ofFirst = f32x4.splat(firstCorrection);
  const ofSecond = f32x4.splat(secondCorrection);
  for (let i: usize = 0; i < bytes; i += 16) {
    const slope = f32x4.mul(v128.load(gradients + i), ofShare);
    const first = f32x4.add(f32x4.mul(f32x4.splat(0.9), v128.load(firsts + i)), f32x4.mul(f32x4.splat(0.1), slope));
    const square = f32x4.mul(f32x4.splat(0.001), f32x4.mul(slope, slope));
    const second = f32x4.add(f32x4.mul(f32x4.splat(0.999), v128.load(seconds + i)), square);
    v128.store(firsts + i, first);
    v128.store(seconds + i, second);
    const size = f32x4.add(f32x4.sqrt(f32x4.mul(second, ofSecond)), f32x4.splat(1e-8));
    const weight = v128.load(weights + i);
    const step = f32x4.add(f32x4.div(f32x4.mul(first, ofFirst), size), f32x4.mul(ofDecay, weight));
    v128.store(weights + i, f32x4.sub(weight, f32x4.mul(ofRate, step)));
  }
}
