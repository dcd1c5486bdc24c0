/** Compares keys in the memory of runs by their bytes, four at a time. */
import type { Memory } from "./copy-bytes.js";

const WORD_BYTES = 4;

/** Less than 0, 0 or more than 0. The first `alike` bytes are known to be the same. */
export function compareKeys(
  one: Memory,
  start: number,
  length: number,
  other: Memory,
  otherStart: number,
  otherLength: number,
  alike: number,
): number {
  const end = Math.min(length, otherLength);
  let at = alike;
  for (; at + WORD_BYTES <= end; at += WORD_BYTES) {
    const difference = one.view.getUint32(start + at) - other.view.getUint32(otherStart + at);
    if (difference !== 0) return difference;
  }
  for (; at < end; at++) {
    const difference = one.bytes[start + at]! - other.bytes[otherStart + at]!;
    if (difference !== 0) return difference;
  }
  return length - otherLength;
}
