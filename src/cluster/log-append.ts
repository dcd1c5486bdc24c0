/**
 * The bytes of one append to a partition's log:
 *
 *   header  u8 version · u8 flags · u64 epoch · u48 first · u48 last · 16 bytes chain before · 16 bytes chain after
 *   body    records as log-record.ts has them, with the salt 0
 *   (all little-endian)
 *
 * `first` is the sequence of its first commit, or of the commit to come; `last` that of its last commit, or one less
 * than `first`. A record that is too long for one append is continued in the next (flags), and its commit counts in the
 * last of them.
 *
 * The chain is the beginning of a SHA-256 of the chain before and of all else. So whoever reads an append notices when
 * one before it was lost, changed or replaced.
 */
import { createHash } from "node:crypto";
import { DbError } from "../protocol/errors.js";

export interface AppendHead {
  readonly epoch: number;
  readonly first: number;
  readonly last: number;
  /** Its record goes on in the next append. */
  readonly isContinued: boolean;
  /** It begins within a record of the append before. */
  readonly continues: boolean;
}

export interface ReadAppend extends AppendHead {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly body: Buffer;
}

export const CHAIN_BYTES = 16;
/** Before the first append of a log. */
export const CHAIN_START = Buffer.alloc(CHAIN_BYTES);
export const APPEND_HEADER_BYTES = 22 + 2 * CHAIN_BYTES;

const VERSION = 1;
const CONTINUED = 1;
const CONTINUES = 2;
const FIXED_BYTES = APPEND_HEADER_BYTES - 2 * CHAIN_BYTES;

export function writeAppend(head: AppendHead, before: Buffer, body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(APPEND_HEADER_BYTES + body.length);
  bytes[0] = VERSION;
  bytes[1] = (head.isContinued ? CONTINUED : 0) | (head.continues ? CONTINUES : 0);
  bytes.writeBigUInt64LE(BigInt(head.epoch), 2);
  bytes.writeUIntLE(head.first, 10, 6);
  bytes.writeUIntLE(head.last, 16, 6);
  before.copy(bytes, FIXED_BYTES);
  body.copy(bytes, APPEND_HEADER_BYTES);
  chainOf(bytes).copy(bytes, FIXED_BYTES + CHAIN_BYTES);
  return bytes;
}

/** Throws partition_damaged when the bytes are not as they were written. */
export function readAppend(given: Uint8Array): ReadAppend {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.length);
  if (bytes.length < APPEND_HEADER_BYTES) throw damagedLog(`an append has ${bytes.length} bytes`);
  if (bytes[0] !== VERSION) throw damagedLog(`an append has the unknown version ${bytes[0]}`);
  const after = bytes.subarray(FIXED_BYTES + CHAIN_BYTES, APPEND_HEADER_BYTES);
  const digest = chainOf(bytes);
  const first = bytes.readUIntLE(10, 6);
  if (!digest.equals(after)) {
    throw damagedLog(`the append at ${first} has the digest ${digest.toString("hex")}, not ${after.toString("hex")}`);
  }
  return {
    epoch: Number(bytes.readBigUInt64LE(2)),
    first,
    last: bytes.readUIntLE(16, 6),
    isContinued: (bytes[1]! & CONTINUED) !== 0,
    continues: (bytes[1]! & CONTINUES) !== 0,
    before: bytes.subarray(FIXED_BYTES, FIXED_BYTES + CHAIN_BYTES),
    after,
    body: bytes.subarray(APPEND_HEADER_BYTES),
  };
}

function chainOf(bytes: Buffer): Buffer {
  const hash = createHash("sha256");
  hash.update(bytes.subarray(0, FIXED_BYTES + CHAIN_BYTES)).update(bytes.subarray(APPEND_HEADER_BYTES));
  return hash.digest().subarray(0, CHAIN_BYTES);
}

export function damagedLog(what: string): DbError {
  return new DbError("partition_damaged", `The replicated log is damaged: ${what}. Restore a backup.`);
}
