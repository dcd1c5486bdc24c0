/** The table of ids in an import of a graph. */
import t from "tap";
import { NO_NODE, NodeIds } from "../../../src/features/import/graph/node-ids.js";

/** What stands in front of a number that is another id then. */
const OTHERS = ["0", "-", "+", " ", "1e", "9007199254740993"] as const;

t.test("ids are found as bytes, once each", async (t) => {
  let reserved = 0;
  const ids = new NodeIds((bytes) => {
    reserved += bytes;
  });
  const known = new Map<string, number>();
  for (let i = 1; i <= 60_000; i++) {
    // Beginnings, ends and repetitions of each other, the empty id among them.
    const number = String((i * 7919) % 50_000);
    const text = i % 5 === 0 ? "é".repeat(i % 90) : i % 7 === 0 ? `${OTHERS[i % OTHERS.length]}${number}` : number;
    const bytes = Buffer.from(`<${text}>`);
    const isNew = ids.add(bytes, 1, bytes.length - 1, i);
    if (isNew === known.has(text)) t.fail(`${text}: ${isNew}`);
    if (isNew) known.set(text, i);
  }
  const wrong = [...known].filter(([text, node]) => {
    const bytes = Buffer.from(text);
    return ids.find(bytes, 0, bytes.length) !== node;
  });
  t.same(wrong, []);
  t.equal(ids.find(Buffer.from("50001"), 0, 5), NO_NODE);
  t.equal(ids.find(Buffer.from("1234567"), 0, 0), known.get("") ?? NO_NODE);
  t.ok(reserved > 20 * known.size && reserved < 120 * known.size, `${reserved} bytes for ${known.size}`);
});

t.test("there is no more memory than the statement may have", async (t) => {
  let left = 50_000;
  const ids = new NodeIds((bytes) => {
    left -= bytes;
    if (left < 0) throw new Error("out of memory");
  });
  t.throws(() => {
    for (let i = 1; i < 10_000; i++) ids.add(Buffer.from(String(i)), 0, String(i).length, i);
  }, /out of memory/);
});
