/** Kernels on the bytes of texts give what the tests of the texts themselves give. */
import t, { type Test } from "tap";
import type { Kernel } from "../../src/query/exec/segments/kernel.js";
import { type TextColumn, textsOf } from "../../src/query/exec/segments/text-column.js";
import {
  compareBytesOf,
  complementOf,
  containing,
  equalTo,
  likeKernel,
  oneOf,
} from "../../src/query/exec/segments/text-kernels.js";
import { likeMatcher, likeParts } from "../../src/query/expr/functions/like.js";
import { compareText } from "../../src/values/compare-text.js";
import { tries } from "../lengths.js";
import { Random } from "./random-plans.js";

const ASCII = ["a", "b", "ab", "ba", "A", "B", "aab", "%", "_"];
const OTHERS = ["é", "É", "😀", "漢", "\u{1F601}"];

function textOf(random: Random, isAscii: boolean, partsMax: number): string {
  const parts = isAscii ? ASCII : [...ASCII, ...OTHERS];
  return Array.from({ length: random.below(partsMax) }, () => parts[random.below(parts.length)]!).join("");
}

function patternOf(random: Random, isAscii: boolean): string {
  const part = () => ["%", "_", "\\%", "\\_", textOf(random, isAscii, 3)][random.below(5)]!;
  return Array.from({ length: random.below(6) }, part).join("");
}

/** Rows that the kernel passes: of a range, of a few, and of the few in place. */
function check(
  t: Test,
  random: Random,
  kernel: Kernel,
  values: readonly (string | null)[],
  test: (text: string) => boolean,
  what: string,
) {
  const passes = (row: number) => values[row] !== null && test(values[row]!);
  for (let round = 0; round < 3; round++) {
    const from = random.below(values.length);
    const count = 1 + random.below(values.length - from);
    const out = new Int32Array(values.length);
    const range = Array.from({ length: count }, (_, i) => from + i);
    t.strictSame([...out.subarray(0, kernel(null, from, count, out))], range.filter(passes), `${what}, a range`);
    const every = 1 + random.below(12);
    const rows = Int32Array.from(range.filter((_, i) => i % every === 0));
    const some = [...rows].filter(passes);
    t.strictSame([...rows.subarray(0, kernel(rows, 0, rows.length, rows))], some, `${what}, some of it`);
  }
}

t.test("texts", async (t) => {
  const random = new Random(3);
  for (let round = 0; round < tries(60); round++) {
    const isAscii = random.below(2) === 0;
    const values = Array.from({ length: 1 + random.below(120) }, () =>
      random.below(9) === 0 ? null : textOf(random, isAscii, 8),
    );
    const column = textsOf(values, values.length) as TextColumn;
    for (let i = 0; i < 8; i++) {
      const pattern = patternOf(random, isAscii);
      const parts = likeParts(pattern)!;
      const matches = likeMatcher(pattern, false);
      check(t, random, likeKernel(column, parts, false), values, matches, `LIKE '${pattern}'`);
      const refused = complementOf(column, likeKernel(column, parts, false));
      check(t, random, refused, values, (text) => !matches(text), `NOT LIKE '${pattern}'`);
      if (!column.isAscii) continue;
      const lower = likeParts(pattern.toLowerCase())!;
      check(t, random, likeKernel(column, lower, true), values, likeMatcher(pattern, true), `ILIKE '${pattern}'`);
    }
    const text = `${textOf(random, isAscii, 3)}a`;
    const bytes = Buffer.from(text);
    check(t, random, containing(column, bytes, false), values, (value) => value.includes(text), `has ${text}`);
    if (column.isAscii) {
      const low = text.toLowerCase();
      const has = (value: string) => value.toLowerCase().includes(low);
      check(t, random, containing(column, Buffer.from(low), true), values, has, `has ${low} in any case`);
    }
    check(t, random, equalTo(column, bytes), values, (value) => value === text, `= ${text}`);
    const items = Array.from({ length: random.below(9) }, () => textOf(random, isAscii, 4));
    const isListed = (value: string) => items.includes(value);
    check(
      t,
      random,
      oneOf(
        column,
        items.map((item) => Buffer.from(item)),
      ),
      values,
      isListed,
      `IN ${items.join()}`,
    );
    const below = (value: string) => compareText(value, text) < 0;
    check(
      t,
      random,
      compareBytesOf(column, bytes, (order) => order < 0),
      values,
      below,
      `< ${text}`,
    );
  }
});

t.test("a pattern that ends with an escape character has no parts", async (t) => {
  t.equal(likeParts("a\\"), null);
  t.strictSame(likeParts("%%a\\_b_%"), ["any", { text: "a_b" }, "one", "any"]);
});
