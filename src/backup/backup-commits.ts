/**
 * Commits in blocks of a backup, one after the other: u48 sequence · f64 micros · u32 length · entries. Little endian.
 * A large commit is in several pieces, which follow each other with the same sequence and time, in one block or more.
 * So a moment has all of them or none. Earlier releases wrote each commit in one piece, and read several as well.
 */
import type { Commit } from "../storage/commit-log.js";
import { decodeEntries, encodeEntries } from "./entries-buffer.js";

const HEADER_BYTES = 18;

export function encodeCommit({ sequence, micros, operations }: Commit): Uint8Array {
  const entries = new Uint8Array(encodeEntries(operations));
  const bytes = Buffer.alloc(HEADER_BYTES + entries.length);
  bytes.writeUIntLE(sequence, 0, 6);
  bytes.writeDoubleLE(micros, 6);
  bytes.writeUInt32LE(entries.length, 14);
  bytes.set(entries, HEADER_BYTES);
  return bytes;
}

export function* decodeCommits(body: Buffer): Generator<Commit> {
  let at = 0;
  while (at < body.length) {
    const end = at + HEADER_BYTES + body.readUInt32LE(at + 14);
    const entries = new Uint8Array(body.subarray(at + HEADER_BYTES, end));
    yield {
      sequence: body.readUIntLE(at, 6),
      micros: body.readDoubleLE(at + 6),
      operations: decodeEntries(entries.buffer),
    };
    at = end;
  }
}
