/**
 * Sorts byte strings by their numbers, for loads of many writes. Twelve bytes of each key behind what all keys have in
 * common go into typed arrays, and these are sorted by radix (sort-words.ts). Keys that are alike so far are sorted
 * again by what follows; where they are not too many, in memory of their own (near-keys.ts).
 */
import type { Memory } from "./copy-bytes.js";
import { type CopiedKeys, NEAR_MAX, sortNear } from "./near-keys.js";
import { sortWords } from "./sort-words.js";

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
  for (let w = 0; w < WORDS; w++) {
    for (let from = 0; from < length; from += KEYS_PER_LOOK) {
      keys.words(numbers, from, Math.min(from + KEYS_PER_LOOK, length), alike + w * WORD_BYTES, words[w]!);
      yield;
    }
  }
  yield* sortWords({ words, numbers });
  return words;
}

/** A function of its own: V8 makes slower code of loops that a generator pauses in. */
function countUp(numbers: Int32Array, from: number): void {
  const to = Math.min(from + NUMBERS_PER_LOOK, numbers.length);
  for (let i = from; i < to; i++) numbers[i] = i;
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
