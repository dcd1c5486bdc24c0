/**
 * An operation as bytes, in the commit log and in what another thread is given (packed-operations.ts):
 *
 *   u8 1 put, 2 delete, 3 held before, 4 not there before · u16 key length · u32 value length · key · value
 *   (all little-endian)
 *
 * In an encrypted log, 5 stands for neighbouring operations of one tenant: sealed-record.ts.
 */
export const FRAME_KIND = {
  put: 1,
  delete: 2,
  /** What a key held before the commit; see Commit.before. */
  before: 3,
  absentBefore: 4,
  sealed: 5,
} as const;

/** Of the kind and the lengths. */
export const FRAME_HEAD_BYTES = 7;

/** @param valueLength 0 where there is no value. */
export function writeFrameHead(
  bytes: Uint8Array,
  at: number,
  kind: number,
  keyLength: number,
  valueLength: number,
): void {
  bytes[at] = kind;
  bytes[at + 1] = keyLength;
  bytes[at + 2] = keyLength >>> 8;
  bytes[at + 3] = valueLength;
  bytes[at + 4] = valueLength >>> 8;
  bytes[at + 5] = valueLength >>> 16;
  bytes[at + 6] = valueLength >>> 24;
}
