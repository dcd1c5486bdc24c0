/** Columns made of records as they are stored are, byte for byte, those that are made of the values. */
import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import t from "tap";
import { columnOf, type StoredForm, valueAt } from "../../src/query/exec/segments/column.js";
import { holdsEncoded } from "../../src/query/exec/segments/encoded-column.js";
import { decodeColumn, encodeColumn, isStorable } from "../../src/query/exec/segments/stored/column-page.js";
import { columnSink } from "../../src/query/exec/segments/stored/column-sinks.js";
import { encodeRecord, recordWalker } from "../../src/storage/record-codec.js";
import { INT4, INT8, NUMERIC, type SqlType, TEXT, UUID, type Value } from "../../src/values/values.js";
import { ALL } from "../storage/values.js";

/** Records of one column, all of one buffer, among others. */
function made(type: SqlType, parts: readonly (readonly Value[])[], missing: Value = null): void {
  const rowsMax = Math.max(...parts.map(({ length }) => length));
  const sink = columnSink(type, rowsMax);
  const walk = recordWalker([{ id: 1, type, missing, sink }]);
  for (const values of parts) {
    for (const value of values) {
      const isOld = value === missing && value !== null;
      const record = isOld ? encodeRecord([INT4], [7]) : encodeRecord([INT4, type, TEXT], [7, value, "after"]);
      walk(Buffer.concat([Buffer.of(1, 2, 3), record, Buffer.of(4)]), 3, 3 + record.length);
    }
    deepStrictEqual(
      values.map((_, row) => sink.valueAt(row)),
      values,
    );
    const column = columnOf(type, values, values.length);
    if (holdsEncoded(type)) {
      // Made of values they are held decoded: both pages give the same values.
      for (const each of [sink.column(), column]) deepStrictEqual(readAgain(type, each, values.length), values);
      continue;
    }
    deepStrictEqual(
      encodeColumn(type, sink.column(), values.length),
      encodeColumn(type, column, values.length),
      `${type.name} held as ${column.kind}`,
    );
  }
}

function readAgain(type: SqlType, column: StoredForm, rows: number): Value[] {
  const { head, body } = encodeColumn(type, column, rows);
  const read = decodeColumn(type, head, body, rows);
  return Array.from({ length: rows }, (_, row) => valueAt(read, row));
}

t.test("of any values, segment after segment", async (t) => {
  const cases = ALL.filter(({ type }) => isStorable(type));
  t.ok(cases.length > 15);
  for (const { type, values } of cases) {
    const value = fc.option(values as fc.Arbitrary<Value>, { freq: 5 });
    const few = fc.array(value, { minLength: 1, maxLength: 4 }).chain((some) => fc.constantFrom(...some));
    const rows = fc.oneof(
      fc.array(value, { minLength: 1, maxLength: 40 }),
      fc.array(few, { minLength: 1, maxLength: 40 }),
    );
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(fc.array(rows, { minLength: 1, maxLength: 3 }), (parts) => made(type, parts)),
        { numRuns: 40 },
      ),
    );
  }
});

t.test("of many rows, and where the form changes on the way", async (t) => {
  const texts = (count: number, of: number, before = "text") =>
    Array.from({ length: count }, (_, i) => (i % 11 === 5 ? null : `${before} ${(i * 7919) % of}`));
  t.doesNotThrow(() => made(TEXT, [texts(5000, 5000), texts(5000, 300), texts(5000, 200, "über"), texts(3, 3)]));
  t.doesNotThrow(() => made(TEXT, [[...texts(3000, 1400), ...texts(200, 200, "new")], texts(3200, 1e6)]));
  t.doesNotThrow(() => made(TEXT, [Array.from({ length: 3000 }, () => null), ["x".repeat(200_000), null, ""]]));
  const numbers = Array.from({ length: 3000 }, (_, i) => (i === 2500 ? 2n ** 62n : i % 9 === 0 ? null : i));
  t.doesNotThrow(() =>
    made(INT8, [numbers, numbers.slice(0, 2000), numbers.map((n) => (typeof n === "number" ? n * 1e9 : n))]),
  );
  const ids = Array.from({ length: 100 }, (_, i) => `00000000-0000-4000-8000-${String(i % 7).padStart(12, "0")}`);
  t.doesNotThrow(() => made(UUID, [ids]));
  t.doesNotThrow(() => made(TEXT, [["a", "given", null, "given", "given"]], "given"));
  t.doesNotThrow(() => made(NUMERIC, [[null, null], [null]]));
});

t.test(
  "after texts that were all different, texts that repeat only later have no dictionary, but are the same",
  async (t) => {
    const sink = columnSink(TEXT, 4000);
    const walk = recordWalker([{ id: 1, type: TEXT, missing: null, sink }]);
    const take = (values: readonly Value[]) => {
      for (const value of values) {
        const record = encodeRecord([INT4, TEXT], [7, value]);
        walk(record, 0, record.length);
      }
      const column = sink.column();
      t.same(
        values.map((_, row) => valueAt(column, row)),
        values,
      );
      return column.kind;
    };
    const different = Array.from({ length: 4000 }, (_, i) => `text ${i}`);
    const late = different.map((text, i) => (i < 1100 ? text : i % 7 === 0 ? null : "again"));
    const soon = different.map((_, i) => `text ${i % 500}`);
    t.same(
      [take(late), take(different), take(late), take(soon), take(late)].join(" "),
      "dictionary text text dictionary dictionary",
    );
  },
);

t.test("a record that ends too soon is damaged", async (t) => {
  const walk = recordWalker([{ id: 0, type: TEXT, missing: null, sink: columnSink(TEXT, 10) }]);
  const record = encodeRecord([TEXT], ["some text"]);
  for (const end of [0, 1, 2, 3, record.length - 1]) t.throws(() => walk(record, 0, end), { code: "internal_error" });
  t.throws(() => walk(record.subarray(2), 0, record.length - 2), { code: "internal_error" });
});
