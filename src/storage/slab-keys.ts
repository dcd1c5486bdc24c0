/** The keys of a load's writes (load-run.ts) as what sorts them (sort-keys.ts) asks for them. */
import type { Memory } from "./copy-bytes.js";
import { BLOCK_BITS, KEY_LENGTH, placeOf, START } from "./packed-run.js";
import { COMPARED_BYTES, type Compared, type SortedKeys, wordAt } from "./sort-keys.js";

/**
 * @param blocks of each write: its slab, where its key begins, the key's length (packed-run.ts).
 * @param compare two writes by their numbers.
 */
export function keysInSlabs(
  slabs: readonly Memory[],
  blocks: readonly Int32Array[],
  compare: SortedKeys["compare"],
): SortedKeys {
  return {
    length: (number) => blocks[number >>> BLOCK_BITS]![placeOf(number) + KEY_LENGTH]!,
    compareToFirst: (numbers, from, to, known, found) => compareToFirst(slabs, blocks, numbers, from, to, known, found),
    words: (numbers, from, to, places, words) => {
      for (let i = from; i < to; i++) {
        const number = numbers[i]!;
        const block = blocks[number >>> BLOCK_BITS]!;
        const at = placeOf(number);
        words[i] = wordAt(slabs[block[at]!]!, block[at + START]!, block[at + KEY_LENGTH]!, places);
      }
    },
    compare,
    copy: (number, from, to, place) => {
      const block = blocks[number >>> BLOCK_BITS]!;
      const at = placeOf(number);
      const slab = slabs[block[at]!]!.bytes;
      const start = block[at + START]!;
      const end = start + block[at + KEY_LENGTH]!;
      for (let i = start + from, next = place; i < end; i++, next++) to[next] = slab[i]!;
      return end - start - from;
    },
  };
}

function compareToFirst(
  slabs: readonly Memory[],
  blocks: readonly Int32Array[],
  numbers: Int32Array,
  from: number,
  to: number,
  known: number,
  found: Compared,
): void {
  const { differing } = found;
  const firstBlock = blocks[numbers[0]! >>> BLOCK_BITS]!;
  const firstAt = placeOf(numbers[0]!);
  const first = slabs[firstBlock[firstAt]!]!;
  const firstStart = firstBlock[firstAt + START]!;
  const firstLength = Math.min(firstBlock[firstAt + KEY_LENGTH]!, known + COMPARED_BYTES);
  let { shortest, longest } = found;
  for (let i = from; i < to; i++) {
    const number = numbers[i]!;
    const block = blocks[number >>> BLOCK_BITS]!;
    const place = placeOf(number);
    const { bytes, view } = slabs[block[place]!]!;
    const start = block[place + START]!;
    const length = block[place + KEY_LENGTH]!;
    if (length < shortest) shortest = length;
    if (length > longest) longest = length;
    const end = Math.min(length, firstLength);
    let at = known;
    let word = 0;
    for (; at + 4 <= end; at += 4)
      differing[word++]! |= view.getInt32(start + at) ^ first.view.getInt32(firstStart + at);
    for (let shift = 24; at < end; at++, shift -= 8) {
      differing[word]! |= (bytes[start + at]! ^ first.bytes[firstStart + at]!) << shift;
    }
  }
  found.shortest = shortest;
  found.longest = longest;
}
