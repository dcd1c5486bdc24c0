/**
 * Which hash partition a row belongs to. Integers, dates, times, booleans, text, bytea and uuid hash as in PostgreSQL
 * (src/common/hashfn.c, hash_bytes_extended: Bob Jenkins' lookup3; partbounds.c, compute_partition_hash_value), so
 * rows lie in the partitions where PostgreSQL would have them; values of other types hash by their key's bytes.
 */

import { encodeKey } from "../storage/key-codec.js";
import type { SqlType, Value } from "../values/values.js";

/** HASH_PARTITION_SEED, in halves. */
const SEED_HIGH = 0x7a5b2236;
const SEED_LOW = 0x7996dcfd;
const INITIAL = 0x9e3779b9 + 3923095;
const COMBINE = 0x49a0f4dd15e5a8e3n;
const NO_PREFIX = new Uint8Array(0);

/** The remainder of the values' hash: 0 ≤ answer < modulus. NULLs count for nothing. */
export function partitionHash(types: readonly SqlType[], values: readonly Value[], modulus: number): number {
  let hash = 0n;
  for (let i = 0; i < types.length; i++) {
    const value = values[i]!;
    if (value === null) continue;
    const sum = hashOf(types[i]!, value) + COMBINE + (hash << 54n) + (hash >> 7n);
    hash = BigInt.asUintN(64, hash ^ BigInt.asUintN(64, sum));
  }
  return Number(hash % BigInt(modulus));
}

function hashOf(type: SqlType, value: Value): bigint {
  switch (type.name) {
    case "int2":
    case "int4":
    case "oid":
      return hashUint32(value as number);
    case "date":
      return hashUint32(postgresDate(value as number));
    case "bool":
      return hashUint32(value === true ? 1 : 0);
    case "int8":
    case "time":
      return hashInt64(BigInt(value as number | bigint));
    case "timestamp":
    case "timestamptz":
      return hashInt64(postgresTimestamp(value as number));
    case "text":
    case "varchar":
    case "name":
      return hashBytes(Buffer.from(value as string));
    case "bpchar":
      return hashBytes(Buffer.from((value as string).replace(/ +$/, "")));
    case "bytea":
      return hashBytes(value as Uint8Array);
    case "uuid":
      return hashBytes(Buffer.from((value as string).replaceAll("-", ""), "hex"));
    default:
      return hashBytes(encodeKey(NO_PREFIX, [{ type, descending: false, nullsFirst: false }], [value]));
  }
}

const DAYS_TO_2000 = 10_957;
const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Days since 2000, as PostgreSQL stores a date. */
function postgresDate(days: number): number {
  return days === Number.POSITIVE_INFINITY
    ? INT32_MAX
    : days === Number.NEGATIVE_INFINITY
      ? INT32_MIN
      : days - DAYS_TO_2000;
}

/** Microseconds since 2000. */
function postgresTimestamp(micros: number): bigint {
  if (micros === Number.POSITIVE_INFINITY) return INT64_MAX;
  if (micros === Number.NEGATIVE_INFINITY) return INT64_MIN;
  return BigInt(micros) - BigInt(DAYS_TO_2000) * 86_400_000_000n;
}

/** hashint8extended: equal numbers of all integer types have equal hashes. */
function hashInt64(value: bigint): bigint {
  const high = Number(BigInt.asUintN(32, value >> 32n));
  const low = Number(BigInt.asUintN(32, value));
  return hashUint32(low ^ (value >= 0n ? high : ~high));
}

/** The state of lookup3, three words of 32 bits. One hash at a time uses it. */
let a = 0;
let b = 0;
let c = 0;

function start(length: number): void {
  a = b = c = (INITIAL + length) | 0;
  a = (a + SEED_HIGH) | 0;
  b = (b + SEED_LOW) | 0;
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

function hashUint32(value: number): bigint {
  start(4);
  a = (a + value) | 0;
  return finish();
}

function hashBytes(bytes: Uint8Array): bigint {
  start(bytes.length);
  let at = 0;
  for (; bytes.length - at >= 12; at += 12) {
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

/** Up to four bytes, little-endian. */
function word(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let i = 0; i < length; i++) value |= bytes[at + i]! << (8 * i);
  return value;
}
