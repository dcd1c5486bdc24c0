/** The order of rows that are held in columns is that of their values, whatever the columns are held as. */
import t from "tap";
import { abbreviationOf } from "../../src/query/exec/abbreviated-keys.js";
import { columnOrder } from "../../src/query/exec/column-order.js";
import type { ExecContext } from "../../src/query/exec/context.js";
import { chunkOfColumns, plainColumn } from "../../src/query/exec/segments/chunk.js";
import { type Column, columnOf } from "../../src/query/exec/segments/column.js";
import { ColumnBuffer } from "../../src/query/exec/segments/column-buffer.js";
import { rowOrderOf } from "../../src/query/exec/sort-rows.js";
import { Numeric } from "../../src/values/numeric.js";
import { BOOL, DATE, FLOAT8, INT4, INT8, NUMERIC, type SqlType, TEXT, type Value } from "../../src/values/values.js";
import { int } from "./plan-builder.js";
import { Random } from "./random-plans.js";

const INFINITE = Number.POSITIVE_INFINITY;

/** Values of a type: of one kind in most columns, of several in some. */
const KINDS: readonly { readonly type: SqlType; of(random: Random, range: number): Value }[] = [
  { type: INT4, of: (random, range) => random.below(Math.min(range, 2 ** 31)) - 5 },
  { type: INT8, of: (random, range) => random.below(range) - 1 },
  { type: INT8, of: (random) => BigInt(random.below(9)) * 2n ** 58n },
  { type: FLOAT8, of: (random, range) => [random.below(range) / 4, -0, 0, -1.5][random.below(4)]! },
  { type: FLOAT8, of: (random) => [Number.NaN, INFINITE, -INFINITE, 1e-320, -1e300, 2][random.below(6)]! },
  {
    type: DATE,
    of: (random) => [random.below(900), INFINITE, -INFINITE][random.below(12) > 0 ? 0 : 1 + random.below(2)]!,
  },
  { type: NUMERIC, of: (random, range) => Numeric.of(BigInt(random.below(range)) - 7n, 2) },
  { type: NUMERIC, of: (random, range) => Numeric.of(BigInt(random.below(range)), random.below(4)) },
  {
    type: NUMERIC,
    of: (random) => [Numeric.NAN, Numeric.INFINITY, Numeric.of(10n ** 30n, 3), Numeric.ONE][random.below(4)]!,
  },
  { type: TEXT, of: (random) => ["", "a", "ä", "Z", "zz", "𝄞", "b"][random.below(7)]! },
  { type: TEXT, of: (random, range) => `t${random.below(range)}` },
  { type: BOOL, of: (random) => random.below(2) === 0 },
];

function contextOf(yields: boolean): ExecContext {
  let turns = 0;
  const statement = { reserve: () => undefined, release: () => undefined };
  const turn = { checkpoint: () => undefined, yieldTurn: async () => undefined };
  return { ...turn, statement, shouldYield: () => yields && turns++ % 2 === 0 } as unknown as ExecContext;
}

t.test("rows come in the order of their keys, equal ones in their own", async (t) => {
  const forms = new Set<string>();
  for (let seed = 1; seed <= 80; seed++) {
    const random = new Random(seed * 31);
    const count = seed % 10 === 0 ? 9000 : random.below(300);
    const range = [3, 5000, 2 ** 40][random.below(3)]!;
    const keys = Array.from({ length: 1 + random.below(3) }, (_, slot) => {
      const kind = KINDS[random.below(KINDS.length)]!;
      return { ...kind, slot, descending: random.below(2) === 0, nullsFirst: random.below(2) === 0 };
    });
    const nulls = random.below(2) === 0 ? 0 : 5;
    const columns = keys.map(({ of }) =>
      Array.from({ length: count }, () => (random.below(10) < nulls ? null : of(random, range))),
    );
    const context = contextOf(seed % 2 === 0);
    const outputs = keys.map(({ type }, id) => ({ id, name: "", type, nullable: true }));
    const buffer = new ColumnBuffer(outputs, context);
    const held = random.below(3) > 0;
    for (let from = 0; from < count; from += 700) {
      const rows = Math.min(700, count - from);
      const vectors = columns.map((values, k): Column => {
        const some = values.slice(from, from + rows);
        return held ? columnOf(keys[k]!.type, some, rows) : plainColumn(some);
      });
      buffer.append(chunkOfColumns(vectors, rows));
    }
    while (!buffer.settle());
    const vectors = buffer.vectors();
    for (const { kind } of vectors) forms.add(kind);
    const orderOf = rowOrderOf(keys.map((key) => ({ ...key, expr: { ...int(1), type: key.type } })));
    const abbreviation = abbreviationOf(keys[0]!.type);
    const found = await columnOrder({ keys, orderOf, abbreviation }, vectors, count, context);
    const order = orderOf(columns);
    const expected = Array.from({ length: count }, (_, i) => i).sort((a, b) => order(a, b) || a - b);
    t.strictSame([...found], expected, `seed ${seed}: ${keys.map(({ type }) => type.name).join()}`);
  }
  t.same([...forms].sort(), ["dictionary", "number", "plain", "text"]);
});
