/** XXH64 (xxHash specification 0.1.1, section "XXH64 Algorithm Description"), seed 0. */

const PRIME1: u64 = 0x9e3779b185ebca87;
const PRIME2: u64 = 0xc2b2ae3d27d4eb4f;
const PRIME3: u64 = 0x165667b19e3779f9;
const PRIME4: u64 = 0x85ebca77c2b2ae63;
const PRIME5: u64 = 0x27d4eb2f165667c5;

function round(acc: u64, lane: u64): u64 {
  return rotl<u64>(acc + lane * PRIME2, 31) * PRIME1;
}

function merge(acc: u64, lane: u64): u64 {
  return (acc ^ round(0, lane)) * PRIME1 + PRIME4;
}

export function xxh64(at: usize, length: usize): u64 {
  const end = at + length;
  let hash: u64;
  if (length >= 32) {
    let a: u64 = PRIME1 + PRIME2;
    let b: u64 = PRIME2;
    let c: u64 = 0;
    let d: u64 = 0 - PRIME1;
    for (; at + 32 <= end; at += 32) {
      a = round(a, load<u64>(at));
      b = round(b, load<u64>(at, 8));
      c = round(c, load<u64>(at, 16));
      d = round(d, load<u64>(at, 24));
    }
    hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  } else hash = PRIME5;
  hash += <u64>length;
  for (; at + 8 <= end; at += 8) hash = rotl<u64>(hash ^ round(0, load<u64>(at)), 27) * PRIME1 + PRIME4;
  for (; at + 4 <= end; at += 4) hash = rotl<u64>(hash ^ (<u64>load<u32>(at) * PRIME1), 23) * PRIME2 + PRIME3;
  for (; at < end; at++) hash = rotl<u64>(hash ^ (<u64>load<u8>(at) * PRIME5), 11) * PRIME1;
  hash = (hash ^ (hash >> 33)) * PRIME2;
  hash = (hash ^ (hash >> 29)) * PRIME3;
  return hash ^ (hash >> 32);
}
