/**
 * Sorts byte strings by their numbers, for loads of many writes. Twelve bytes of each key behind what all keys have in
 * common go into typed arrays, and these are sorted by radix, least significant digit first (Knuth, The Art of
 * Computer Programming 3, §5.2.5). Keys that are alike so far are sorted again by what follows; where they are not too
 * many, in memory of their own (near-keys.ts). A million keys take a tenth of a second; comparisons take four times as
 * long.
 */
import type { Memory } from "./copy-bytes.js";
import { type CopiedKeys, NEAR_MAX, sortNear } from "./near-keys.js";

/** Of keys that were looked at. */
export interface Alike {
  /** In how many bytes all of them are alike. */
  alike: number;
  shortest: number;
  longest: number;
}

/** How the sort reads keys. */
export interface SortedKeys extends CopiedKeys {
  /**
   * Looks at the keys numbers[from], …, numbers[to − 1], which have `known` bytes in common with that of numbers[0].
   */
  compareToFirst(numbers: Int32Array, from: number, to: number, known: number, found: Alike): void;
  /**
   * The `wordOf` of the bytes from `at` on of the keys numbers[from], …, numbers[to − 1], into the same places of
   * `words`.
   */
  words(numbers: Int32Array, from: number, to: number, at: number, words: Uint32Array): void;
  compare(a: number, b: number): number;
}

const WORDS = 3;
const WORD_BYTES = 4;
/** A word is sorted as digits of 11, 11 and 10 bits: their counters fit into the processor's first cache. */
const SHIFTS = [0, 11, 22] as const;
const DIGITS = 2048;
/** Fewer keys are compared. */
const COMPARED = 16;
/** Keys handled between two looks at the clock. */
const KEYS_PER_LOOK = 8192;
const COMPARED_PER_LOOK = 1024;
/** Keys that were sorted in memory of their own. */
const NEAR_PER_LOOK = 4096;
/** The same where they are only written. */
const NUMBERS_PER_LOOK = 262_144;

/**
 * In steps (in-steps.ts): the numbers below `count` in the order of their keys, which begin with `prefix` equal bytes.
 */
export function* sortKeys(count: number, prefix: number, keys: SortedKeys): Generator<undefined, Int32Array> {
  const order = new Int32Array(count);
  for (let from = 0; from < count; from += NUMBERS_PER_LOOK) {
    countUp(order, from);
    yield;
  }
  let compared = 0;
  let near = 0;
  // What remains to be sorted, with the bytes in which all keys of it are alike.
  const groups = [{ from: 0, to: count, alike: prefix }];
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    const { from, to } = group;
    const numbers = order.subarray(from, to);
    if (numbers.length <= COMPARED) {
      sortCompared(numbers, keys);
      compared += numbers.length;
      if (compared < COMPARED_PER_LOOK) continue;
      compared = 0;
      yield;
      continue;
    }
    if (numbers.length <= NEAR_MAX && sortNear(numbers, group.alike, keys)) {
      near += numbers.length;
      if (near < NEAR_PER_LOOK) continue;
      near = 0;
      yield;
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

/** The big-endian number of four bytes of a key that ends after `length` bytes; beyond its end, zeros. */
export function wordOf({ bytes, view }: Memory, at: number, length: number): number {
  if (length >= WORD_BYTES) return view.getUint32(at);
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
function* alikeIn(numbers: Int32Array, known: number, keys: SortedKeys): Generator<undefined, number | null> {
  const found: Alike = { alike: Number.POSITIVE_INFINITY, shortest: Number.POSITIVE_INFINITY, longest: 0 };
  for (let from = 0; from < numbers.length; from += KEYS_PER_LOOK) {
    keys.compareToFirst(numbers, from, Math.min(from + KEYS_PER_LOOK, numbers.length), known, found);
    yield;
  }
  if (found.alike < found.shortest) return found.alike;
  // Zeros in place of bytes that are not there would hide which key is shorter.
  if (found.shortest < found.longest) numbers.set(Array.from(numbers).sort(keys.compare));
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
    const digits = counts.slice(w * SHIFTS.length, (w + 1) * SHIFTS.length);
    for (let from = 0; from < length; from += KEYS_PER_LOOK) {
      readWords(numbers, from, alike + w * WORD_BYTES, keys, words[w]!, digits);
      yield;
    }
  }
  // Places of the keys as they were, in the order so far.
  let places = new Int32Array(length);
  let next = new Int32Array(length);
  for (let from = 0; from < length; from += NUMBERS_PER_LOOK) {
    countUp(places, from);
    yield;
  }
  // Digits of the last word first, and of each word the lowest.
  for (let w = WORDS - 1; w >= 0; w--) {
    for (let d = 0; d < SHIFTS.length; d++) {
      const count = counts[w * SHIFTS.length + d]!;
      if (count.includes(length)) continue;
      startsOf(count);
      for (let from = 0; from < length; from += KEYS_PER_LOOK) {
        scatter(places, from, words[w]!, SHIFTS[d]!, count, next);
        yield;
      }
      [places, next] = [next, places];
    }
  }
  const before = new Int32Array(length);
  for (let from = 0; from < length; from += NUMBERS_PER_LOOK) {
    before.set(numbers.subarray(from, from + NUMBERS_PER_LOOK), from);
    yield;
  }
  const sorted = words.map(() => new Uint32Array(length));
  for (let from = 0; from < length; from += KEYS_PER_LOOK) {
    const to = Math.min(from + KEYS_PER_LOOK, length);
    for (let w = 0; w < WORDS; w++) gather(words[w]!, places, from, to, sorted[w]!);
    gather(before, places, from, to, numbers);
    yield;
  }
  return sorted;
}

// The loops are functions of their own: V8 makes slower code of loops that a generator pauses in.

/** A word of each of some keys, and how often its digits are there. */
function readWords(
  numbers: Int32Array,
  from: number,
  at: number,
  keys: SortedKeys,
  word: Uint32Array,
  digits: readonly Int32Array[],
): void {
  const [low, middle, high] = digits as [Int32Array, Int32Array, Int32Array];
  const to = Math.min(from + KEYS_PER_LOOK, numbers.length);
  keys.words(numbers, from, to, at, word);
  for (let i = from; i < to; i++) {
    const value = word[i]!;
    low[value & (DIGITS - 1)]!++;
    middle[(value >>> SHIFTS[1]) & (DIGITS - 1)]!++;
    high[value >>> SHIFTS[2]]!++;
  }
}

function countUp(numbers: Int32Array, from: number): void {
  const to = Math.min(from + NUMBERS_PER_LOOK, numbers.length);
  for (let i = from; i < to; i++) numbers[i] = i;
}

/** Puts some places where their digits belong. */
function scatter(
  places: Int32Array,
  from: number,
  word: Uint32Array,
  shift: number,
  starts: Int32Array,
  next: Int32Array,
): void {
  const to = Math.min(from + KEYS_PER_LOOK, places.length);
  for (let i = from; i < to; i++) {
    const place = places[i]!;
    next[starts[(word[place]! >>> shift) & (DIGITS - 1)]!++] = place;
  }
}

function gather(
  values: Uint32Array | Int32Array,
  places: Int32Array,
  from: number,
  to: number,
  out: Uint32Array | Int32Array,
): void {
  for (let i = from; i < to; i++) out[i] = values[places[i]!]!;
}

/** Numbers of keys or rows by digit become the places where those begin. */
export function startsOf(counts: Int32Array): void {
  let start = 0;
  for (let digit = 0; digit < counts.length; digit++) {
    const count = counts[digit]!;
    counts[digit] = start;
    start += count;
  }
}

/** Reports neighbours that have the same words. */
function* findAlike(words: readonly Uint32Array[], found: (first: number, last: number) => void) {
  const { length } = words[0]!;
  let start = 0;
  while (start < length) {
    for (let looked = 0; looked < KEYS_PER_LOOK && start < length; ) {
      const end = endOfAlike(words, start);
      if (end - start > 1) found(start, end);
      looked += end - start;
      start = end;
    }
    yield;
  }
}

function endOfAlike([first, second, third]: readonly Uint32Array[], start: number): number {
  let i = start + 1;
  while (
    i < first!.length &&
    first![i] === first![start] &&
    second![i] === second![start] &&
    third![i] === third![start]
  ) {
    i++;
  }
  return i;
}
