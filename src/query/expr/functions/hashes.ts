/**
 * PostgreSQL's hash functions of its types, which people use to spread rows and to name advisory locks: the same
 * numbers as there (hashfunc.c of PostgreSQL 15).
 */
import { hashBytes, hashInt64, hashUint32, hashUuid, type Seed } from "../../../values/lookup3.js";
import { FLOAT8, INT2, INT4, INT8, NAME, OID, type SqlType, TEXT, UUID, type Value } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { normalInt8 } from "../number-cast.js";
import { fn } from "./define.js";

const NO_SEED: Seed = { high: 0, low: 0 };

function hashFloat8(value: number, seed: Seed): bigint {
  // Both zeros are equal.
  if (value === 0) return (BigInt(seed.high) << 32n) | BigInt(seed.low >>> 0);
  const bytes = Buffer.alloc(8);
  // So are all NaN, whatever their bits.
  bytes.writeDoubleLE(Number.isNaN(value) ? Number.NaN : value);
  return hashBytes(bytes, seed);
}

type Hash = (value: never, seed: Seed) => bigint;

/** `extended`: the name of the one with a second argument, the seed, and 64 bits. */
export function hashing(name: string, type: SqlType, hash: Hash, extended = `${name}extended`): ScalarFunction[] {
  return [
    fn(name, [type], INT4, (value: Value) => Number(BigInt.asIntN(32, hash(value as never, NO_SEED)))),
    fn(extended, [type, INT8], INT8, (value: Value, given: number | bigint) => {
      const seed = BigInt(given);
      const [high, low] = [seed >> 32n, seed].map((half) => Number(BigInt.asIntN(32, half)));
      return normalInt8(BigInt.asIntN(64, hash(value as never, { high: high!, low: low! })));
    }),
  ];
}

export const hashText = (text: string, seed: Seed): bigint => hashBytes(Buffer.from(text), seed);
const hashInt8: Hash = (value: number | bigint, seed) => hashInt64(BigInt(value), seed);

export const HASH_FUNCTIONS: readonly ScalarFunction[] = [
  ...hashing("hashtext", TEXT, hashText),
  ...hashing("hashname", NAME, hashText),
  ...hashing("hashint2", INT2, hashUint32),
  ...hashing("hashint4", INT4, hashUint32),
  ...hashing("hashoid", OID, hashUint32),
  ...hashing("hashint8", INT8, hashInt8),
  ...hashing("hashfloat8", FLOAT8, hashFloat8),
  ...hashing("uuid_hash", UUID, hashUuid, "uuid_hash_extended"),
];
