/** Rows sorted by abbreviated keys come in the order of their values, however close those are. */
import fc from "fast-check";
import t from "tap";
import { abbreviate, abbreviatedOrder, abbreviationOf } from "../../src/query/exec/abbreviated-keys.js";
import { rowOrderOf } from "../../src/query/exec/sort-rows.js";
import { Numeric } from "../../src/values/numeric.js";
import { NUMERIC, type Value } from "../../src/values/values.js";

const digits = fc.oneof(
  fc.bigInt({ min: -1000n, max: 1000n }),
  fc.bigInt({ min: 10n ** 17n, max: 10n ** 17n + 20n }),
  fc.bigInt({ min: -(10n ** 400n), max: 10n ** 400n }),
);
const value: fc.Arbitrary<Value> = fc.oneof(
  fc
    .tuple(digits, fc.constantFrom(0, 0, 1, 2, 16, 17, 40, 400))
    .map(([unscaled, scale]) => Numeric.of(unscaled, scale)),
  fc.constantFrom(null, Numeric.NAN, Numeric.INFINITY, Numeric.NEGATIVE_INFINITY, Numeric.ZERO),
);

t.test("numerics", async (t) => {
  const expr = { kind: "column", id: 1, type: NUMERIC, name: "n" } as const;
  const abbreviation = abbreviationOf(NUMERIC)!;
  fc.assert(
    fc.property(fc.array(value, { maxLength: 40 }), fc.boolean(), fc.boolean(), (values, descending, nullsFirst) => {
      const full = rowOrderOf([{ expr, descending, nullsFirst }])([values]);
      const numbers: number[] = [];
      abbreviate(values, values.length, abbreviation, numbers);
      const order = abbreviatedOrder(numbers, abbreviation, descending, full);
      for (let a = 0; a < values.length; a++) {
        for (let b = 0; b < values.length; b++) {
          if (Math.sign(order(a, b)) !== Math.sign(full(a, b))) throw new Error(`${values[a]} and ${values[b]}`);
        }
      }
    }),
    { numRuns: 300 },
  );
  const [near, far] = [Numeric.parse("0.10000000000000000001"), Numeric.parse("1e200")];
  const numbers: number[] = [];
  abbreviate([near, far, Numeric.parse("0.1"), null], 4, abbreviation, numbers);
  const order = abbreviatedOrder(numbers, abbreviation, false, () => 7);
  t.equal(order(0, 1), -1, "the numbers decide");
  t.equal(order(0, 2), 7, "too close");
  t.equal(order(0, 3), 7, "no number");
});
