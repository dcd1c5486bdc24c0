/**
 * Sorts keys by words of theirs that lie side by side in typed arrays, the most significant digit first: a digit of
 * eight bits parts many keys into ranges that the processor's caches hold (McIlroy, Bostic and McIlroy, Engineering
 * Radix Sort), and a range is sorted by the digits of one word, the least significant first. Keys that have a word in
 * common are sorted by their next one. All of it is stable. Used by sort-keys.ts.
 */

/** What is sorted together: the words of each key, the first word first, and its number. */
export interface WordsOfKeys {
  readonly words: readonly Uint32Array[];
  readonly numbers: Int32Array;
}

/** Keys that are sorted at once, in the processor's second cache. */
const NEAR = 8192;
/** Fewer are compared. */
const COMPARED = 24;
const DIGIT_BITS = 8;
const DIGITS = 2 ** DIGIT_BITS;
const WORD_BITS = 32;
/** Keys handled between two looks at the clock. */
const KEYS_PER_LOOK = 8192;

/** Keys whose words before `word` are the same. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly word: number;
}

/** In steps (in-steps.ts). */
export function* sortWords(keys: WordsOfKeys): Generator<undefined, void> {
  const { words, numbers } = keys;
  const { length } = numbers;
  let spare: WordsOfKeys | null = null;
  const ranges: Range[] = [{ from: 0, to: length, word: 0 }];
  let sorted = 0;
  for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
    if (range.to - range.from <= NEAR) {
      sortNearWords(keys, range.from, range.to, range.word);
      sorted += range.to - range.from;
      if (sorted < KEYS_PER_LOOK) continue;
      sorted = 0;
      yield;
      continue;
    }
    spare ??= { words: words.map(() => new Uint32Array(length)), numbers: new Int32Array(length) };
    yield* partInDigits(keys, spare, range, ranges);
  }
}

/** By the highest bits of the word in which keys differ. */
function* partInDigits(
  keys: WordsOfKeys,
  spare: WordsOfKeys,
  { from, to, word }: Range,
  ranges: Range[],
): Generator<undefined, void> {
  const values = keys.words[word]!;
  let differing = 0;
  for (let at = from; at < to; at += KEYS_PER_LOOK) {
    differing |= differingBits(values, values[from]!, at, Math.min(at + KEYS_PER_LOOK, to));
    yield;
  }
  if (differing === 0) {
    if (word + 1 < keys.words.length) ranges.push({ from, to, word: word + 1 });
    return;
  }
  const shift = Math.max(0, WORD_BITS - Math.clz32(differing) - DIGIT_BITS);
  const starts = new Int32Array(DIGITS);
  for (let at = from; at < to; at += KEYS_PER_LOOK) {
    countDigits(values, shift, at, Math.min(at + KEYS_PER_LOOK, to), starts);
    yield;
  }
  let start = from;
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = starts[digit]!;
    starts[digit] = start;
    if (count > 1) ranges.push({ from: start, to: start + count, word });
    start += count;
  }
  for (let at = from; at < to; at += KEYS_PER_LOOK) {
    scatter(keys, word, shift, at, Math.min(at + KEYS_PER_LOOK, to), starts, spare);
    yield;
  }
  for (let at = from; at < to; at += KEYS_PER_LOOK) {
    copyBack(keys, spare, at, Math.min(at + KEYS_PER_LOOK, to));
    yield;
  }
}

// The loops are functions of their own: V8 makes slower code of loops that a generator pauses in.

function differingBits(values: Uint32Array, first: number, from: number, to: number): number {
  let bits = 0;
  for (let i = from; i < to; i++) bits |= values[i]! ^ first;
  return bits;
}

function countDigits(values: Uint32Array, shift: number, from: number, to: number, counts: Int32Array): void {
  for (let i = from; i < to; i++) counts[(values[i]! >>> shift) & (DIGITS - 1)]!++;
}

function scatter(
  { words, numbers }: WordsOfKeys,
  word: number,
  shift: number,
  from: number,
  to: number,
  starts: Int32Array,
  target: WordsOfKeys,
): void {
  const [first, second, third] = words as [Uint32Array, Uint32Array, Uint32Array];
  const [toFirst, toSecond, toThird] = target.words as [Uint32Array, Uint32Array, Uint32Array];
  const toNumbers = target.numbers;
  const values = words[word]!;
  for (let i = from; i < to; i++) {
    const at = starts[(values[i]! >>> shift) & (DIGITS - 1)]!++;
    toFirst[at] = first[i]!;
    toSecond[at] = second[i]!;
    toThird[at] = third[i]!;
    toNumbers[at] = numbers[i]!;
  }
}

function copyBack({ words, numbers }: WordsOfKeys, spare: WordsOfKeys, from: number, to: number): void {
  for (let w = 0; w < words.length; w++) words[w]!.set(spare.words[w]!.subarray(from, to), from);
  numbers.set(spare.numbers.subarray(from, to), from);
}

/** Of a range that is being sorted: which of its keys comes next. */
let order = new Uint16Array(NEAR);
let next = new Uint16Array(NEAR);
const counts = new Int32Array(DIGITS);
const copied = new Uint32Array(NEAR);

/** At once. */
function sortNearWords(keys: WordsOfKeys, from: number, to: number, word: number): void {
  if (to - from <= COMPARED) {
    insert(keys, from, to, word);
    return;
  }
  const values = keys.words[word]!;
  if (orderByWord(values, from, to)) {
    for (const one of keys.words) reorder(one, from, to);
    reorder(keys.numbers, from, to);
  }
  if (word + 1 === keys.words.length) return;
  for (let start = from; start < to; ) {
    let end = start + 1;
    while (end < to && values[end] === values[start]) end++;
    if (end - start > 1) sortNearWords(keys, start, end, word + 1);
    start = end;
  }
}

/** False: they are in order. */
function orderByWord(values: Uint32Array, from: number, to: number): boolean {
  const length = to - from;
  let differing = 0;
  let isInOrder = true;
  for (let i = from + 1; i < to; i++) {
    differing |= values[i]! ^ values[from]!;
    if (values[i]! < values[i - 1]!) isInOrder = false;
  }
  if (isInOrder) return false;
  for (let i = 0; i < length; i++) order[i] = i;
  for (let shift = 0; shift < WORD_BITS; shift += DIGIT_BITS) {
    if (((differing >>> shift) & (DIGITS - 1)) === 0) continue;
    orderByDigit(values, from, length, shift);
  }
  return true;
}

function orderByDigit(values: Uint32Array, from: number, length: number, shift: number): void {
  counts.fill(0);
  for (let i = 0; i < length; i++) counts[(values[from + i]! >>> shift) & (DIGITS - 1)]!++;
  startsOf(counts);
  for (let i = 0; i < length; i++) {
    const key = order[i]!;
    next[counts[(values[from + key]! >>> shift) & (DIGITS - 1)]!++] = key;
  }
  [order, next] = [next, order];
}

function reorder(values: Uint32Array | Int32Array, from: number, to: number): void {
  const length = to - from;
  for (let i = 0; i < length; i++) copied[i] = values[from + i]!;
  for (let i = 0; i < length; i++) values[from + i] = copied[order[i]!]!;
}

/** By insertion. */
function insert({ words, numbers }: WordsOfKeys, from: number, to: number, word: number): void {
  const [first, second, third] = words as [Uint32Array, Uint32Array, Uint32Array];
  for (let i = from + 1; i < to; i++) {
    const [one, two, three, number] = [first[i]!, second[i]!, third[i]!, numbers[i]!];
    let at = i;
    for (; at > from; at--) {
      const before = at - 1;
      if (word === 0 && first[before]! !== one) {
        if (first[before]! < one) break;
      } else if (word <= 1 && second[before]! !== two) {
        if (second[before]! < two) break;
      } else if (third[before]! <= three) break;
      first[at] = first[before]!;
      second[at] = second[before]!;
      third[at] = third[before]!;
      numbers[at] = numbers[before]!;
    }
    first[at] = one;
    second[at] = two;
    third[at] = three;
    numbers[at] = number;
  }
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
