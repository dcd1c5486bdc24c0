/** Large messages between processes come out as they went in, and no small message is large. */

import { isDeepStrictEqual } from "node:util";
import { deserialize, serialize } from "node:v8";
import t from "tap";
import { Assembly, smallMessages } from "../../src/query/expr/sent-pieces.js";

const BIG_TEXT = "äb".repeat(900_000);
const BYTES = Uint8Array.from({ length: 1_300_000 }, (_, i) => i % 251);

const MESSAGES: Record<string, unknown> = {
  "a small one": { value: 7n },
  "nothing at all": undefined,
  "a long text": { value: BIG_TEXT },
  "long bytes": { leaves: [BYTES, null, "x", 1.5, true] },
  "vectors and numbers": { leaves: [Float32Array.of(1, 2, 3), { unscaled: 10n ** 40n, scale: 3, special: null }] },
  "many long ones": { list: { parts: Array.from({ length: 900 }, (_, i) => BYTES.subarray(i, i + 5000 + i)) } },
  "within each other": { keys: { parts: [{ text: BIG_TEXT }, { list: { parts: [{ json: `"${BIG_TEXT}"` }] } }] } },
};

/** With bytes as text: a Buffer is as good as a Uint8Array. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  return Object.entries(value).map(([name, item]) => [name, plain(item)]);
}

t.test("messages are whole again, one after the other", async (t) => {
  const assembly = new Assembly();
  for (const [name, message] of Object.entries(MESSAGES)) {
    const sizes: number[] = [];
    let whole: unknown;
    for (const small of smallMessages(message)) {
      const bytes = serialize(small);
      sizes.push(bytes.length);
      t.equal(whole, undefined);
      whole = assembly.take(deserialize(bytes));
    }
    t.ok(isDeepStrictEqual(plain(whole), plain(message)), name);
    t.ok(Math.max(...sizes) < 1_200_000, `${name}: at most ${Math.max(...sizes)} bytes`);
  }
});
