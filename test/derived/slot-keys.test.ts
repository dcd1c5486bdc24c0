/** Keys by slots and slots by keys: what a Map and an array say, in parts of about the same length. */
import fc from "fast-check";
import t from "tap";
import { SlotKeys } from "../../src/derived/slot-keys.js";
import { encodeKey } from "../../src/storage/key-codec.js";
import { keyText } from "../../src/storage/ordered-map.js";
import { INT4, INT8, type SqlType, TEXT, UUID, type Value } from "../../src/values/values.js";

const PREFIX = Buffer.from("p");

t.test("the same as a Map", async () => {
  const step = fc.record({ name: fc.integer({ min: 0, max: 40 }), kind: fc.constantFrom("set", "delete", "get") });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const model = new Map<string, number>();
      const keys = new SlotKeys();
      const free: number[] = [];
      let [next, bytes] = [0, keys.bytes];
      return steps.every(({ name, kind }) => {
        const text = "\xff\x00".repeat(name % 3) + name + "long".repeat(name * 5);
        const before = model.get(text);
        if (kind !== "get" && before !== undefined) {
          model.delete(text);
          keys.delete(before, text);
          free.push(before);
        }
        if (kind === "set") {
          // Some slots are passed over.
          if (free.length === 0) {
            next += 100;
            free.push(next);
          }
          const slot = free.shift()!;
          model.set(text, slot);
          keys.set(slot, text);
        }
        const isLarger = keys.bytes >= bytes;
        bytes = keys.bytes;
        const isSame = [...model].every(
          ([each, slot]) =>
            keys.slotOf(each) === slot && keys.at(slot) === each && keyText(keys.keyAt(slot, PREFIX)) === `p${each}`,
        );
        const characters = [...model.keys()].reduce((sum, { length }) => sum + length, 0);
        const areFree =
          free.every((slot) => keys.at(slot) === null && !keys.isUsed(slot)) && keys.at(next + 1) === null;
        const isCounted =
          [...model.values()].every((slot) => keys.isUsed(slot)) &&
          keys.size === model.size &&
          keys.characters === characters;
        return isSame && areFree && isCounted && (isLarger || kind !== "get") && keys.slotOf("other") === undefined;
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
    const names = new SlotKeys();
    for (let i = 0; i < count; i++) {
      const [type, value] = numbered(i)[name]!;
      names.set(i, keyText(encodeKey(Buffer.alloc(0), [{ type, descending: false, nullsFirst: false }], [value])));
    }
    t.equal(names.size, count);
    t.ok(names.partMax < (count / 256) * 3, `${name}: ${names.partMax}`);
  }
  t.end();
});
