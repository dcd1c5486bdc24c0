/** Keys by their words: as a stable sort would have them, whatever the words are like and however many there are. */
import t from "tap";
import { inSteps } from "../../src/storage/in-steps.js";
import { sortWords } from "../../src/storage/sort-words.js";

const TURNS = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: async () => {} };
/** Around the bounds from which on keys are compared, sorted in a cache, or parted. */
const SIZES = [0, 1, 2, 24, 25, 300, 8192, 8193, 60_000];

const SHAPES: Readonly<Record<string, (i: number) => readonly [number, number, number]>> = {
  "all different": (i) => [Math.imul(i, 2_654_435_761) >>> 0, i, 7],
  "the first word decides little": (i) => [i % 3, Math.imul(i, 40_503) >>> 0, i >>> 2],
  "only the last word differs": (i) => [5, 0xffff_ffff, Math.imul(i, 2_654_435_761) >>> 0],
  "one key among equal ones": (i) => [i === 17 ? 0x8000_0000 : 3, i % 2, 1],
  "all the same": () => [9, 9, 9],
  descending: (i) => [(0xffff_ffff - i) >>> 0, i, i],
  "two high bits and many low ones": (i) => [((i % 2) * 0x8000_0000 + (i * 7919) / 64) >>> 0, i % 5, i % 11],
};

for (const [name, wordsOf] of Object.entries(SHAPES)) {
  t.test(name, async (t) => {
    for (const size of SIZES) {
      const keys = Array.from({ length: size }, (_, i) => ({ words: wordsOf(i), number: 3 * i + 1 }));
      const words = [0, 1, 2].map((word) => Uint32Array.from(keys, (key) => key.words[word]!));
      const numbers = Int32Array.from(keys, ({ number }) => number);
      inSteps(TURNS, sortWords({ words, numbers }));
      const expected = [...keys].sort(
        (a, b) => a.words[0] - b.words[0] || a.words[1] - b.words[1] || a.words[2] - b.words[2] || a.number - b.number,
      );
      const found = Array.from(numbers, (number, i) => ({ words: words.map((word) => word[i]!), number }));
      t.strictSame(found, expected, `${size} keys`);
    }
  });
}
