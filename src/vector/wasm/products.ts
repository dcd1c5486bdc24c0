/**
 * Products of a vector with each vector of a block. A module of its own (products.wasm), called by vector-block.ts.
 * Memory holds the query, the results, then the block, all in single precision, with vectors padded with zeros to a
 * multiple of eight.
 */

/** Behind what the compiler has put into memory. */
const QUERY: usize = 1024;

export function queryAt(): usize {
  return QUERY;
}

/** Has room for a block; false: there is none. */
export function reserve(bytes: usize): bool {
  const pages = <i32>((QUERY + bytes + 0xffff) >> 16);
  const missing = pages - memory.size();
  return missing <= 0 || memory.grow(missing) >= 0;
}

/**
 * Of the first `count` vectors of the block at `block` those whose product is at least `least`: their numbers, and
 * after each its product, at `found`. How many there are.
 */
export function above(block: usize, found: usize, count: i32, padded: i32, least: f32): i32 {
  const bytes = (<usize>padded) << 2;
  let out = found;
  let row: i32 = 0;
  // Four at a time: the query's part is loaded once for four of them.
  for (; row + 4 <= count; row += 4) {
    let a = block + <usize>row * bytes;
    let p = f32x4.splat(0);
    let q = f32x4.splat(0);
    let r = f32x4.splat(0);
    let s = f32x4.splat(0);
    for (let at: usize = 0; at < bytes; at += 16) {
      const x = v128.load(QUERY + at);
      p = f32x4.add(p, f32x4.mul(x, v128.load(a)));
      q = f32x4.add(q, f32x4.mul(x, v128.load(a + bytes)));
      r = f32x4.add(r, f32x4.mul(x, v128.load(a + 2 * bytes)));
      s = f32x4.add(s, f32x4.mul(x, v128.load(a + 3 * bytes)));
      a += 16;
    }
    out = note(out, row, sum(p), least);
    out = note(out, row + 1, sum(q), least);
    out = note(out, row + 2, sum(r), least);
    out = note(out, row + 3, sum(s), least);
  }
  for (; row < count; row++) {
    const a = block + <usize>row * bytes;
    let p = f32x4.splat(0);
    for (let at: usize = 0; at < bytes; at += 16) {
      p = f32x4.add(p, f32x4.mul(v128.load(QUERY + at), v128.load(a + at)));
    }
    out = note(out, row, sum(p), least);
  }
  return <i32>((out - found) >> 3);
}

function note(out: usize, row: i32, product: f32, least: f32): usize {
  if (!(product >= least)) return out;
  store<i32>(out, row);
  store<f32>(out, product, 4);
  return out + 8;
}

function sum(x: v128): f32 {
  return f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 1) + (f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3));
}
