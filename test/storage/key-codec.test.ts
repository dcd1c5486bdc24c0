/** Keys keep the order of values, bring them back, and refuse what they cannot hold. */
import fc from "fast-check";
import t from "tap";
import { decodeKey, encodeKey, isKeyType, type KeyColumn } from "../../src/storage/key-codec.js";
import { Numeric } from "../../src/values/numeric.js";
import { INT4, JSON_TYPE, NUMERIC, type SqlType, TEXT, type Value } from "../../src/values/values.js";
import { ALL, ORDERED, type TypeCase } from "./values.js";

const PREFIX = Buffer.from("000000010200000005", "hex");
const compareOf = (each: TypeCase) => each.compare as unknown as (a: Value, b: Value) => number;
const columnOf = (type: SqlType, descending = false, nullsFirst = false): KeyColumn => ({
  type,
  descending,
  nullsFirst,
});

for (const each of ORDERED) {
  const name = each.type.element === null ? each.type.name : `${each.type.element.name}[]`;
  t.test(`${name}: byte order is value order, and decoding gives an equal value`, async (t) => {
    const value = fc.option(each.values, { freq: 10 });
    const property = fc.property(value, value, fc.boolean(), fc.boolean(), (a, b, descending, nullsFirst) => {
      const columns = [columnOf(each.type, descending, nullsFirst)];
      const [keyA, keyB] = [encodeKey(PREFIX, columns, [a]), encodeKey(PREFIX, columns, [b])];
      let expected: number;
      if (a === null || b === null) expected = (Number(a === null) - Number(b === null)) * (nullsFirst ? -1 : 1);
      else expected = compareOf(each)(a, b) * (descending ? -1 : 1);
      if (Math.sign(Buffer.compare(keyA, keyB)) !== Math.sign(expected)) return false;

      const [decoded] = decodeKey(keyA, PREFIX.length, columns);
      if (a === null || decoded === null) return a === decoded;
      return compareOf(each)(a, decoded!) === 0 && encodeKey(PREFIX, columns, [decoded!]).equals(keyA);
    });
    t.doesNotThrow(() => fc.assert(property, { numRuns: 300 }));
  });
}

t.test("several columns order by the first that differs, whatever their lengths", async (t) => {
  const cases = ORDERED.filter(({ type }) =>
    ["int4", "text", "bytea", "numeric", "float8", "array"].includes(type.name),
  );
  const shape = fc.array(fc.tuple(fc.constantFrom(...cases), fc.boolean()), { minLength: 2, maxLength: 3 });
  const property = fc.property(
    shape.chain((picked) => {
      const row = fc.tuple(...picked.map(([{ values }]) => values));
      return fc.tuple(fc.constant(picked), row, row, fc.nat(picked.length));
    }),
    ([picked, a, b, shared]) => {
      const columns = picked.map(([{ type }, descending]) => columnOf(type, descending));
      const other = b.map((value, i) => (i < shared ? a[i]! : value));
      let expected = 0;
      for (let i = 0; i < picked.length && expected === 0; i++) {
        expected = compareOf(picked[i]![0])(a[i]!, other[i]!) * (picked[i]![1] ? -1 : 1);
      }
      const [keyA, keyB] = [encodeKey(PREFIX, columns, a), encodeKey(PREFIX, columns, other)];
      const isPrefix = encodeKey(PREFIX, columns, a.slice(0, 1)).equals(
        keyA.subarray(0, encodeKey(PREFIX, columns, a.slice(0, 1)).length),
      );
      return Math.sign(Buffer.compare(keyA, keyB)) === Math.sign(expected) && isPrefix;
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }));
});

t.test("the bytes of common keys are pinned", async (t) => {
  const columns = [columnOf(INT4), columnOf(TEXT, true), columnOf(NUMERIC, false, true)];
  const key = encodeKey(Buffer.alloc(0), columns, [-2, "a\0", Numeric.of(-1250n, 2)]);
  t.equal(key.toString("hex"), "017ffffffe" + "019eff00fffe" + "01017ffffdf2ccff");
  t.equal(encodeKey(Buffer.alloc(0), columns, [1, null, null]).toString("hex"), "018000000102" + "00");
});

t.test("numbers that are equal have equal keys whatever their scale", async (t) => {
  const columns = [columnOf(NUMERIC)];
  const keyOf = (unscaled: bigint, scale: number) => encodeKey(PREFIX, columns, [Numeric.of(unscaled, scale)]);
  t.same(keyOf(10n, 1), keyOf(100n, 2));
  t.same(keyOf(0n, 0), keyOf(0n, 5));
  t.notSame(keyOf(10n, 1), keyOf(10n, 2));
});

t.test("too long keys and types without an order are refused", async (t) => {
  for (const text of ["x".repeat(9000), "é".repeat(5000), "\0".repeat(5000), "x\0".repeat(3000)]) {
    t.throws(() => encodeKey(PREFIX, [columnOf(TEXT)], [text]), {
      code: "query_error",
      message: /exceeds the maximum/,
    });
  }
  t.equal(encodeKey(PREFIX, [columnOf(TEXT)], ["x".repeat(8000)]).length, PREFIX.length + 8003);
  t.throws(() => encodeKey(PREFIX, [columnOf(JSON_TYPE)], ["{}"]), { message: /no default operator class/ });
  for (const { type } of ALL)
    t.equal(
      isKeyType(type),
      ORDERED.some((each) => each.type === type),
      type.name,
    );
});

t.test("random bytes decode to values or to an error, never to a crash", async (t) => {
  const property = fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom(...ORDERED), (bytes, { type }) => {
    const key = Buffer.concat([Buffer.from([1]), bytes]);
    try {
      decodeKey(key, 0, [columnOf(type, bytes.length % 2 === 0)]);
    } catch (error) {
      return (error as Error).name === "DbError";
    }
    return true;
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 3000 }));
});
