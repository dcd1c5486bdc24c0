/**
 * Bob Jenkins's hash lookup3 (2006) as PostgreSQL computes it (src/common/hashfn.c), for hash partitions and for the
 * hash functions of SQL: the same numbers as there. An answer has 64 bits; its lower half is the hash of 32 bits.
 */

/** 64 bits, in signed halves. */
export interface Seed {
  readonly high: number;
  readonly low: number;
}

const INITIAL = 0x9e3779b9 + 3923095;
const BLOCK_BYTES = 12;

/** The state, three words of 32 bits. One hash at a time uses it. */
let a = 0;
let b = 0;
let c = 0;

function start(length: number, { high, low }: Seed): void {
  a = b = c = (INITIAL + length) | 0;
  if (high === 0 && low === 0) return;
  a = (a + high) | 0;
  b = (b + low) | 0;
  mix();
}

function rotated(x: number, bits: number): number {
  return (x << bits) | (x >>> (32 - bits));
}

function mix(): void {
  a = ((a - c) | 0) ^ rotated(c, 4);
  c = (c + b) | 0;
  b = ((b - a) | 0) ^ rotated(a, 6);
  a = (a + c) | 0;
  c = ((c - b) | 0) ^ rotated(b, 8);
  b = (b + a) | 0;
  a = ((a - c) | 0) ^ rotated(c, 16);
  c = (c + b) | 0;
  b = ((b - a) | 0) ^ rotated(a, 19);
  a = (a + c) | 0;
  c = ((c - b) | 0) ^ rotated(b, 4);
  b = (b + a) | 0;
}

function finish(): bigint {
  c = ((c ^ b) - rotated(b, 14)) | 0;
  a = ((a ^ c) - rotated(c, 11)) | 0;
  b = ((b ^ a) - rotated(a, 25)) | 0;
  c = ((c ^ b) - rotated(b, 16)) | 0;
  a = ((a ^ c) - rotated(c, 4)) | 0;
  b = ((b ^ a) - rotated(a, 14)) | 0;
  c = ((c ^ b) - rotated(b, 24)) | 0;
  return (BigInt(b >>> 0) << 32n) | BigInt(c >>> 0);
}

export function hashUint32(value: number, seed: Seed): bigint {
  start(4, seed);
  a = (a + value) | 0;
  return finish();
}

/** hashint8extended: equal numbers of all integer types have equal hashes. */
export function hashInt64(value: bigint, seed: Seed): bigint {
  const high = Number(BigInt.asUintN(32, value >> 32n));
  const low = Number(BigInt.asUintN(32, value));
  return hashUint32(low ^ (value >= 0n ? high : ~high), seed);
}

export function hashBytes(bytes: Uint8Array, seed: Seed): bigint {
  start(bytes.length, seed);
  let at = 0;
  for (; bytes.length - at >= BLOCK_BYTES; at += BLOCK_BYTES) {
    a = (a + word(bytes, at, 4)) | 0;
    b = (b + word(bytes, at + 4, 4)) | 0;
    c = (c + word(bytes, at + 8, 4)) | 0;
    mix();
  }
  const rest = bytes.length - at;
  // The lowest byte of c is kept for the length.
  if (rest > 8) c = (c + (word(bytes, at + 8, rest - 8) << 8)) | 0;
  if (rest > 4) b = (b + word(bytes, at + 4, Math.min(rest - 4, 4))) | 0;
  if (rest > 0) a = (a + word(bytes, at, Math.min(rest, 4))) | 0;
  return finish();
}

/** The bytes of a uuid's text. */
export function hashUuid(uuid: string, seed: Seed): bigint {
  return hashBytes(Buffer.from(uuid.replaceAll("-", ""), "hex"), seed);
}

/** Up to four bytes, little-endian. */
function word(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let i = 0; i < length; i++) value |= bytes[at + i]! << (8 * i);
  return value;
}
