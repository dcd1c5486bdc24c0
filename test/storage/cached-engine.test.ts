/** The record cache never shows: reads through it are those of the engine behind it, whatever was written. */
import fc from "fast-check";
import t from "tap";
import { CachedEngine } from "../../src/storage/cached-engine.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";

const key = (n: number): Buffer => Buffer.from([n]);

t.test("any order of reads and writes", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("get" as const), key: fc.nat(12) }),
    fc.record({
      kind: fc.constant("write" as const),
      puts: fc.uniqueArray(fc.tuple(fc.nat(12), fc.option(fc.uint8Array({ maxLength: 300 }))), {
        selector: ([k]) => k,
      }),
    }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 3000 }), (steps, bytesMax) => {
      const plain = new MemoryEngine();
      const cached = new CachedEngine(new MemoryEngine(), bytesMax);
      for (const s of steps) {
        if (s.kind === "write") {
          const operations = s.puts.map(([k, value]) => ({ key: key(k), value: value ?? null }));
          plain.write(operations);
          cached.write(operations);
        } else {
          const expected = plain.get(key(s.key));
          const got = cached.get(key(s.key));
          if ((expected === undefined) !== (got === undefined)) throw new Error("presence differs");
          if (expected !== undefined && Buffer.compare(expected, got!) !== 0) throw new Error("value differs");
        }
      }
    }),
    { numRuns: 500 },
  );
});

t.test("a value that was read is not asked for again until it changes", async (t) => {
  const engine = new MemoryEngine();
  let reads = 0;
  const get = engine.get.bind(engine);
  engine.get = (wanted) => {
    reads++;
    return get(wanted);
  };
  const cached = new CachedEngine(engine, 10_000);
  cached.write([{ key: key(1), value: Buffer.from("a") }]);
  cached.get(key(1));
  cached.get(key(1));
  t.equal(reads, 1);
  cached.write([{ key: key(1), value: Buffer.from("b") }]);
  t.equal(Buffer.from(cached.get(key(1))!).toString(), "b");
  t.equal(reads, 1, "a write to a cached key keeps it cached");
  cached.write([{ key: key(1), value: null }]);
  t.equal(cached.get(key(1)), undefined);
});
