/**
 * Sorts byte strings by their numbers, for loads of many writes. Twelve bytes of each key behind what all keys have in
 * common go into typed arrays, and these are sorted by radix, least significant digit first (Knuth, The Art of
 * Computer Programming 3, §5.2.5). Keys that are alike so far are sorted again by what follows. A million keys take
 * a tenth of a second; comparisons take four times as long.
 */

/** How the sort reads keys. */
export interface SortedKeys {
  length(number: number): number;
  byte(number: number, at: number): number;
  /** Four bytes from `at` on as an unsigned number; beyond the key's end, zeros. */
  word(number: number, at: number): number;
  compare(a: number, b: number): number;
}

const WORDS = 3;
const WORD_BYTES = 4;
/** A word is sorted as digits of 11, 11 and 10 bits: their counters fit into the processor's first cache. */
const SHIFTS = [0, 11, 22] as const;
const DIGITS = 2048;
/** Fewer keys are compared. */
const COMPARED = 48;
/** Keys handled between two looks at the clock. */
const KEYS_PER_LOOK = 8192;

/** In steps (in-steps.ts): the numbers below `count` in the order of their keys, which begin with `prefix` equal bytes. */
export function* sortKeys(count: number, prefix: number, keys: SortedKeys): Generator<undefined, Int32Array> {
  const order = new Int32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  // What remains to be sorted, with the bytes in which all keys of it are alike.
  const groups = [{ from: 0, to: count, alike: prefix }];
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    const { from, to } = group;
    const numbers = order.subarray(from, to);
    if (numbers.length <= COMPARED) {
      sortCompared(numbers, keys);
      continue;
    }
    const alike = yield* alikeIn(numbers, group.alike, keys);
    if (alike === null) continue;
    const words = yield* sortByWords(numbers, alike, keys);
    yield* findAlike(words, (first, last) => {
      groups.push({ from: from + first, to: from + last, alike: alike + WORDS * WORD_BYTES });
    });
  }
  return order;
}

/** The big-endian number of four bytes of which only `length` are there. */
export function wordOf(bytes: Uint8Array, at: number, length: number): number {
  if (length >= WORD_BYTES) {
    return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
  }
  let word = 0;
  for (let i = 0; i < WORD_BYTES; i++) word = (word << 8) | (i < length ? bytes[at + i]! : 0);
  return word >>> 0;
}

/** By insertion: stable. */
function sortCompared(numbers: Int32Array, { compare }: SortedKeys): void {
  for (let i = 1; i < numbers.length; i++) {
    const number = numbers[i]!;
    let at = i;
    for (; at > 0 && compare(numbers[at - 1]!, number) > 0; at--) numbers[at] = numbers[at - 1]!;
    numbers[at] = number;
  }
}

/** In how many bytes all keys are alike; null: they are the same, or have been sorted here because some have ended. */
function* alikeIn(numbers: Int32Array, from: number, keys: SortedKeys): Generator<undefined, number | null> {
  const first = numbers[0]!;
  let shortest = keys.length(first);
  let longest = shortest;
  let alike = Number.POSITIVE_INFINITY;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!;
    const length = keys.length(number);
    if (length < shortest) shortest = length;
    else if (length > longest) longest = length;
    const end = Math.min(alike, length, keys.length(first));
    let at = from;
    while (at < end && keys.byte(number, at) === keys.byte(first, at)) at++;
    alike = at;
    if (i % KEYS_PER_LOOK === 0) yield;
  }
  if (alike < shortest) return alike;
  // Zeros in place of bytes that are not there would hide which key is shorter.
  if (shortest < longest) numbers.set(Array.from(numbers).sort(keys.compare));
  return null;
}

/** Sorts the numbers by twelve bytes of their keys; answers those bytes as words, in that order. */
function* sortByWords(
  numbers: Int32Array,
  alike: number,
  keys: SortedKeys,
): Generator<undefined, readonly Uint32Array[]> {
  const { length } = numbers;
  const words = Array.from({ length: WORDS }, () => new Uint32Array(length));
  const counts = Array.from({ length: WORDS * SHIFTS.length }, () => new Int32Array(DIGITS));
  for (let w = 0; w < WORDS; w++) {
    const word = words[w]!;
    const [low, middle, high] = counts.slice(w * SHIFTS.length) as [Int32Array, Int32Array, Int32Array];
    const at = alike + w * WORD_BYTES;
    for (let i = 0; i < length; i++) {
      const value = keys.word(numbers[i]!, at);
      word[i] = value;
      low[value & (DIGITS - 1)]!++;
      middle[(value >>> SHIFTS[1]) & (DIGITS - 1)]!++;
      high[value >>> SHIFTS[2]]!++;
      if (i % KEYS_PER_LOOK === 0) yield;
    }
  }
  // Places of the keys as they were, in the order so far.
  let places = new Int32Array(length);
  let next = new Int32Array(length);
  for (let i = 0; i < length; i++) places[i] = i;
  for (let digit = counts.length - 1; digit >= 0; digit--) {
    // Digits of the last word first, and of each word the lowest.
    const w = Math.floor(digit / SHIFTS.length);
    const d = SHIFTS.length - 1 - (digit % SHIFTS.length);
    const count = counts[w * SHIFTS.length + d]!;
    if (count.includes(length)) continue;
    startsOf(count);
    const word = words[w]!;
    const shift = SHIFTS[d]!;
    for (let i = 0; i < length; i++) {
      const place = places[i]!;
      next[count[(word[place]! >>> shift) & (DIGITS - 1)]!++] = place;
      if (i % KEYS_PER_LOOK === 0) yield;
    }
    [places, next] = [next, places];
  }
  const before = numbers.slice();
  const sorted = words.map(() => new Uint32Array(length));
  for (let i = 0; i < length; i++) {
    const place = places[i]!;
    numbers[i] = before[place]!;
    for (let w = 0; w < WORDS; w++) sorted[w]![i] = words[w]![place]!;
    if (i % KEYS_PER_LOOK === 0) yield;
  }
  return sorted;
}

/** Numbers of keys by digit become the places where those keys begin. */
function startsOf(counts: Int32Array): void {
  let start = 0;
  for (let digit = 0; digit < counts.length; digit++) {
    const count = counts[digit]!;
    counts[digit] = start;
    start += count;
  }
}

/** Reports neighbours that have the same words. */
function* findAlike(
  [first, second, third]: readonly Uint32Array[],
  found: (first: number, last: number) => void,
): Generator<undefined, void> {
  const { length } = first!;
  let start = 0;
  for (let i = 1; i <= length; i++) {
    const isAlike =
      i < length && first![i] === first![start] && second![i] === second![start] && third![i] === third![start];
    if (isAlike) continue;
    if (i - start > 1) found(start, i);
    start = i;
    if (i % KEYS_PER_LOOK === 0) yield;
  }
}
