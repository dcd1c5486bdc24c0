/** Operations as one piece of memory, which another thread is given: see rocksdb-writer.ts. */
import { allocateMemory, type Memory } from "./copy-bytes.js";
import { FramedPart } from "./framed-part.js";
import type { Operation } from "./operation.js";
import { FRAME_HEAD_BYTES, FRAME_KIND, writeFrameHead } from "./operation-frame.js";
import { LoadPart } from "./sorted-run.js";

/** Neighbouring operations of a large commit. */
export type OperationPart = readonly Operation[] | LoadPart;

/** What another thread writes: its bytes are copied when it is given away. */
export type WrittenPart = OperationPart | FramedPart;

const hasFrames = (part: WrittenPart): part is LoadPart | FramedPart =>
  part instanceof LoadPart || part instanceof FramedPart;

export function bytesOfPart(part: WrittenPart): number {
  if (hasFrames(part)) return part.bytes;
  let bytes = 0;
  for (const { key, value } of part) bytes += key.length + (value?.length ?? 0);
  return bytes;
}

/** Takes the memory that `memoryFor` gives for so many bytes, from its beginning. */
export function packOperations(
  parts: readonly WrittenPart[],
  memoryFor: (bytes: number) => Memory = allocateMemory,
): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const part of parts) length += FRAME_HEAD_BYTES * part.length + bytesOfPart(part);
  const memory = memoryFor(length);
  let at = 0;
  for (const part of parts) {
    at = hasFrames(part) ? part.copyFrames(memory, at) : packEach(memory, at, part);
  }
  return memory.bytes.subarray(0, length) as Uint8Array<ArrayBuffer>;
}

function packEach({ bytes }: Memory, offset: number, operations: readonly Operation[]): number {
  let at = offset;
  for (const { key, value } of operations) {
    const kind = value === null ? FRAME_KIND.delete : FRAME_KIND.put;
    writeFrameHead(bytes, at, kind, key.length, value === null ? 0 : value.length);
    at += FRAME_HEAD_BYTES;
    bytes.set(key, at);
    at += key.length;
    if (value === null) continue;
    bytes.set(value, at);
    at += value.length;
  }
  return at;
}

/** Calls for each operation, in order, with views of the packed bytes. */
export function unpackOperations(
  { buffer, byteOffset, length }: Uint8Array<ArrayBuffer>,
  visit: (key: Uint8Array, value: Uint8Array | null) => void,
): void {
  const view = new DataView(buffer);
  for (let at = byteOffset; at < byteOffset + length; ) {
    const isDeleted = view.getUint8(at) === FRAME_KIND.delete;
    const keyLength = view.getUint16(at + 1, true);
    const valueLength = view.getUint32(at + 3, true);
    const key = at + FRAME_HEAD_BYTES;
    const value = key + keyLength;
    visit(new Uint8Array(buffer, key, keyLength), isDeleted ? null : new Uint8Array(buffer, value, valueLength));
    at = value + valueLength;
  }
}
