/**
 * UUIDs of version 7 (RFC 9562, 5.7): milliseconds since the epoch, then a counter and random bits. They are the ids
 * of documents without one. Those of one process grow, so that documents are stored in the order in which they were
 * made.
 */
import { randomFillSync } from "node:crypto";

const COUNTER_MAX = 0xfff;
const VERSION = 0x7000;
const VARIANT = 0x80;
const RANDOM_BYTES = 8;

let lastMs = 0;
let counter = 0;
const random = new Uint8Array(RANDOM_BYTES);

/** In lower case with hyphens; greater than any that was made here before. */
export function uuidV7(nowMs = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    counter = 0;
  } else if (++counter > COUNTER_MAX) {
    // More in one millisecond than the counter holds, or a clock that was set back: time goes on by itself.
    lastMs++;
    counter = 0;
  }
  randomFillSync(random);
  random[0] = (random[0]! & 0x3f) | VARIANT;
  const time = lastMs.toString(16).padStart(12, "0");
  const tail = Buffer.from(random).toString("hex");
  const count = (VERSION | counter).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}
