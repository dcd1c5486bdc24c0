/**
 * Copies short pieces of memory. A call of the runtime costs as much as a hundred bytes that are copied here, four at
 * a time.
 */

/** Longer pieces are copied by the runtime. */
const COPIED_BYTES = 192;
/** Longer ones that have a view of their own are copied by the runtime, shorter ones byte by byte. */
const SET_BYTES = 48;

/** One piece of memory, as bytes and as what reads four of them at a time. */
export interface Memory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

export function memoryOf(bytes: Uint8Array): Memory {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/** Of so many bytes, which are not zeroed. */
export function allocateMemory(length: number): Memory {
  return memoryOf(Buffer.allocUnsafeSlow(length));
}

export function copyBytes(from: Memory, start: number, length: number, to: Memory, at: number): void {
  if (length > COPIED_BYTES) {
    to.bytes.set(new Uint8Array(from.bytes.buffer, from.bytes.byteOffset + start, length), at);
    return;
  }
  const { view: source } = from;
  const { view: target } = to;
  let i = 0;
  for (; i + 8 <= length; i += 8) {
    target.setInt32(at + i, source.getInt32(start + i, true), true);
    target.setInt32(at + i + 4, source.getInt32(start + i + 4, true), true);
  }
  for (; i < length; i++) to.bytes[at + i] = from.bytes[start + i]!;
}

export function copyAll(bytes: Uint8Array, to: Uint8Array, at: number): void {
  if (bytes.length > SET_BYTES) to.set(bytes, at);
  else for (let i = 0; i < bytes.length; i++) to[at + i] = bytes[i]!;
}
