/**
 * Entries on their way from one partition to another, as one transferable buffer: per entry its key's length (u32), its
 * value's (u32; 0xffffffff for a removed key), the key, the value. Little endian.
 */
import type { Operation } from "../storage/operation.js";

const HEADER_BYTES = 8;
const REMOVED = 0xffffffff;

export function encodeEntries(operations: readonly Operation[]): ArrayBuffer {
  let size = 0;
  for (const { key, value } of operations) size += HEADER_BYTES + key.length + (value?.length ?? 0);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { key, value } of operations) {
    view.setUint32(at, key.length, true);
    view.setUint32(at + 4, value === null ? REMOVED : value.length, true);
    bytes.set(key, at + HEADER_BYTES);
    if (value !== null) bytes.set(value, at + HEADER_BYTES + key.length);
    at += HEADER_BYTES + key.length + (value?.length ?? 0);
  }
  return bytes.buffer;
}

/** The arrays are views of the buffer. */
export function decodeEntries(data: ArrayBuffer): Operation[] {
  const bytes = Buffer.from(data);
  const operations: Operation[] = [];
  let at = 0;
  while (at < bytes.length) {
    const keyEnd = at + HEADER_BYTES + bytes.readUInt32LE(at);
    const valueLength = bytes.readUInt32LE(at + 4);
    const end = valueLength === REMOVED ? keyEnd : keyEnd + valueLength;
    const value = valueLength === REMOVED ? null : bytes.subarray(keyEnd, end);
    operations.push({ key: bytes.subarray(at + HEADER_BYTES, keyEnd), value });
    at = end;
  }
  return operations;
}
