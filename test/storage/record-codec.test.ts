/** Records give back what was stored, column by column, and survive damage with a clear error. */
import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import t from "tap";
import { encodeRecord, recordDecoder } from "../../src/storage/record-codec.js";
import { Numeric } from "../../src/values/numeric.js";
import { BOOL, FLOAT8, INT4, INT8, NUMERIC, RECORD, type SqlType, TEXT, type Value } from "../../src/values/values.js";
import { ALL } from "./values.js";

function decode(types: readonly (SqlType | null)[], record: Uint8Array, wanted: readonly number[]): Value[] {
  const out: Value[][] = wanted.map(() => []);
  recordDecoder(
    types,
    wanted,
    wanted.map(() => "missing"),
  )(record, out, 0);
  return out.map((column) => column[0]!);
}

const rows = fc.array(fc.constantFrom(...ALL), { maxLength: 12 }).chain((cases) =>
  fc.record({
    types: fc.constant(cases.map(({ type }) => type)),
    values: fc.tuple(...cases.map(({ values }) => fc.option(values, { freq: 4 }))) as fc.Arbitrary<Value[]>,
    wanted: fc.shuffledSubarray(cases.map((_, i) => i)),
  }),
);

t.test("any wanted columns come back as they were stored, from a Buffer and from a plain Uint8Array", async (t) => {
  const property = fc.property(rows, ({ types, values, wanted }) => {
    const record = encodeRecord(types, values);
    const expected = wanted.map((id) => values[id]!);
    deepStrictEqual(decode(types, record, wanted), expected);
    deepStrictEqual(decode(types, new Uint8Array(record), wanted), expected);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 400 }));
});

t.test("dropped columns are passed over, later ones are missing", async (t) => {
  const record = encodeRecord([INT4, null, TEXT], [1, null, "x"]);
  t.same(decode([INT4, null, TEXT, BOOL], record, [3, 2, 0, 1]), ["missing", "x", 1, null]);
  t.same(decode([null, null, TEXT], record, [0, 2]), [null, "x"]);
});

t.test("records are compact, and their bytes are pinned", async (t) => {
  const types = [INT4, INT8, TEXT, BOOL, FLOAT8, NUMERIC];
  const record = encodeRecord(types, [7, -300, "né", true, null, Numeric.of(1999n, 2)]);
  t.equal(record.toString("hex"), "0106100107" + "02d4fe" + "036ec3a9" + "0101" + "0302cf07");
  t.equal(encodeRecord(types, [0, 0, "", false, null, null]).length, 3 + 4);
});

t.test("large values and large rows", async (t) => {
  for (const length of [83, 84, 251, 252, 253, 65_535, 65_536, 3_000_000]) {
    const values = ["x".repeat(length), "é".repeat(length), "end"];
    t.same(decode([TEXT, TEXT, TEXT], encodeRecord([TEXT, TEXT, TEXT], values), [0, 1, 2]), values);
  }
  t.throws(() => encodeRecord([TEXT], ["x".repeat(64 * 1024 * 1024)]), {
    code: "query_error",
    message: /row is too big/,
  });
  const huge = Numeric.of(-(7n ** 1000n), 400);
  t.same(decode([NUMERIC], encodeRecord([NUMERIC], [huge]), [0]), [huge]);
});

t.test("pseudo-types are refused", async (t) => {
  t.throws(() => encodeRecord([RECORD], [[1, 2]]), { code: "not_supported" });
});

t.test("damaged records give an error or some value, never a crash", async (t) => {
  const types = ALL.map(({ type }) => type);
  const decoder = recordDecoder(
    types,
    types.map((_, i) => i),
    types.map(() => null),
  );
  const isSafe = (bytes: Uint8Array): boolean => {
    try {
      decoder(
        bytes,
        types.map(() => []),
        0,
      );
    } catch (error) {
      return (error as Error).name === "DbError";
    }
    return true;
  };
  const random = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) =>
    isSafe(Buffer.concat([Buffer.of(1), bytes])),
  );
  t.doesNotThrow(() => fc.assert(random, { numRuns: 3000 }));
  const whole = fc.tuple(...ALL.map(({ values }) => values)).map((values) => encodeRecord(types, values));
  const flipped = fc.property(whole, fc.nat(), fc.nat(255), fc.nat(), (record, at, byte, cut) => {
    record[at % record.length] = byte;
    return isSafe(record) && isSafe(record.subarray(0, cut % record.length));
  });
  t.doesNotThrow(() => fc.assert(flipped, { numRuns: 1000 }));
});
