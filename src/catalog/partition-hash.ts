/**
 * Computes which hash partition a row belongs to. Integers, dates, times, booleans, text, bytea and uuid hash as in
 * PostgreSQL (lookup3.ts; partbounds.c, compute_partition_hash_value), so rows are in the same partitions as there.
 * Values of other types hash by their key's bytes.
 */
import { encodeKey } from "../storage/key-codec.js";
import { hashBytes, hashInt64, hashUint32, hashUuid, type Seed } from "../values/lookup3.js";
import type { Timestamp } from "../values/timestamp.js";
import type { SqlType, Value } from "../values/values.js";

/** HASH_PARTITION_SEED. */
const SEED: Seed = { high: 0x7a5b2236, low: 0x7996dcfd };
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
      return hashUint32(value as number, SEED);
    case "date":
      return hashUint32(postgresDate(value as number), SEED);
    case "bool":
      return hashUint32(value === true ? 1 : 0, SEED);
    case "int8":
    case "time":
      return hashInt64(BigInt(value as number | bigint), SEED);
    case "timestamp":
    case "timestamptz":
      return hashInt64(postgresTimestamp(value as Timestamp), SEED);
    case "text":
    case "varchar":
    case "name":
      return hashBytes(Buffer.from(value as string), SEED);
    case "bpchar":
      return hashBytes(Buffer.from((value as string).replace(/ +$/, "")), SEED);
    case "bytea":
      return hashBytes(value as Uint8Array, SEED);
    case "uuid":
      return hashUuid(value as string, SEED);
    default:
      return hashBytes(encodeKey(NO_PREFIX, [{ type, descending: false, nullsFirst: false }], [value]), SEED);
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
function postgresTimestamp(micros: Timestamp): bigint {
  if (micros === Number.POSITIVE_INFINITY) return INT64_MAX;
  if (micros === Number.NEGATIVE_INFINITY) return INT64_MIN;
  return BigInt(micros) - BigInt(DAYS_TO_2000) * 86_400_000_000n;
}
