/**
 * The frame of a value in a record: its payload's length (one byte below 0xFC; else 0xFC and u16, or 0xFD and u32,
 * little-endian), then the payload. A reader can pass over a frame without knowing its type.
 */
export const FRAME_U16 = 0xfc;
export const FRAME_U32 = 0xfd;

const TWO_32 = 2 ** 32;

/** Of the length in front of a payload. */
export function lengthBytes(payload: number): number {
  return payload < FRAME_U16 ? 1 : payload <= 0xffff ? 3 : 5;
}

/** Answers where the payload begins. */
export function writeLength(bytes: Uint8Array, at: number, payload: number): number {
  if (payload < FRAME_U16) {
    bytes[at] = payload;
    return at + 1;
  }
  const isLong = payload > 0xffff;
  bytes[at] = isLong ? FRAME_U32 : FRAME_U16;
  bytes[at + 1] = payload;
  bytes[at + 2] = payload >>> 8;
  if (!isLong) return at + 3;
  bytes[at + 3] = payload >>> 16;
  bytes[at + 4] = payload >>> 24;
  return at + 5;
}

/** Bytes of the shortest two's complement of a finite integral number; none for 0, and never five. */
export function integerBytes(value: number): number {
  if (value === (value | 0)) {
    if (value === 0) return 0;
    if (value >= -0x80 && value < 0x80) return 1;
    if (value >= -0x8000 && value < 0x8000) return 2;
    return value >= -0x800000 && value < 0x800000 ? 3 : 4;
  }
  const high = Math.floor(value / TWO_32);
  return high >= -0x8000 && high < 0x8000 ? 6 : high >= -0x800000 && high < 0x800000 ? 7 : 8;
}

/** The whole frame of such a number. Answers where it ends. */
export function writeIntegerFrame(bytes: Uint8Array, at: number, value: number): number {
  const count = integerBytes(value);
  bytes[at] = count;
  let rest = value | 0;
  let from = 1;
  if (count > 4) {
    rest = Math.floor(value / TWO_32);
    let low = value - rest * TWO_32;
    for (; from <= 4; from++) {
      bytes[at + from] = low;
      low >>>= 8;
    }
  }
  for (let i = from; i <= count; i++) {
    bytes[at + i] = rest;
    rest >>= 8;
  }
  return at + 1 + count;
}
