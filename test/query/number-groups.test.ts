/** Groups by keys that are numbers: the same numbers as a Map gives, while the table grows bit by bit. */
import t from "tap";
import { NumberGroups } from "../../src/query/exec/number-keys.js";
import type { Value } from "../../src/values/values.js";
import { Random } from "./random-plans.js";

const BATCH = 500;

t.test("the same groups as a Map has", async (t) => {
  const random = new Random(7);
  for (const [distinct, batches] of [
    [10, 20],
    [3_000, 40],
    [1e9, 120],
  ] as const) {
    const groups = new NumberGroups(2);
    const expected = new Map<string, number>();
    const made: Value[][] = [];
    let isSame = true;
    for (let batch = 0; batch < batches; batch++) {
      const keys: Value[][] = [0, 1].map(() =>
        Array.from({ length: BATCH }, () => (random.below(20) === 0 ? null : random.below(distinct) * 7 - 100)),
      );
      const out = new Int32Array(BATCH);
      t.ok(groups.load(keys, BATCH), "all are numbers");
      groups.assign(BATCH, out, (row) => made.push([keys[0]![row]!, keys[1]![row]!]));
      for (let row = 0; row < BATCH; row++) {
        const key = `${keys[0]![row]},${keys[1]![row]}`;
        if (!expected.has(key)) expected.set(key, expected.size);
        if (out[row] !== expected.get(key) || groups.find(row) !== out[row]) isSame = false;
      }
    }
    t.ok(isSame, `${expected.size} groups`);
    t.equal(made.length, expected.size, "each is made once");
    t.strictSame(
      [0, 1].map((k) => groups.valuesOf(k, 0, made.length)),
      [0, 1].map((k) => made.map((values) => values[k])),
      "and knows its keys",
    );
  }
});

t.test("a bigint is no number", async (t) => {
  const groups = new NumberGroups(1);
  t.notOk(groups.load([[1, 2n ** 60n]], 2));
});
