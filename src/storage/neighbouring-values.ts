/**
 * Reads many keys that may lie side by side, as those of an UPDATE of a range do: by a cursor where they do, which
 * costs a quarter of looking each up. Owned by layered-engine.ts.
 */

import type { Engine } from "./engine.js";
import type { KeyRange } from "./store.js";

/** Fewer keys are looked up. */
const KEYS_MIN = 48;
/** Entries that a cursor is asked for: more each time. */
const READ_FIRST = 16;
const READ_MAX = 128;
/** Of a key, those bytes that tell neighbours apart, as a number. */
const LAST_BYTES = 4;
/**
 * Keys whose numbers lie further apart are looked up: a cursor would step over all entries between them that were
 * removed, and nobody knows how many there are.
 */
const GAP_MAX = 16;
/** A cursor goes on as long as at least one in so many of its entries is asked for. */
const READ_FOR_EACH = 3;

/** The engine's values of keys, in their order. */
export function neighbouringValues(engine: Engine, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
  if (keys.length < KEYS_MIN) return engine.getMany(keys);
  const values = new Array<Uint8Array | undefined>(keys.length);
  const rest: number[] = [];
  for (let from = 0; from < keys.length; ) {
    const to = endOfRun(keys, from);
    const read = to - from < KEYS_MIN ? from : readRange(engine, keys, values, from, to);
    for (let i = read; i < to; i++) rest.push(i);
    from = to;
  }
  if (rest.length === 0) return values;
  const found = engine.getMany(rest.map((i) => keys[i]!));
  for (const [j, i] of rest.entries()) values[i] = found[j];
  return values;
}

/** Up to where each key lies close behind the one before. */
function endOfRun(keys: readonly Uint8Array[], from: number): number {
  let to = from + 1;
  while (to < keys.length && isClose(keys[to - 1]!, keys[to]!)) to++;
  return to;
}

function isClose(before: Uint8Array, key: Uint8Array): boolean {
  const end = key.length - LAST_BYTES;
  if (end < 0 || before.length !== key.length) return false;
  for (let i = end - 1; i >= 0; i--) if (before[i] !== key[i]) return false;
  const gap = lastBytes(key, end) - lastBytes(before, end);
  return gap > 0 && gap <= GAP_MAX;
}

function lastBytes(key: Uint8Array, at: number): number {
  return ((key[at]! << 24) | (key[at + 1]! << 16) | (key[at + 2]! << 8) | key[at + 3]!) >>> 0;
}

/** Answers up to which key it has read. */
function readRange(
  engine: Engine,
  keys: readonly Uint8Array[],
  values: (Uint8Array | undefined)[],
  from: number,
  to: number,
): number {
  const range: KeyRange = { gte: keys[from]!, lt: Buffer.concat([keys[to - 1]!, Buffer.of(0)]) };
  const cursor = engine.cursor(range);
  try {
    let at = from;
    for (let size = READ_FIRST; ; size = Math.min(2 * size, READ_MAX)) {
      const before = at;
      const entries = cursor.next(size);
      for (const [j, key] of entries.keys.entries()) {
        while (at < to && Buffer.compare(keys[at]!, key) < 0) at++;
        if (at < to && Buffer.compare(keys[at]!, key) === 0) values[at++] = entries.values[j];
      }
      if (entries.keys.length < size) return to;
      if ((at - before) * READ_FOR_EACH < size) return at;
    }
  } finally {
    cursor.close();
  }
}
