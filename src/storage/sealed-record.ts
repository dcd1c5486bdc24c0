/**
 * Encrypts records of the commit log. What names a record stays readable (its kind, sequence, time and length), so that
 * the end of the log is found without keys. Neighbouring operations of one tenant become one frame
 * (operation-frame.ts), with keys and values in it:
 *
 *   u8 5 · u16 12 · u32 length of the box · u32 tenant · u32 operations · u32 of them of `before` · box
 *
 * A box (tenant-keys.ts) is bound to its segment, its offset, all that the record says of itself, and its place among
 * the record's frames. Made by shard-on-disk.ts; called by the log.
 */
import { crc32 } from "./crc32.js";
import {
  CHECKSUM_BYTES,
  type OpenFrame,
  PAYLOAD_FIXED_BYTES,
  RECORD_HEADER_BYTES,
  RECORD_KIND,
  SEALED_KEY_BYTES,
} from "./log-record.js";
import { FRAME_HEAD_BYTES, FRAME_KIND, writeFrameHead } from "./operation-frame.js";
import { keyTenantOf, sealBox, type TenantKeys } from "./tenant-keys.js";

/** Salt, offset, what the record says of itself, place among the frames, key of the frame. */
const PLACE_BYTES = 4 + 6 + PAYLOAD_FIXED_BYTES + 4 + SEALED_KEY_BYTES;

export interface RecordSeal {
  /** The records, which start at `starts`, as they are written at `offset` of the segment with that salt. */
  sealed(records: Buffer, starts: readonly number[], salt: number, offset: number): Buffer;
  /** For the record at that offset. */
  opener(salt: number, offset: number): OpenFrame;
}

/** Of a shard's log. */
export function recordSeal(keys: TenantKeys): RecordSeal {
  return {
    sealed(records, starts, salt, offset) {
      const made: Buffer[] = [];
      let at = offset;
      for (const [i, start] of starts.entries()) {
        const record = sealedRecord(keys, records.subarray(start, starts[i + 1]), salt, at);
        at += record.length;
        made.push(record);
      }
      return made.length === 1 ? made[0]! : Buffer.concat(made);
    },
    opener: openerOf(keys),
  };
}

/** What it opens is null where the tenant's key is destroyed. */
function openerOf(keys: TenantKeys): RecordSeal["opener"] {
  return (salt, offset) => {
    let number = 0;
    return (bytes, at, record) => {
      const key = at + FRAME_HEAD_BYTES;
      const box = bytes.subarray(key + SEALED_KEY_BYTES, key + SEALED_KEY_BYTES + bytes.readUInt32LE(at + 3));
      const fixed = bytes.subarray(record + RECORD_HEADER_BYTES);
      const frameKey = bytes.subarray(key, key + SEALED_KEY_BYTES);
      const place = placeOf(salt, offset, fixed, number++, frameKey);
      return keys.open(bytes.readUInt32LE(key), box, place, "A record of the commit log");
    };
  };
}

function placeOf(salt: number, offset: number, fixed: Buffer, frame: number, frameKey: Buffer): Buffer {
  const place = Buffer.allocUnsafe(PLACE_BYTES);
  place.writeUInt32LE(salt, 0);
  place.writeUIntLE(offset, 4, 6);
  fixed.copy(place, 10, 0, PAYLOAD_FIXED_BYTES);
  place.writeUInt32LE(frame, 10 + PAYLOAD_FIXED_BYTES);
  frameKey.copy(place, 14 + PAYLOAD_FIXED_BYTES);
  return place;
}

/** Neighbouring frames of one tenant. */
interface Run {
  readonly from: number;
  to: number;
  readonly tenant: number;
  count: number;
  before: number;
}

function sealedRecord(keys: TenantKeys, record: Buffer, salt: number, offset: number): Buffer {
  const body = RECORD_HEADER_BYTES + PAYLOAD_FIXED_BYTES;
  // The first operation of a large commit's record names its parts.
  const isWhole = record[RECORD_HEADER_BYTES] === RECORD_KIND.whole;
  const plainTo = isWhole ? frameEnd(record, body) : body;
  const runs = runsOf(record, plainTo);
  if (runs.length === 0) return Buffer.from(record);
  const head = Buffer.from(record.subarray(0, plainTo));
  head.writeUInt32LE(runs.length + (isWhole ? 1 : 0), RECORD_HEADER_BYTES + 21);
  const fixed = head.subarray(RECORD_HEADER_BYTES);
  const parts: Buffer[] = [head];
  for (const [i, { from, to, tenant, count, before }] of runs.entries()) {
    const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + SEALED_KEY_BYTES);
    const frameKey = frame.subarray(FRAME_HEAD_BYTES);
    frameKey.writeUInt32LE(tenant, 0);
    frameKey.writeUInt32LE(count, 4);
    frameKey.writeUInt32LE(before, 8);
    const box = sealBox(keys.of(tenant), record.subarray(from, to), placeOf(salt, offset, fixed, i, frameKey));
    writeFrameHead(frame, 0, FRAME_KIND.sealed, SEALED_KEY_BYTES, box.length);
    parts.push(frame, box);
  }
  const made = Buffer.concat(parts);
  made.writeUInt32LE(made.length - RECORD_HEADER_BYTES, CHECKSUM_BYTES);
  made.writeUInt32LE(crc32(made.subarray(CHECKSUM_BYTES), salt), 0);
  return made;
}

function runsOf(record: Buffer, from: number): Run[] {
  const runs: Run[] = [];
  for (let at = from; at < record.length; ) {
    const keyAt = at + FRAME_HEAD_BYTES;
    const tenant = keyTenantOf(record.subarray(keyAt, keyAt + record.readUInt16LE(at + 1)));
    const isBefore = record[at]! >= FRAME_KIND.before;
    if (runs.at(-1)?.tenant !== tenant) runs.push({ from: at, to: at, tenant, count: 0, before: 0 });
    const run = runs.at(-1)!;
    at = frameEnd(record, at);
    run.to = at;
    run.count++;
    if (isBefore) run.before++;
  }
  return runs;
}

function frameEnd(record: Buffer, at: number): number {
  return at + FRAME_HEAD_BYTES + record.readUInt16LE(at + 1) + record.readUInt32LE(at + 3);
}
