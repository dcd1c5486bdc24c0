/** Variants come back from records and keys, keys have their order, and damage is an error. */
import { deepStrictEqual, ok } from "node:assert";
import fc from "fast-check";
import t from "tap";
import { compareVariants, variantKey } from "../../src/query/expr/variant-order.js";
import { decodeKey, encodeKey } from "../../src/storage/key-codec.js";
import { encodeRecord, recordDecoder } from "../../src/storage/record-codec.js";
import { decodeVariant, StoredMap } from "../../src/storage/stored-map.js";
import { encodeVariant } from "../../src/storage/variant-writer.js";
import { costLeft } from "../../src/values/value-cost.js";
import { INT8, VARIANT, type Value } from "../../src/values/values.js";
import { Float, type Variant } from "../../src/values/variant.js";
import { plainVariant, variants } from "./variants.js";

const TYPES = [INT8, VARIANT, INT8];
const decoder = recordDecoder(TYPES, [0, 1, 2], [null, null, null]);

function stored(value: Variant): Variant {
  const out: Value[][] = [[], [], []];
  decoder(encodeRecord(TYPES, [1, value, 2]), out, 0);
  deepStrictEqual([out[0]![0], out[2]![0]], [1, 2]);
  return out[1]![0] as Variant;
}

t.test("records give variants back, also those that were read and are stored again", async (t) => {
  const property = fc.property(variants, (value) => {
    const once = stored(value);
    deepStrictEqual(plainVariant(once), value);
    deepStrictEqual(plainVariant(stored(once)), value);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 1000 }));
});

t.test("a stored map is read like any other", async (t) => {
  const map = new Map<string, Variant>([
    ["name", "Ann"],
    ["né", "x".repeat(5000)],
    ["名前", [1, new Float(1), null]],
    ["age", 2n ** 60n],
  ]);
  const read = stored(map) as StoredMap;
  t.ok(read instanceof StoredMap);
  t.ok(read instanceof Map);
  t.equal(read.size, 4);
  for (const [key, value] of map) t.same(read.get(key), value);
  for (const key of ["nam", "names", "", "n\u00c3\u00a9", "名", "\u00e5\u0090\u008d"]) {
    t.equal(read.get(key), undefined);
    t.notOk(read.has(key));
  }
  t.same([...read.keys()], [...map.keys()]);
  t.same([...read.values()], [...map.values()]);
  t.same(new Map(read), map);
  const seen: string[] = [];
  for (const [key] of read) seen.push(key, String(read.has("age")));
  t.same(seen, ["name", "true", "né", "true", "名前", "true", "age", "true"]);
});

t.test("records are compact, and their bytes are pinned", async (t) => {
  const hex = (value: Variant) => Buffer.from(encodeVariant(value)).toString("hex");
  t.equal(hex(-16), "c0");
  t.equal(hex(47), "ff");
  t.equal(hex(48), "0530");
  t.equal(hex(new Float(1)), "03000000000000f03f");
  t.equal(hex("né"), "826ee9");
  t.equal(hex(new Map<string, Variant>([["a", [true, null]]])), "1108" + "01" + "0261" + "1003020200");
});

const ascending = [{ type: VARIANT, descending: false, nullsFirst: false }];
const keyOf = (value: Variant) => encodeKey(new Uint8Array(0), ascending, [value]);

t.test("keys have the order of values, and equal ones for equivalent values", async (t) => {
  const property = fc.property(variants, variants, (a, b) => {
    const order = Math.sign(compareVariants(a, b));
    deepStrictEqual(order, Math.sign(keyOf(a).compare(keyOf(b))), "order");
    if (a !== null && b !== null) deepStrictEqual(order === 0, variantKey(a) === variantKey(b), "hash");
    deepStrictEqual(order + Math.sign(compareVariants(b, a)), 0, "antisymmetry");
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 4000 }));
});

t.test("keys give equal values back, descending too", async (t) => {
  const columns = [{ type: VARIANT, descending: true, nullsFirst: true }, { ...ascending[0]! }];
  const property = fc.property(variants, variants, (a, b) => {
    const [first, second] = decodeKey(encodeKey(new Uint8Array(0), columns, [a, b]), 0, columns);
    ok(compareVariants(first!, a) === 0 && compareVariants(second!, b) === 0);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 1000 }));
});

t.test("damaged bytes give an error or some value", async (t) => {
  const walk = (value: Variant): void => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (value instanceof Map) for (const [, member] of value) walk(member);
  };
  const property = fc.property(variants, fc.nat(), fc.nat(255), fc.nat(20), (value, place, byte, cut) => {
    const bytes = Buffer.from(encodeVariant(value));
    bytes[place % bytes.length] = byte;
    try {
      walk(decodeVariant(bytes.subarray(0, bytes.length - cut).toString("latin1")));
    } catch (error) {
      ok((error as { code?: string }).code === "internal_error", String(error));
    }
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 4000 }));
});

t.test("values nested too deeply are refused", async (t) => {
  let deep: Variant = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  for (const use of [() => encodeVariant(deep), () => compareVariants(deep, deep), () => variantKey(deep)]) {
    t.throws(use, { code: "query_error", message: /nested/ });
  }
});

t.test("the size of a stored map is known without reading it", async (t) => {
  t.equal(costLeft(new StoredMap("damaged".repeat(100), 0, 700), 1000), 1000 - 1 - 87);
});

t.test("values that do not fit into the writer's buffer come back", async (t) => {
  const sizes = [16_380, 16_384, 16_390, 32_760, 32_775, 65_530, 65_545, 131_060, 131_080, 1_050_000];
  const floats = (bytes: number) => Array.from({ length: Math.floor(bytes / 9) }, (_, i) => new Float(i + 0.5));
  const makers: Readonly<Record<string, (bytes: number) => Variant>> = {
    text: (bytes) => "x".repeat(bytes),
    bytes: (bytes) => new Uint8Array(bytes).fill(7),
    list: floats,
    "lists in a map": (bytes) => new Map<string, Variant>([["deep", [floats(bytes), "y"]]]),
    temporal: (bytes) => ["x".repeat(bytes - 10), new Map([["a", "z".repeat(30)]])],
  };
  const tooLarge = new Map<string, Variant>([["large", "x".repeat(1_200_000)]]);
  for (const [what, make] of Object.entries(makers)) {
    for (const size of sizes) {
      const value = new Map<string, Variant>([
        ["a", 1],
        ["value", make(size)],
        ["name", "kept"],
      ]);
      // After one of this size the buffer is a small one again.
      encodeVariant(tooLarge);
      deepStrictEqual(compareVariants(stored(value), value), 0, `${what} of ${size}`);
      t.pass(`${what} of ${size}`);
    }
  }
});
