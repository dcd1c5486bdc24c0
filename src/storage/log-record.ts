/**
 * The bytes of the commit log's segments. A segment is a header, then records back to back:
 *
 *   header  magic "TSRALOG\0" · u32 version · u32 salt · u32 CRC-32 of these
 *   record  u32 CRC-32 (seeded with the salt) of all that follows · u32 payload length · payload
 *   payload u8 kind · u48 sequence · u48 durable · f64 micros · u32 operations · operations
 *   (all little-endian; for an operation see operation-frame.ts, for encrypted ones sealed-record.ts)
 *
 * `durable` is the sequence that was known to be on the device when the record was written. It tells a torn tail from
 * damage: a bad record may only be dropped if no later record proves that it had been synced. The salt is random per
 * segment, so that no client can store a value that passes for a record.
 */
import { randomInt } from "node:crypto";
import { DbError } from "../protocol/errors.js";
import type { Commit, LogEntry } from "./commit-log.js";
import { memoryOf } from "./copy-bytes.js";
import { crc32 } from "./crc32.js";
import { FramedPart } from "./framed-part.js";
import type { Operation } from "./operation.js";
import { FRAME_HEAD_BYTES, FRAME_KIND, writeFrameHead } from "./operation-frame.js";
import { LoadPart } from "./sorted-run.js";

export const SEGMENT_HEADER_BYTES = 20;
const SEGMENT_VERSION = 1;
const MAGIC = Buffer.from("TSRALOG\0", "latin1");

/**
 * A mark repeats the last sequence and attests that all of it is durable; written when the log is closed. A part also
 * repeats it: operations of a large commit to come, with the number of its parts in place of the time. That commit's
 * own record is `whole`: its first operation is no operation, but names the parts (`partsKey`).
 */
export const RECORD_KIND = { commit: 0, gap: 1, mark: 2, part: 3, whole: 4 } as const;
export type RecordKind = (typeof RECORD_KIND)[keyof typeof RECORD_KIND];

export const CHECKSUM_BYTES = 4;
export const RECORD_HEADER_BYTES = 8;
export const PAYLOAD_FIXED_BYTES = 25;
/** Of one without operations. */
export const RECORD_LEAST_BYTES = RECORD_HEADER_BYTES + PAYLOAD_FIXED_BYTES;
const NOTHING: readonly Operation[] = [];

/** The key of a frame of kind `sealed`: u32 tenant · u32 operations · u32 of them of `before`. */
export const SEALED_KEY_BYTES = 12;

export function countsOfSealed(bytes: Buffer, key: number): { readonly count: number; readonly beforeCount: number } {
  const beforeCount = bytes.readUInt32LE(key + 8);
  return { count: bytes.readUInt32LE(key + 4) - beforeCount, beforeCount };
}

/** A record without its operations. */
export interface RecordHead {
  readonly kind: RecordKind;
  readonly sequence: number;
  readonly durable: number;
  readonly micros: number;
  /** Operations, those of `before` not counted. */
  readonly count: number;
  /** Of `before`. */
  readonly beforeCount: number;
  /** Offset after the record. */
  readonly end: number;
}

export interface LogRecord extends LogEntry, RecordHead {
  readonly operations: readonly Operation[];
}

/** The parts of a large commit. */
export interface PartsReference {
  readonly id: number;
  /** The `first` of the segment in which they begin. */
  readonly firstSegment: number;
  readonly operations: number;
}

const PARTS_KEY_BYTES = 18;

export function partsKey({ id, firstSegment, operations }: PartsReference): Buffer {
  const key = Buffer.alloc(PARTS_KEY_BYTES);
  key.writeUIntLE(id, 0, 6);
  key.writeUIntLE(firstSegment, 6, 6);
  key.writeUIntLE(operations, 12, 6);
  return key;
}

export function readPartsKey(bytes: Uint8Array): PartsReference {
  const key = Buffer.from(bytes.buffer, bytes.byteOffset, PARTS_KEY_BYTES);
  return { id: key.readUIntLE(0, 6), firstSegment: key.readUIntLE(6, 6), operations: key.readUIntLE(12, 6) };
}

/** What the record of a large commit says of its parts: its first operation, which is never encrypted. */
export function partsReferenceOf(bytes: Buffer, offset: number): PartsReference {
  return readPartsKey(bytes.subarray(offset + RECORD_HEADER_BYTES + PAYLOAD_FIXED_BYTES + FRAME_HEAD_BYTES));
}

/** Numbers of parts are below this. */
export const PARTS_IDS = 2 ** 47;

/** The header of a new segment, with a fresh salt. */
export function segmentHeader(): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(SEGMENT_VERSION, 8);
  header.writeUInt32LE(randomInt(1, 2 ** 32), 12);
  header.writeUInt32LE(crc32(header.subarray(0, 16), 0), 16);
  return header;
}

/** The salt of the segment that starts with these bytes; null when they are no header of this version. */
export function segmentSalt(bytes: Buffer): number | null {
  if (bytes.length < SEGMENT_HEADER_BYTES || !bytes.subarray(0, 8).equals(MAGIC)) return null;
  if (bytes.readUInt32LE(16) !== crc32(bytes.subarray(0, 16), 0)) return null;
  return bytes.readUInt32LE(8) === SEGMENT_VERSION ? bytes.readUInt32LE(12) : null;
}

/** Whether the header never reached the device: too short, or a hole. */
export function isHeaderMissing(bytes: Buffer): boolean {
  return bytes.length < SEGMENT_HEADER_BYTES || bytes.subarray(0, SEGMENT_HEADER_BYTES).every((byte) => byte === 0);
}

/** A commit, or a part of one whose operations a load has. */
export type Loggable = Omit<Commit, "operations"> & { readonly operations: Commit["operations"] | LoadPart };

/** Bytes that `writeRecord` needs for the commit. */
export function recordBytes({ operations, before = NOTHING }: Loggable): number {
  let length = RECORD_HEADER_BYTES + PAYLOAD_FIXED_BYTES + (operations.length + before.length) * FRAME_HEAD_BYTES;
  if (operations instanceof LoadPart) length += operations.bytes;
  else for (const { key, value } of operations) length += key.length + (value === null ? 0 : value.length);
  for (const { key, value } of before) length += key.length + (value === null ? 0 : value.length);
  return length;
}

export interface RecordContext {
  readonly salt: number;
  readonly kind: RecordKind;
  readonly durable: number;
}

/** Writes a record at `offset`, returns the offset after it. */
export function writeRecord(bytes: Buffer, offset: number, context: RecordContext, commit: Loggable): number {
  let at = offset + RECORD_HEADER_BYTES;
  bytes[at] = context.kind;
  bytes.writeUIntLE(commit.sequence, at + 1, 6);
  bytes.writeUIntLE(context.durable, at + 7, 6);
  bytes.writeDoubleLE(commit.micros, at + 13);
  const { operations, before = NOTHING } = commit;
  bytes.writeUInt32LE(operations.length + before.length, at + 21);
  at += PAYLOAD_FIXED_BYTES;
  if (operations instanceof LoadPart) at = operations.copyFrames(memoryOf(bytes), at);
  else at = writeOperations(bytes, at, operations, FRAME_KIND.put, FRAME_KIND.delete);
  if (before.length > 0) at = writeOperations(bytes, at, before, FRAME_KIND.before, FRAME_KIND.absentBefore);
  bytes.writeUInt32LE(at - offset - RECORD_HEADER_BYTES, offset + 4);
  bytes.writeUInt32LE(crc32(bytes.subarray(offset + 4, at), context.salt), offset);
  return at;
}

function writeOperations(
  bytes: Buffer,
  offset: number,
  operations: readonly Operation[],
  withValue: number,
  without: number,
): number {
  let at = offset;
  for (const { key, value } of operations) {
    writeFrameHead(bytes, at, value === null ? without : withValue, key.length, value === null ? 0 : value.length);
    at += FRAME_HEAD_BYTES;
    bytes.set(key, at);
    at += key.length;
    if (value === null) continue;
    bytes.set(value, at);
    at += value.length;
  }
  return at;
}

/** Bytes of the record at `offset` as it says itself; null where so few bytes are there that it does not. */
export function claimedBytes(bytes: Buffer, offset: number): number | null {
  return offset + RECORD_HEADER_BYTES > bytes.length ? null : RECORD_HEADER_BYTES + bytes.readUInt32LE(offset + 4);
}

/** The head of the record at `offset`, or null when the bytes there are not a whole, intact record. */
export function readHead(bytes: Buffer, offset: number, salt: number): RecordHead | null {
  const payload = offset + RECORD_HEADER_BYTES;
  if (payload + PAYLOAD_FIXED_BYTES > bytes.length) return null;
  const end = payload + bytes.readUInt32LE(offset + 4);
  if (end > bytes.length || end < payload + PAYLOAD_FIXED_BYTES || bytes[payload]! > RECORD_KIND.whole) return null;
  if (bytes.readUInt32LE(offset) !== crc32(bytes.subarray(offset + 4, end), salt)) return null;
  const { count, beforeCount } = countsOf(bytes, payload);
  return {
    kind: bytes[payload] as RecordKind,
    sequence: bytes.readUIntLE(payload + 1, 6),
    durable: bytes.readUIntLE(payload + 7, 6),
    micros: bytes.readDoubleLE(payload + 13),
    count,
    beforeCount,
    end,
  };
}

/** Operations, and those of `before`, which come last. Only called on bytes whose checksum is right. */
function countsOf(bytes: Buffer, payload: number): { count: number; beforeCount: number } {
  const frames = bytes.readUInt32LE(payload + 21);
  let at = payload + PAYLOAD_FIXED_BYTES;
  let [count, beforeCount] = [0, 0];
  for (let i = 0; i < frames; i++) {
    const kind = bytes[at]!;
    if (kind === FRAME_KIND.sealed) {
      const counts = countsOfSealed(bytes, at + FRAME_HEAD_BYTES);
      count += counts.count;
      beforeCount += counts.beforeCount;
    } else if (kind >= FRAME_KIND.before) return { count, beforeCount: frames - i };
    else count++;
    at += FRAME_HEAD_BYTES + bytes.readUInt16LE(at + 1) + bytes.readUInt32LE(at + 3);
  }
  return { count, beforeCount };
}

/** Decrypts the frame of kind `sealed` at `at` of a record into frames. Null: its key is destroyed. */
export type OpenFrame = (bytes: Buffer, at: number, record: number) => Buffer | null;

/** With the operations, which are views of the bytes. `open`: where the log is encrypted. */
export function recordOf(bytes: Buffer, offset: number, head: RecordHead, open: OpenFrame | null = null): LogRecord {
  const payload = offset + RECORD_HEADER_BYTES;
  const frames = bytes.readUInt32LE(payload + 21);
  const operations: Operation[] = [];
  const before: Operation[] = [];
  readFrames(
    bytes,
    payload + PAYLOAD_FIXED_BYTES,
    frames,
    (frame) => {
      const opened = open === null ? unreadable() : open(bytes, frame, offset);
      if (opened !== null) readFrames(opened, 0, Number.POSITIVE_INFINITY, unreadable, operations, before);
    },
    operations,
    before,
  );
  const gap = head.kind === RECORD_KIND.gap;
  return before.length === 0 ? { ...head, gap, operations } : { ...head, gap, operations, before };
}

function unreadable(): never {
  throw new DbError("partition_damaged", "The commit log is encrypted, and it is read without a key.");
}

/** Only called on bytes whose checksum is right. So many frames, or those up to the end. */
function readFrames(
  bytes: Buffer,
  offset: number,
  frames: number,
  sealed: (at: number) => void,
  operations: Operation[],
  before: Operation[],
): void {
  let at = offset;
  for (let i = 0; i < frames && at < bytes.length; i++) {
    const kind = bytes[at]!;
    const start = at;
    const key = at + FRAME_HEAD_BYTES;
    const value = key + bytes.readUInt16LE(at + 1);
    at = value + bytes.readUInt32LE(at + 3);
    if (kind === FRAME_KIND.sealed) {
      sealed(start);
      continue;
    }
    const isThere = kind === FRAME_KIND.put || kind === FRAME_KIND.before;
    const operation = { key: bytes.subarray(key, value), value: isThere ? bytes.subarray(value, at) : null };
    (kind >= FRAME_KIND.before ? before : operations).push(operation);
  }
}

/**
 * Calls `visit` for each operation of the record at `offset` that puts a value: where its key begins, its value begins,
 * and it ends. Only called on bytes whose checksum is right, and that are not encrypted.
 */
export function forEachPut(
  bytes: Buffer,
  offset: number,
  visit: (key: number, value: number, end: number) => void,
): void {
  const payload = offset + RECORD_HEADER_BYTES;
  const frames = bytes.readUInt32LE(payload + 21);
  let at = payload + PAYLOAD_FIXED_BYTES;
  for (let i = 0; i < frames; i++) {
    const kind = bytes[at]!;
    const key = at + FRAME_HEAD_BYTES;
    const value = key + bytes.readUInt16LE(at + 1);
    at = value + bytes.readUInt32LE(at + 3);
    if (kind === FRAME_KIND.sealed) unreadable();
    if (kind === FRAME_KIND.put) visit(key, value, at);
  }
}

/** The frames of the record at `offset`, which is not encrypted and has none of `before`. */
export function framesOf(bytes: Buffer, offset: number, { count, end }: RecordHead): FramedPart {
  return new FramedPart(bytes.subarray(offset + RECORD_HEADER_BYTES + PAYLOAD_FIXED_BYTES, end), count);
}

/** What bytes say of themselves, if they are a record. */
export interface RecordClaim {
  readonly checksum: number;
  readonly durable: number;
  /** Offset after the record. */
  readonly end: number;
}

/**
 * Of the bytes at `offset`, which may be anything and are at least RECORD_LEAST_BYTES; null: no record looks so.
 * Follows the operations as far as the bytes are there, so that few but records are left to be summed up. `end`: where
 * the file ends.
 */
export function claimOf(bytes: Buffer, offset: number, end: number): RecordClaim | null {
  const payload = offset + RECORD_HEADER_BYTES;
  if (bytes[payload]! > RECORD_KIND.whole) return null;
  const length = bytes.readUInt32LE(offset + 4);
  const after = payload + length;
  const count = bytes.readUInt32LE(payload + 21);
  if (after > end || length < PAYLOAD_FIXED_BYTES + count * FRAME_HEAD_BYTES) return null;
  let at = payload + PAYLOAD_FIXED_BYTES;
  for (let i = 0; i < count; i++) {
    if (at + FRAME_HEAD_BYTES > bytes.length) return claimed();
    const kind = bytes[at]!;
    if (kind < FRAME_KIND.put || kind > FRAME_KIND.sealed) return null;
    at += FRAME_HEAD_BYTES + bytes.readUInt16LE(at + 1) + bytes.readUInt32LE(at + 3);
    if (at > after) return null;
  }
  return at === after ? claimed() : null;

  function claimed(): RecordClaim {
    return { checksum: bytes.readUInt32LE(offset), durable: bytes.readUIntLE(payload + 7, 6), end: after };
  }
}
