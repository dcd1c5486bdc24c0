/** Slots by names: what a Map says, in parts of about the same length. */
import fc from "fast-check";
import t from "tap";
import { SlotNames } from "../../src/derived/slot-names.js";
import { encodeKey } from "../../src/storage/key-codec.js";
import { keyText } from "../../src/storage/ordered-map.js";
import { INT4, INT8, type SqlType, TEXT, UUID, type Value } from "../../src/values/values.js";

t.test("the same as a Map", async () => {
  const step = fc.record({ name: fc.integer({ min: 0, max: 40 }), kind: fc.constantFrom("set", "delete", "get") });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const model = new Map<string, number>();
      const names = new SlotNames();
      return steps.every(({ name, kind }, i) => {
        const text = "\x00".repeat(name % 3) + name;
        if (kind === "set") {
          model.set(text, i);
          names.set(text, i);
        } else if (kind === "delete") {
          model.delete(text);
          names.delete(text);
        }
        return names.size === model.size && names.get(text) === model.get(text);
      });
    }),
  );
});

t.test("keys of all types are spread over the parts", (t) => {
  const count = 20_000;
  const numbered = (i: number): Record<string, [SqlType, Value]> => ({
    int: [INT4, i],
    bigint: [INT8, BigInt(i) * 1000n],
    text: [TEXT, `customer-${i}@example.com`],
    url: [TEXT, `https://example.com/${"a/long/path/".repeat(12)}${i}/${"and/more/".repeat(9)}`],
    padded: [TEXT, String(i).padStart(12, "0")],
    uuid: [UUID, `00000000-0000-4000-8000-${i.toString(16).padStart(12, "0")}`],
  });
  for (const name of Object.keys(numbered(0))) {
    const names = new SlotNames();
    for (let i = 0; i < count; i++) {
      const [type, value] = numbered(i)[name]!;
      names.set(keyText(encodeKey(Buffer.alloc(0), [{ type, descending: false, nullsFirst: false }], [value])), i);
    }
    t.equal(names.size, count);
    t.ok(names.partMax < (count / 256) * 3, `${name}: ${names.partMax}`);
  }
  t.end();
});
