/** Sorting rows by numbers: the order is that of keys (storage/key-codec.ts), whatever the numbers. */
import t from "tap";
import { numberSortOf } from "../../src/query/exec/number-sort.js";
import { type NumbersByRow, sortByNumbers } from "../../src/query/exec/sort-numbers.js";
import { rowOrderOf } from "../../src/query/exec/sort-rows.js";
import { encodeKey, type KeyColumn } from "../../src/storage/key-codec.js";
import { DATE, FLOAT8, INT4, INT8, type SqlType, TEXT, type Value } from "../../src/values/values.js";
import { int } from "./plan-builder.js";
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

t.test("sort keys that are numbers give the order of their values", async (t) => {
  const types = [INT4, INT8, FLOAT8, DATE];
  for (let seed = 1; seed <= 8; seed++) {
    const random = new Random(seed);
    const count = [0, 1, 300, 40_000][seed % 4]!;
    const keys = Array.from({ length: 1 + random.below(3) }, () => {
      const expr = { ...int(1), type: types[random.below(types.length)]! };
      return { expr, descending: random.below(2) === 0, nullsFirst: random.below(2) === 0 };
    });
    const columns = keys.map(({ expr }) =>
      Array.from({ length: count }, (): Value => {
        const number = random.below([3, 5000, 2 ** 40][seed % 3]!) - 1;
        if (random.below(9) === 0) return null;
        if (expr.type === FLOAT8) return [number / 4, -0, 0][random.below(3)]!;
        return expr.type === INT8 && random.below(2) === 0 ? BigInt(number) : number;
      }),
    );
    const numbers = numberSortOf(keys)()!;
    for (let from = 0; from < count; from += 1000) {
      const to = Math.min(from + 1000, count);
      for (const [key, values] of columns.entries()) t.ok(numbers.add(key, values.slice(from, to), to - from));
    }
    const order = rowOrderOf(keys)(columns);
    const expected = Int32Array.from({ length: count }, (_, i) => i).sort((a, b) => order(a, b) || a - b);
    let turns = 0;
    const clock = { checkpoint() {}, shouldYield: () => turns++ % 2 === 0, yieldTurn: async () => {} };
    t.strictSame(await numbers.sort(clock, count), expected, `seed ${seed}`);
  }
});

t.test("values that no number stands for are compared", async (t) => {
  const ofType = (type: SqlType) =>
    numberSortOf([{ expr: { ...int(1), type }, descending: false, nullsFirst: false }])();
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 2n ** 53n]) {
    t.notOk(ofType(FLOAT8)!.add(0, [1, value], 2), String(value));
  }
  t.equal(ofType(TEXT), null);
});

t.test("it stops when it is told to", async (t) => {
  const column = { numbers: Int32Array.of(2, 1), nulls: null, descending: false, nullsFirst: false };
  t.equal(
    sortByNumbers(2, [column], () => true),
    null,
  );
});
