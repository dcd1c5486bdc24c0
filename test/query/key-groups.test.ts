/** Groups by keys in typed arrays: the same numbers as a Map gives, while the table grows bit by bit. */
import { isDeepStrictEqual } from "node:util";
import t from "tap";
import { KeyGroups } from "../../src/query/exec/key-groups.js";
import { chunkOfColumns } from "../../src/query/exec/segments/chunk.js";
import { columnOf, valuesOf } from "../../src/query/exec/segments/column.js";
import { BOOL, INT8, type SqlType, TEXT, UUID, type Value } from "../../src/values/values.js";
import { Random } from "./random-plans.js";

/** An index of the numbers below 700,000 fits into its share. */
const MEMORY = 256 * 1024 * 1024;
const BATCH = 1_500;

function keyOf(random: Random, { name }: SqlType, distinct: number): Value {
  if (random.below(20) === 0) return null;
  const number = random.below(distinct);
  if (name === "int8") return number * 7 - 100;
  if (name === "bool") return number % 2 === 0;
  // Prefixes of each other, the empty text, characters of several bytes, and a few that are longer than a page.
  if (number === 1 && distinct > 100) return "x".repeat(300_000);
  if (number % 11 === 0) return `é😀${number}`;
  return "a common part ".repeat(number % 4) + "y".repeat(number % 7) + (number % 5 === 0 ? "" : number);
}

t.test("the same groups as a Map has", async (t) => {
  const random = new Random(7);
  for (const [types, distinct, batches] of [
    [[INT8], 2_000, 20],
    [[INT8], 100_000, 120],
    [[INT8], 1e9, 20],
    [[INT8, INT8], 10, 20],
    [[INT8, INT8], 3_000, 40],
    [[INT8, INT8], 1e9, 60],
    [[TEXT], 40, 20],
    [[TEXT], 1e6, 40],
    [[TEXT, BOOL, INT8], 30, 20],
    [[UUID, TEXT], 2_000, 20],
  ] as const) {
    const groups = new KeyGroups(types, MEMORY);
    const expected = new Map<string, number>();
    const made: Value[][] = [];
    let isSame = true;
    for (let batch = 0; batch < batches; batch++) {
      const keys = types.map((type) => Array.from({ length: BATCH }, () => keyOf(random, type, distinct)));
      const out = new Int32Array(BATCH);
      const vectors = keys.map((values, k) => columnOf(types[k]!, values, BATCH));
      const isLoaded =
        batch % 3 === 0
          ? groups.load(keys, BATCH)
          : groups.loadChunk(
              chunkOfColumns(vectors, BATCH),
              types.map((_, k) => k),
            );
      t.ok(isLoaded, "all have a place");
      groups.assign(BATCH, out);
      for (const row of groups.made.subarray(0, groups.madeCount)) made.push(keys.map((values) => values[row]!));
      for (let row = 0; row < BATCH; row++) {
        const key = JSON.stringify(keys.map((values) => values[row]));
        if (!expected.has(key)) expected.set(key, expected.size);
        if (out[row] !== expected.get(key) || groups.find(row) !== out[row]) isSame = false;
        if (keys.some((values, k) => groups.isNull(k, row) !== (values[row] === null))) isSame = false;
      }
    }
    t.ok(isSame, `${expected.size} groups by ${types.map(({ name }) => name).join()}`);
    t.equal(made.length, expected.size, "each is made once");
    t.equal(groups.count, expected.size);
    types.forEach((_, k) => {
      const values = made.map((key) => key[k]);
      // As t.strictSame, which takes long for so many.
      t.ok(isDeepStrictEqual(groups.valuesOf(k, 0, made.length), values), "and knows its keys");
      const column = groups.columnOf(k, 3, made.length);
      const held = Array.from(valuesOf(column, null, 0, made.length - 3, []));
      t.ok(isDeepStrictEqual(held, values.slice(3)), "as a column, too");
    });
  }
});

t.test("what has no place", async (t) => {
  t.notOk(new KeyGroups([INT8], MEMORY).load([[1, 2n ** 60n]], 2), "a bigint");
  t.notOk(new KeyGroups([TEXT], MEMORY).load([["a", "\uD83D"]], 2), "half a character");
});
