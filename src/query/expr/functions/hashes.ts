/**
 * PostgreSQL's hash functions of its types, which people use to spread rows and to name advisory locks: the same
 * numbers as there. After Bob Jenkins's lookup3 (2006), as in hashfn.c and hashfunc.c of PostgreSQL 15.
 */
import { FLOAT8, INT2, INT4, INT8, NAME, OID, type SqlType, TEXT, UUID, type Value } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { fn } from "./define.js";

const START = 0x9e3779b9 + 3_923_095;
const BLOCK_BYTES = 12;
/** The state between blocks, of the value that is hashed now. */
let [a, b, c] = [0, 0, 0];

const turned = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

function mix(): void {
  a = (a - c) ^ turned(c, 4);
  c = (c + b) | 0;
  b = (b - a) ^ turned(a, 6);
  a = (a + c) | 0;
  c = (c - b) ^ turned(b, 8);
  b = (b + a) | 0;
  a = (a - c) ^ turned(c, 16);
  c = (c + b) | 0;
  b = (b - a) ^ turned(a, 19);
  a = (a + c) | 0;
  c = (c - b) ^ turned(b, 4);
  b = (b + a) | 0;
}

function finish(): void {
  c = ((c ^ b) - turned(b, 14)) | 0;
  a = ((a ^ c) - turned(c, 11)) | 0;
  b = ((b ^ a) - turned(a, 25)) | 0;
  c = ((c ^ b) - turned(b, 16)) | 0;
  a = ((a ^ c) - turned(c, 4)) | 0;
  b = ((b ^ a) - turned(a, 14)) | 0;
  c = ((c ^ b) - turned(b, 24)) | 0;
}

function begin(length: number, seed: bigint): void {
  a = b = c = (START + length) | 0;
  if (seed === 0n) return;
  a = (a + Number(BigInt.asIntN(32, seed >> 32n))) | 0;
  b = (b + Number(BigInt.asIntN(32, seed))) | 0;
  mix();
}

function hashBytes(bytes: Buffer, seed: bigint): void {
  begin(bytes.length, seed);
  let at = 0;
  for (; bytes.length - at >= BLOCK_BYTES; at += BLOCK_BYTES) {
    a = (a + bytes.readInt32LE(at)) | 0;
    b = (b + bytes.readInt32LE(at + 4)) | 0;
    c = (c + bytes.readInt32LE(at + 8)) | 0;
    mix();
  }
  // The lowest byte of the last word stands for the length.
  const rest = Buffer.alloc(BLOCK_BYTES);
  bytes.copy(rest, 0, at);
  a = (a + rest.readInt32LE(0)) | 0;
  b = (b + rest.readInt32LE(4)) | 0;
  c = (c + (rest.readInt32LE(8) << 8)) | 0;
  finish();
}

function hashWord(word: number, seed: bigint): void {
  begin(4, seed);
  a = (a + word) | 0;
  finish();
}

function hashInt8(value: number | bigint, seed: bigint): void {
  const high = BigInt.asIntN(32, BigInt(value) >> 32n);
  const low = BigInt.asIntN(32, BigInt(value));
  hashWord(Number(low ^ (value >= 0 ? high : ~high)), seed);
}

function hashFloat8(value: number, seed: bigint): void {
  if (value === 0) {
    [b, c] = [Number(BigInt.asIntN(32, seed >> 32n)), Number(BigInt.asIntN(32, seed))];
    return;
  }
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  hashBytes(bytes, seed);
}

type Hash = (value: never, seed: bigint) => void;

/** With a second argument, the seed: 64 bits. */
function hashing(name: string, type: SqlType, hash: Hash): ScalarFunction[] {
  const of = (value: Value, seed: number | bigint): void => hash(value as never, BigInt(seed));
  return [
    fn(name, [type], INT4, (value: Value) => {
      of(value, 0);
      return c;
    }),
    fn(`${name}extended`.replace("_hashextended", "_hash_extended"), [type, INT8], INT8, (value, seed) => {
      of(value, seed);
      const wide = (BigInt(b) << 32n) | BigInt.asUintN(32, BigInt(c));
      return Number.isSafeInteger(Number(wide)) ? Number(wide) : wide;
    }),
  ];
}

const ofText: Hash = (text: string, seed) => hashBytes(Buffer.from(text), seed);

export const HASH_FUNCTIONS: readonly ScalarFunction[] = [
  ...hashing("hashtext", TEXT, ofText),
  ...hashing("hashname", NAME, ofText),
  ...hashing("hashint2", INT2, hashWord),
  ...hashing("hashint4", INT4, hashWord),
  ...hashing("hashoid", OID, hashWord),
  ...hashing("hashint8", INT8, hashInt8),
  ...hashing("hashfloat8", FLOAT8, hashFloat8),
  ...hashing("uuid_hash", UUID, (uuid: string, seed) => hashBytes(Buffer.from(uuid.replaceAll("-", ""), "hex"), seed)),
];
