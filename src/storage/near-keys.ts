/**
 * Sorts some thousand byte strings by their numbers where they lie side by side: the bytes that may differ are copied
 * to one place, which stays in the processor's cache. Four bytes of each key at a time, with its place behind them, are
 * sorted as numbers by the runtime. Used by sort-keys.ts for keys that are alike so far; one sort at a time.
 */

/** How the sort reads keys. */
export interface CopiedKeys {
  length(number: number): number;
  /** Copies the key's bytes from `from` on; answers how many. */
  copy(number: number, from: number, to: Uint8Array, at: number): number;
}

/** Keys, and bytes of them. */
export const NEAR_MAX = 4096;
const BYTES_MAX = 512 * 1024;
/** Fewer keys are compared. */
const COMPARED = 12;
const WORD_BYTES = 4;
/** A place is behind a word in the 53 bits of one number. */
const PLACES = 2 ** 20;

/** The bytes of key i begin at starts[i] and end at starts[i + 1]; a few zeros are behind the last. */
let bytes = new Uint8Array(64 * 1024);
let view = new DataView(bytes.buffer);
const starts = new Int32Array(NEAR_MAX + 1);
const order = new Int32Array(NEAR_MAX);
const before = new Int32Array(NEAR_MAX);
const packed = new Float64Array(NEAR_MAX);

/**
 * At once. The keys have their first `known` bytes in common. False: they are too long, or some end before that (where
 * others have zeros), and nothing was done.
 */
export function sortNear(numbers: Int32Array, known: number, keys: CopiedKeys): boolean {
  if (!copyKeys(numbers, known, keys)) return false;
  const { length } = numbers;
  for (let i = 0; i < length; i++) order[i] = i;
  // Ranges of the order whose keys have some bytes in common.
  const groups = [0, length, 0];
  while (groups.length > 0) {
    const alike = groups.pop()!;
    const to = groups.pop()!;
    const from = groups.pop()!;
    if (to - from <= COMPARED) sortCompared(from, to, alike);
    else sortByWord(from, to, alike, groups);
  }
  before.set(numbers);
  for (let i = 0; i < length; i++) numbers[i] = before[order[i]!]!;
  return true;
}

function copyKeys(numbers: Int32Array, known: number, keys: CopiedKeys): boolean {
  let end = 0;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!;
    const length = keys.length(number) - known;
    if (length < 0 || end + length > BYTES_MAX) return false;
    if (end + length + WORD_BYTES > bytes.length) grow(end + length + WORD_BYTES);
    starts[i] = end;
    end += keys.copy(number, known, bytes, end);
  }
  starts[numbers.length] = end;
  return true;
}

function grow(length: number): void {
  const longer = new Uint8Array(Math.max(length, 2 * bytes.length));
  longer.set(bytes);
  bytes = longer;
  view = new DataView(bytes.buffer);
}

/** By insertion: stable. */
function sortCompared(from: number, to: number, alike: number): void {
  for (let i = from + 1; i < to; i++) {
    const key = order[i]!;
    let at = i;
    for (; at > from && compare(order[at - 1]!, key, alike) > 0; at--) order[at] = order[at - 1]!;
    order[at] = key;
  }
}

function compare(a: number, b: number, alike: number): number {
  const [endA, endB] = [starts[a + 1]!, starts[b + 1]!];
  let [at, other] = [starts[a]! + alike, starts[b]! + alike];
  while (at < endA && other < endB) {
    const difference = bytes[at++]! - bytes[other++]!;
    if (difference !== 0) return difference;
  }
  return endA - at - (endB - other);
}

/** By the four bytes behind those that are alike; ranges of keys that have them in common join the groups. */
function sortByWord(from: number, to: number, known: number, groups: number[]): void {
  const { alike, ends } = alikeIn(from, to, known);
  if (ends) {
    // Zeros in place of bytes that are not there would hide which key is shorter.
    order.subarray(from, to).sort((a, b) => compare(a, b, alike) || a - b);
    return;
  }
  const count = to - from;
  for (let i = 0; i < count; i++) {
    const key = order[from + i]!;
    packed[i] = wordAt(key, alike) * PLACES + key;
  }
  packed.subarray(0, count).sort();
  let start = from;
  let startWord = -1;
  for (let i = 0; i < count; i++) {
    const word = Math.floor(packed[i]! / PLACES);
    order[from + i] = packed[i]! - word * PLACES;
    if (word === startWord) continue;
    if (from + i - start > 1) groups.push(start, from + i, alike + WORD_BYTES);
    start = from + i;
    startWord = word;
  }
  if (to - start > 1) groups.push(start, to, alike + WORD_BYTES);
}

/** In how many bytes the keys are alike, and whether one of them ends there. */
function alikeIn(from: number, to: number, known: number): { alike: number; ends: boolean } {
  const first = starts[order[from]!]!;
  let alike = Number.POSITIVE_INFINITY;
  let shortest = Number.POSITIVE_INFINITY;
  for (let i = from; i < to; i++) {
    const key = order[i]!;
    const start = starts[key]!;
    const length = starts[key + 1]! - start;
    if (length < shortest) shortest = length;
    if (alike > shortest) alike = shortest;
    let at = Math.min(known, alike);
    while (at < alike && bytes[start + at] === bytes[first + at]) at++;
    alike = at;
  }
  return { alike, ends: alike >= shortest };
}

/** Beyond the key's end, zeros. */
function wordAt(key: number, at: number): number {
  const start = starts[key]! + at;
  const missing = WORD_BYTES - (starts[key + 1]! - start);
  const word = view.getUint32(start);
  return missing <= 0 ? word : ((word >>> (8 * missing)) << (8 * missing)) >>> 0;
}
