/** Arrays that grow in blocks hold what was written to them, whenever they are put together. */
import t from "tap";
import { GrowingArray } from "../../src/query/exec/segments/growing-array.js";
import { Random } from "./random-plans.js";

t.test("random pieces, put together at once, in steps and again while more come", (t) => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = new Random(seed * 7919);
    let array: GrowingArray<Int32Array> | GrowingArray<Float64Array> = new GrowingArray(Int32Array);
    let expected: number[] = [];
    for (let i = 0; i < 150; i++) {
      const count = [1, 7, 4096, 70_000][random.below(seed % 3 === 0 ? 4 : 3)]!;
      const room = array.room(count);
      for (let row = 0; row < count; row++) {
        room[row] = expected.length * 3 - seed;
        expected.push(room[row]!);
      }
      if (random.below(60) === 0) {
        while (!array.settle());
        if (!isSame(array.all(), expected)) t.fail(`seed ${seed}, piece ${i}`);
      }
      if (seed % 4 === 0 && i === 75) array = array.as(Float64Array);
      if (seed % 5 === 0 && i === 90) {
        array.restart();
        expected = [];
      }
    }
    t.ok(isSame(array.all(), expected), `seed ${seed}: ${expected.length} rows`);
  }
  t.end();
});

t.test("no step copies more than a block", (t) => {
  const array = new GrowingArray(Float64Array);
  for (let i = 0; i < 100; i++) array.room(4096).fill(i);
  let steps = 1;
  t.notOk(array.settle());
  t.throws(() => array.room(1), /put together/, "no rows between two steps");
  while (!array.settle()) steps++;
  t.ok(steps >= 4, `${steps} steps for 409,600 rows`);
  t.equal(array.all()[409_599], 99);
  t.ok(array.settle());
  t.end();
});

function isSame(array: ArrayLike<number>, expected: readonly number[]): boolean {
  return array.length === expected.length && expected.every((value, i) => array[i] === value);
}
