/**
 * Sorts byte strings by their numbers, for loads of many writes. The first twelve bytes in which keys differ go into
 * typed arrays, and these are sorted by radix (sort-words.ts): bytes that all keys have in common are left out, as the
 * upper bytes of integers. Keys that are alike so far are sorted again by what follows; where they are not too many, in
 * memory of their own (near-keys.ts).
 */
import type { Memory } from "./copy-bytes.js";
import { type CopiedKeys, NEAR_MAX, sortNear } from "./near-keys.js";
import { sortWords } from "./sort-words.js";

/** Bytes of keys that are compared with those of the first key at a time. */
export const COMPARED_BYTES = 64;

/** Of keys that were looked at. */
export interface Compared {
  /** Bits in which any key differs from the first one, in words of four bytes, each as far as both keys go. */
  readonly differing: Int32Array;
  shortest: number;
  longest: number;
}

/** How the sort reads keys. */
export interface SortedKeys extends CopiedKeys {
  /**
   * Compares COMPARED_BYTES from `known` on of the keys numbers[from], …, numbers[to − 1] with those of numbers[0].
   */
  compareToFirst(numbers: Int32Array, from: number, to: number, known: number, found: Compared): void;
  /**
   * The `wordOf` of the bytes at four places of the keys numbers[from], …, numbers[to − 1], into the same places of
   * `words`.
   */
  words(numbers: Int32Array, from: number, to: number, places: readonly number[], words: Uint32Array): void;
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
  // What remains to be sorted, with the number of bytes at its keys' begin in which all of them are alike.
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
    const places = yield* differingIn(numbers, group.alike, keys);
    if (places === null) continue;
    const words = yield* sortByWords(numbers, places, keys);
    const alike = places.at(-1)! + 1;
    yield* findAlike(words, (first, last) => groups.push({ from: from + first, to: from + last, alike }));
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

/** The same of the bytes at four places, which ascend, of a key that begins at `start` and has `length` bytes. */
export function wordAt(memory: Memory, start: number, length: number, places: readonly number[]): number {
  const [a, b, c, d] = places as [number, number, number, number];
  if (d - a === WORD_BYTES - 1) return wordOf(memory, start + a, length - a);
  const { bytes } = memory;
  const byte = (place: number) => (place < length ? bytes[start + place]! : 0);
  return ((byte(a) << 24) | (byte(b) << 16) | (byte(c) << 8) | byte(d)) >>> 0;
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

/**
 * The first places from `known` on at which keys differ, as many as the words have bytes; some behind them, if they
 * are too few. Null: the keys are the same, or have been sorted here because some have ended.
 */
function* differingIn(
  numbers: Int32Array,
  known: number,
  keys: SortedKeys,
): Generator<undefined, readonly number[] | null> {
  const differing = new Int32Array(COMPARED_BYTES / WORD_BYTES);
  for (let begin = known; ; begin += COMPARED_BYTES) {
    const found: Compared = { differing, shortest: Number.POSITIVE_INFINITY, longest: 0 };
    for (let from = 0; from < numbers.length; from += KEYS_PER_LOOK) {
      keys.compareToFirst(numbers, from, Math.min(from + KEYS_PER_LOOK, numbers.length), begin, found);
      yield;
    }
    const { shortest, longest } = found;
    const end = Math.min(begin + COMPARED_BYTES, shortest);
    const places: number[] = [];
    for (let place = begin; place < end && places.length < WORDS * WORD_BYTES; place++) {
      if (isDiffering(differing, place - begin)) places.push(place);
    }
    if (places.length > 0) {
      // What is at these is not known of all keys, or makes no difference.
      for (let place = end; places.length < WORDS * WORD_BYTES; place++) places.push(place);
      return places;
    }
    if (end < shortest) continue;
    // Zeros in place of bytes that are not there would hide which key is shorter.
    if (shortest < longest) numbers.set(Array.from(numbers).sort(keys.compare));
    return null;
  }
}

function isDiffering(words: Int32Array, byte: number): boolean {
  return ((words[byte >>> 2]! >>> (8 * (WORD_BYTES - 1 - (byte & 3)))) & 0xff) !== 0;
}

/** Sorts the numbers by the bytes of their keys at twelve places; answers those bytes as words, in that order. */
function* sortByWords(
  numbers: Int32Array,
  places: readonly number[],
  keys: SortedKeys,
): Generator<undefined, readonly Uint32Array[]> {
  const { length } = numbers;
  const words = Array.from({ length: WORDS }, () => new Uint32Array(length));
  for (let w = 0; w < WORDS; w++) {
    const some = places.slice(w * WORD_BYTES, (w + 1) * WORD_BYTES);
    for (let from = 0; from < length; from += KEYS_PER_LOOK) {
      keys.words(numbers, from, Math.min(from + KEYS_PER_LOOK, length), some, words[w]!);
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
