/** JSON of large values that is made in turns is the JSON that one go makes; so are results of aggregates. */
import fc from "fast-check";
import t from "tap";
import { madeInTurns } from "../../src/query/exec/large-json.js";
import { AGGREGATE_FAMILY_TABLE } from "../../src/query/expr/functions/aggregates.js";
import { jsonTextOf, toJson } from "../../src/query/expr/functions/to-json.js";
import { Numeric } from "../../src/values/numeric.js";
import { sqlArray } from "../../src/values/text-format-array.js";
import {
  arrayOf,
  FLOAT8,
  JSONB,
  Json,
  type SqlArray,
  type SqlType,
  TEXT,
  TIMESTAMP,
  VARIANT,
  type Value,
} from "../../src/values/values.js";
import { Float, type Variant } from "../../src/values/variant.js";

let turns = 0;
const always = { shouldYield: () => true, yieldTurn: async () => void turns++ };

/** Enough for its parts to be made in turns. */
const LARGE = 17_000;

const many = <Item>(item: (i: number) => Item): Item[] => Array.from({ length: LARGE }, (_, i) => item(i));

const json = fc.oneof(
  fc.constantFrom<unknown>(null, true, 1, -0, 0.5, "", 'a"b', "\ud800x", Numeric.parse("1.50")),
  fc.array(fc.string({ maxLength: 4 }), { maxLength: 4 }),
  fc.dictionary(fc.string({ maxLength: 4 }), fc.integer(), { maxKeys: 4 }),
);

t.test("json", async (t) => {
  const same = async (type: SqlType, value: Value): Promise<void> => {
    const before = turns;
    const made = await madeInTurns(type, value, true, always, "UTC");
    t.same(made.json, toJson(type, value), type.name);
    t.equal(made.text, jsonTextOf(type, value, "UTC"), type.name);
    t.ok(turns > before + 4, `${turns - before} turns`);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(json, { minLength: 1, maxLength: 9 }), async (some) => {
      const list = many((i) => some[i % some.length]);
      await same(JSONB, new Json(list));
      await same(JSONB, new Json({ a: 1, b: { list } }));
    }),
    { numRuns: 8 },
  );
  await same(arrayOf(TEXT), sqlArray(many((i) => (i % 7 === 0 ? null : `a"${i}`))));
  await same(arrayOf(FLOAT8), sqlArray(many((i) => (i % 7 === 0 ? Number.NaN : i / 3))));
  await same(arrayOf(TIMESTAMP), sqlArray(many((i) => i * 1e6)));
  const square: SqlArray = { elements: many(String), dimensions: [2, LARGE / 2], lowerBounds: [1, 1] };
  await same(arrayOf(TEXT), square);
  const variants: Variant[] = [null, 1, new Float(1), "x", [1, [2]], new Map([["k", 1]])];
  await same(VARIANT, many((i) => variants[i % variants.length]!) as readonly Variant[]);
});

t.test("array_agg", async (t) => {
  const steps = (type: SqlType, values: readonly Value[]) => {
    const fn = AGGREGATE_FAMILY_TABLE.find(({ name }) => name === "array_agg")!.instantiate([type])!;
    const state = () => values.reduce((made, value) => fn.step(made, value), fn.init());
    return { result: () => fn.result(state()), inTurns: async () => fn.resultInTurns!(state(), always) };
  };
  const long = sqlArray(Array.from({ length: 40_000 }, (_, i) => i));
  const stacked = steps(arrayOf(FLOAT8), [long, long]);
  t.same(await stacked.inTurns(), stacked.result());
  const numbers = steps(FLOAT8, [...long.elements, ...long.elements]);
  t.same(await numbers.inTurns(), numbers.result());
  t.equal(await steps(FLOAT8, [1, 2]).inTurns(), null, "a few are put together at once");
  const ragged = steps(arrayOf(FLOAT8), [long, long, sqlArray([1])]);
  await t.rejects(ragged.inTurns(), { message: "cannot accumulate arrays of different dimensionality" });
  await t.rejects(steps(arrayOf(FLOAT8), [long, long, null]).inTurns(), { message: "cannot accumulate null arrays" });
});
