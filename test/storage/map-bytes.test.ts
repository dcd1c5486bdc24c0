/** Maps that are put together from bytes are stored as those that are made of values. */
import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import t from "tap";
import { MapBytes, storedKey } from "../../src/storage/map-bytes.js";
import { encodeRecord } from "../../src/storage/record-codec.js";
import { RecordSlab } from "../../src/storage/record-slab.js";
import { INT8, VARIANT } from "../../src/values/values.js";
import { doubleOf, floatValue, type Variant } from "../../src/values/variant.js";

type Property = { readonly form: "integer" | "float" | "text" | "value"; readonly value: Variant };

const properties: fc.Arbitrary<Property> = fc.oneof(
  fc.record({
    form: fc.constant("integer" as const),
    value: fc.oneof(fc.integer(), fc.integer({ min: -300, max: 300 })),
  }),
  fc.record({ form: fc.constant("float" as const), value: fc.double({ noNaN: true }).map(floatValue) }),
  fc.record({ form: fc.constant("text" as const), value: fc.string({ maxLength: 80, unit: "binary" }) }),
  fc.record({
    form: fc.constant("value" as const),
    value: fc.constantFrom<Variant>(true, 2n ** 60n, ["a", 1], "é".repeat(300)),
  }),
);
const names = fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), fc.constantFrom("x".repeat(70), "y".repeat(9000)));

function add(map: MapBytes, name: string, { form, value }: Property): void {
  const key = storedKey(name);
  if (form === "integer") map.integer(key, value as number);
  else if (form === "float") map.float(key, doubleOf(value));
  else {
    const bytes = Buffer.from(` ${String(value)} `);
    if (form !== "text" || !map.text(key, bytes, 1, bytes.length - 1)) map.value(key, value);
  }
}

t.test("integers, floats, texts and other values, by keys of any length and number", async (t) => {
  const map = new MapBytes();
  const slab = new RecordSlab();
  const bytesOf = (entries: ReadonlyMap<string, Property>): Buffer => {
    map.begin();
    for (const [name, property] of entries) add(map, name, property);
    slab.begin(3);
    slab.null(0);
    slab.integer(7);
    slab.map(map);
    return Buffer.from(slab.finish());
  };
  const stored = (entries: ReadonlyMap<string, Property>): Buffer => {
    const values = new Map([...entries].map(([name, { value }]) => [name, value] as const));
    return encodeRecord([null, INT8, VARIANT], [null, 7, values]);
  };
  const isSame = fc.property(fc.array(fc.tuple(names, properties), { maxLength: 12 }), (pairs) => {
    const entries = new Map(pairs);
    deepStrictEqual(bytesOf(entries), stored(entries));
  });
  t.doesNotThrow(() => fc.assert(isSame, { numRuns: 300 }));
  const many = new Map(Array.from({ length: 200 }, (_, i) => [`p${i}`, { form: "integer", value: i * i } as const]));
  t.same(bytesOf(many), stored(many));
});
