/** Order and hash keys of every type: total orders that agree with each other. */
import fc from "fast-check";
import t from "tap";
import { comparatorOf, hashKeyOf, sortComparator } from "../../src/query/expr/compare.js";
import { fromText } from "../../src/values/text-format.js";
import {
  arrayOf,
  BPCHAR,
  BYTEA,
  FLOAT8,
  INT4,
  INT8,
  INTERVAL,
  JSONB,
  NUMERIC,
  type SqlType,
  TEXT,
  TIMETZ,
  type Value,
} from "../../src/values/values.js";

const read = (type: SqlType, texts: readonly string[]) => texts.map((text) => fromText(type, text));

t.test("ascending lists; equal values have equal keys", async (t) => {
  // Values within an inner list are equal.
  const cases: [SqlType, string[][]][] = [
    [INT8, [["-9223372036854775808"], ["-1"], ["0"], ["9007199254740991"], ["9007199254740993"]]],
    [FLOAT8, [["-Infinity"], ["-1"], ["0", "-0"], ["1e300"], ["Infinity"], ["NaN", "NaN"]]],
    [NUMERIC, [["-1.5"], ["0", "0.00"], ["1", "1.0"], ["NaN"]]],
    [BPCHAR, [["a", "a  "], ["ab"], ["b"]]],
    [TEXT, [["a"], ["a "], ["ab"], ["b"], ["é"], ["\uffff"], ["😀"]]],
    [BYTEA, [["\\x"], ["\\x00"], ["\\x0001"], ["\\xff"]]],
    [INTERVAL, [["-1 day"], ["0"], ["29 days"], ["1 month", "30 days", "720:00:00"], ["1 year"]]],
    [TIMETZ, [["10:00+02"], ["10:00+01"], ["10:00+00"]]],
    [
      JSONB,
      [
        ["[]"],
        ["null"],
        ['"a"'],
        ["1", "1.0"],
        ["2"],
        ["false"],
        ["true"],
        ["[1]"],
        ["[1,2]"],
        ['{"a":1}', '{"a":1.0}'],
      ],
    ],
    [arrayOf(INT4), [["{}"], ["{1}"], ["{1,2}"], ["{1,NULL}"], ["{2}"]]],
  ];
  for (const [type, groups] of cases) {
    const compare = comparatorOf(type);
    const key = hashKeyOf(type);
    const values = groups.flatMap((group, rank) => read(type, group).map((value) => ({ value, rank })));
    for (const a of values) {
      for (const b of values) {
        t.equal(Math.sign(compare(a.value, b.value)), Math.sign(a.rank - b.rank), `${type.name} ${a.rank} ? ${b.rank}`);
        const keys = new Set([key(a.value), key(b.value)]);
        // Times of day with a zone are equal only within the same zone.
        t.equal(keys.size === 1, a.rank === b.rank, `${type.name} key ${a.rank} ${b.rank}`);
      }
    }
  }
});

t.test("text orders as its UTF-8 bytes", async (t) => {
  const compare = comparatorOf(TEXT);
  const text = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(text, text, (a, b) => {
      t.equal(Math.sign(compare(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

t.test("NULLs go where the key says, whatever the direction", async (t) => {
  const values: Value[] = [2, null, 1, 3];
  const sorted = (descending: boolean, nullsFirst: boolean) =>
    values.toSorted(sortComparator(INT4, descending, nullsFirst));
  t.same(sorted(false, false), [1, 2, 3, null]);
  t.same(sorted(false, true), [null, 1, 2, 3]);
  t.same(sorted(true, true), [null, 3, 2, 1]);
  t.same(sorted(true, false), [3, 2, 1, null]);
});
