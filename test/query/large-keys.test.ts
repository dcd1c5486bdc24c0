/** Keys of large values that are made in turns are those that one go makes. */
import fc from "fast-check";
import t, { type Test } from "tap";
import type { ExecContext } from "../../src/query/exec/context.js";
import { LargeKeys, withLargeKeys } from "../../src/query/exec/large-keys.js";
import type { Operator } from "../../src/query/exec/operator.js";
import { hashKeyOf, keptKey } from "../../src/query/expr/compare.js";
import type { Batch } from "../../src/query/expr/expr.js";
import { vectorOfNumbers } from "../../src/values/cypher-vector.js";
import { Numeric } from "../../src/values/numeric.js";
import { arrayOf, INT4, JSONB, Json, type SqlType, TEXT, VARIANT, type Value } from "../../src/values/values.js";
import { Float, type Variant } from "../../src/values/variant.js";
import { sized } from "../lengths.js";

/** Enough for its parts to be made in turns. */
const LARGE = 17_000;

let turns = 0;
const keys = new LargeKeys({
  checkpoint: () => {},
  shouldYield: () => true,
  yieldTurn: async () => void turns++,
} as ConstructorParameters<typeof LargeKeys>[0]);

async function same(t: Test, type: SqlType, value: Value): Promise<void> {
  const before = turns;
  t.equal(await keys.of(type, value), hashKeyOf(type)(value), type.name);
  t.ok(turns > before + 4, `${turns - before} turns`);
}

const many = <Item>(item: (i: number) => Item): Item[] => Array.from({ length: LARGE }, (_, i) => item(i));

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 1, -0, 0.5, 12n, "", 'a"b', "é", Numeric.parse("1.50")),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 4 }), tie("value"), { maxKeys: 4 }),
  ),
})).value;

const variant: fc.Arbitrary<Variant> = fc.letrec<{ value: Variant }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Variant>(null, true, 1, 2 ** 60, 0.5, "", "\ud800x", new Float(1), new Float(2)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 4 }), tie("value"), { maxKeys: 4 }).map((map) => new Map(Object.entries(map))),
  ),
})).value;

t.test("documents", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(json, { minLength: 1, maxLength: 9 }), async (some) => {
      const list = many((i) => some[i % some.length]);
      await same(t, JSONB, new Json(list));
      await same(t, JSONB, new Json({ a: 1, b: { list } }));
      await same(t, JSONB, new Json(Object.fromEntries(list.map((item, i) => [`${"k".repeat(i % 3)}${i}`, item]))));
    }),
    { numRuns: sized(4, 12) },
  );
});

t.test("values of Cypher", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(variant, { minLength: 1, maxLength: 9 }), async (some) => {
      const list = many((i) => some[i % some.length]!);
      await same(t, VARIANT, list as Value);
      await same(t, VARIANT, [1, new Map([["in", list]])] as Value);
      await same(t, VARIANT, new Map(list.map((item, i) => [`${i % 7}é${i}`, item])) as Value);
    }),
    { numRuns: sized(4, 12) },
  );
});

t.test("arrays, and what they hold", async (t) => {
  const array = (elements: readonly Value[]) => ({ elements, dimensions: [elements.length], lowerBounds: [1] });
  await same(t, arrayOf(INT4), array(many((i) => (i % 9 === 0 ? null : i))));
  await same(t, arrayOf(JSONB), array([new Json(many((i) => ({ i }))), null, new Json(1)]));
  await same(t, { name: "record" } as SqlType, [1, "a", array(many(String)), null] as unknown as Value);
});

/** The values in the batches that the operator gives on. */
async function givenOn(type: SqlType, given: readonly (readonly Value[])[]): Promise<Value[][]> {
  const columns = [{ id: 1, name: "v", type, nullable: true }];
  const batches = given.map((values): Batch => ({ columns: [values], length: values.length }));
  const input: Operator = { next: () => batches.shift() ?? null, close: () => {} };
  const context = { checkpoint: () => {}, shouldYield: () => false } as ExecContext;
  const operator = withLargeKeys(() => input, columns, [{ kind: "column", id: 1, name: "v", type }])(context);
  const all: Value[][] = [];
  for (let batch = await operator.next(); batch !== null; batch = await operator.next()) {
    all.push(Array.from(batch.columns[0]!).slice(0, batch.length));
  }
  return all;
}

const lengthsOf = (batches: readonly Value[][]): number[] => batches.map(({ length }) => length);

t.test("rows with long texts come in smaller batches", async (t) => {
  const texts = ["a", "b".repeat(400_000), null, "c".repeat(400_000), "d".repeat(9_000_000), "e", "f"];
  const batches = await givenOn(TEXT, [["x", "y"], texts]);
  t.strictSame(lengthsOf(batches), [2, 3, 1, 1, 2]);
  t.ok(batches.flat().every((value, i) => value === ["x", "y", ...texts][i]));
});

t.test("rows whose values have many parts together come in smaller batches", async (t) => {
  const list = (length: number) => Array.from({ length }, (_, i) => i) as unknown as Value;
  const vector = vectorOfNumbers("INTEGER8", new Array<number>(4096).fill(1)) as Value;
  const values = [1, list(4000), null, list(10_000), list(4000), list(LARGE), 2, vector, vector, vector, vector];
  const batches = await givenOn(VARIANT, [[3, 4], values]);
  t.strictSame(lengthsOf(batches), [2, 4, 1, 1, 4, 1]);
  t.ok(batches.flat().every((value, i) => value === [3, 4, ...values][i]));
  t.equal(keptKey(values[5]!), hashKeyOf(VARIANT)(values[5]!), "the key of a large one is made");
});
