/** Operations as one piece of memory, which another thread is given: see rocksdb-writer.ts. */
import { LoadPart } from "./load-run.js";
import type { Operation } from "./operation.js";

/** Neighbouring operations of a large commit. */
export type OperationPart = readonly Operation[] | LoadPart;

/** i32 length of the key · i32 length of the value, −1: it is deleted · key · value; little-endian, as the processor is. */
const HEAD_BYTES = 8;
const DELETED = -1;

export function bytesOfPart(part: OperationPart): number {
  if (part instanceof LoadPart) return part.bytes;
  let bytes = 0;
  for (const { key, value } of part) bytes += key.length + (value?.length ?? 0);
  return bytes;
}

export function packOperations(parts: readonly OperationPart[]): ArrayBuffer {
  let length = 0;
  for (const part of parts) length += HEAD_BYTES * part.length + bytesOfPart(part);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const part of parts) at = part instanceof LoadPart ? packLoaded(bytes, at, part) : packEach(bytes, at, part);
  return bytes.buffer;
}

function packEach(bytes: Buffer, offset: number, operations: readonly Operation[]): number {
  let at = offset;
  for (const { key, value } of operations) {
    at = writeHead(bytes, at, key.length, value === null ? DELETED : value.length);
    bytes.set(key, at);
    at += key.length;
    if (value === null) continue;
    bytes.set(value, at);
    at += value.length;
  }
  return at;
}

function packLoaded(bytes: Buffer, offset: number, { run, from, to }: LoadPart): number {
  let at = offset;
  for (let place = from; place < to; place++) {
    at = writeHead(bytes, at, run.keyLengthAt(place), run.valueLengthAt(place) ?? DELETED);
    at = run.copyAt(place, bytes, at);
  }
  return at;
}

function writeHead(bytes: Buffer, offset: number, keyLength: number, valueLength: number): number {
  writeInt(bytes, offset, keyLength);
  writeInt(bytes, offset + 4, valueLength);
  return offset + HEAD_BYTES;
}

function writeInt(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >> 8;
  bytes[at + 2] = value >> 16;
  bytes[at + 3] = value >> 24;
}

/** Calls for each operation, in order, with views of the packed bytes. */
export function unpackOperations(
  packed: ArrayBuffer,
  visit: (key: Uint8Array, value: Uint8Array | null) => void,
): void {
  const view = new DataView(packed);
  for (let at = 0; at < packed.byteLength; ) {
    const keyLength = view.getInt32(at, true);
    const valueLength = view.getInt32(at + 4, true);
    const key = at + HEAD_BYTES;
    const value = key + keyLength;
    visit(
      new Uint8Array(packed, key, keyLength),
      valueLength === DELETED ? null : new Uint8Array(packed, value, valueLength),
    );
    at = value + Math.max(0, valueLength);
  }
}
