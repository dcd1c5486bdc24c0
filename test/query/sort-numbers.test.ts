/** Sorting rows by numbers: the order is that of keys (storage/key-codec.ts), whatever the numbers. */
import t from "tap";
import { type NumbersByRow, sortByNumbers } from "../../src/query/exec/sort-numbers.js";
import { encodeKey, type KeyColumn } from "../../src/storage/key-codec.js";
import { FLOAT8, INT4 } from "../../src/values/values.js";
import { Random } from "./random-plans.js";

const SPECIAL = [
  0,
  -0,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1e-320,
  -1e300,
  2 ** 53,
  -1.5,
  3,
];
const NONE = new Uint8Array(0);

t.test("rows come in the order of their keys, equal ones in their own", async (t) => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const rows = random.below(400);
    const columns = Array.from({ length: 1 + random.below(3) }, () => {
      const isInteger = random.below(2) === 0;
      const numbers = isInteger ? new Int32Array(rows) : new Float64Array(rows);
      const range = [3, 5000, 2 ** 31][random.below(3)]!;
      for (let i = 0; i < rows; i++) {
        const special = !isInteger && random.below(4) === 0;
        numbers[i] = special ? SPECIAL[random.below(SPECIAL.length)]! : random.below(range) - Math.floor(range / 2);
      }
      const nulls = random.below(2) === 0 ? null : Uint8Array.from(numbers, () => Number(random.below(5) === 0));
      const order = { descending: random.below(2) === 0, nullsFirst: random.below(2) === 0 };
      return { numbers, nulls, type: isInteger ? INT4 : FLOAT8, ...order } satisfies NumbersByRow & KeyColumn;
    });
    const keys = Array.from({ length: rows }, (_, row) =>
      encodeKey(
        NONE,
        columns,
        columns.map(({ numbers, nulls }) => (nulls?.[row] === 1 ? null : numbers[row]!)),
      ),
    );
    const expected = keys.map((_, row) => row).sort((a, b) => Buffer.compare(keys[a]!, keys[b]!) || a - b);
    t.same([...sortByNumbers(rows, columns, () => false)!], expected, `seed ${seed}`);
  }
});

t.test("it stops when it is told to", async (t) => {
  const column = { numbers: Int32Array.of(2, 1), nulls: null, descending: false, nullsFirst: false };
  t.equal(
    sortByNumbers(2, [column], () => true),
    null,
  );
});
