/** The record cache never shows: reads through it are those of the engine behind it, whatever was written. */
import fc from "fast-check";
import t from "tap";
import { CachedEngine } from "../../src/storage/cached-engine.js";
import { FramedPart } from "../../src/storage/framed-part.js";
import { prefixRange, rowPrefix } from "../../src/storage/keys.js";
import { LoadRun } from "../../src/storage/load-run.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { packOperations, type WrittenPart } from "../../src/storage/packed-operations.js";
import { partsOfRun } from "../../src/storage/sorted-run.js";
import { NO_ENTRIES } from "../../src/storage/store.js";

/** As if it had another thread. */
class ElsewhereEngine extends MemoryEngine {
  writeElsewhere(parts: readonly WrittenPart[]): Promise<number> {
    for (const part of parts) this.write([...part]);
    return Promise.resolve(parts.reduce((sum, part) => sum + part.length, 0));
  }
}

type Puts = readonly (readonly [number, Uint8Array | null])[];

/** Writes to one of the tables. */
function loadOf(table: number, puts: Puts): LoadRun {
  const run = new LoadRun(rowPrefix(1, table));
  for (const [k, value] of puts) run.add(Buffer.concat([rowPrefix(1, table), Buffer.from([k])]), value);
  for (const _step of run.sort());
  return run;
}

/** Even numbers are keys of rows in three tables, odd ones other keys. */
const key = (n: number): Buffer =>
  n % 2 === 1 ? Buffer.from([n]) : Buffer.concat([rowPrefix(1, n % 3), Buffer.from([n])]);

t.test("any order of reads and writes", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("get" as const), key: fc.nat(24) }),
    fc.record({ kind: fc.constant("clear" as const), table: fc.nat(2) }),
    fc.record({
      kind: fc.constant("write" as const),
      puts: fc.uniqueArray(fc.tuple(fc.nat(24), fc.option(fc.uint8Array({ maxLength: 300 }))), {
        selector: ([k]) => k,
      }),
    }),
    fc.record({
      kind: fc.constant("load" as const),
      isFramed: fc.boolean(),
      table: fc.nat(2),
      puts: fc.uniqueArray(fc.tuple(fc.nat(24), fc.option(fc.uint8Array({ maxLength: 300 }))), {
        selector: ([k]) => k,
      }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 3000 }), async (steps, bytesMax) => {
      const plain = new MemoryEngine();
      const cached = new CachedEngine(new ElsewhereEngine(), bytesMax);
      for (const s of steps) {
        if (s.kind === "clear") {
          for (const engine of [plain, cached]) engine.clear(prefixRange(rowPrefix(1, s.table)));
          continue;
        }
        if (s.kind === "load") {
          const parts = [...partsOfRun(loadOf(s.table, s.puts), 4, 1000)];
          for (const part of parts) plain.write([...part]);
          const frames = Buffer.from(packOperations(parts));
          await cached.writeElsewhere(s.isFramed ? [new FramedPart(frames, s.puts.length)] : parts);
          continue;
        }
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

t.test("a row above all others of its table is known not to be there", async (t) => {
  const engine = new MemoryEngine();
  let reads = 0;
  const get = engine.get.bind(engine);
  engine.get = (wanted) => {
    reads++;
    return get(wanted);
  };
  const row = (n: number) => Buffer.concat([rowPrefix(1, 7), Buffer.from([n])]);
  const cached = new CachedEngine(engine, 10_000);
  cached.write([{ key: row(5), value: Buffer.from("five") }]);
  t.equal(cached.get(row(6)), undefined);
  t.equal(reads, 1, "the first of a table is looked up");
  t.equal(cached.get(row(7)), undefined);
  t.equal(reads, 1);
  cached.write([{ key: row(9), value: Buffer.from("nine") }]);
  t.equal(cached.get(row(8)), undefined);
  t.equal(reads, 2, "below the greatest");
  t.equal(Buffer.from(cached.get(row(9))!).toString(), "nine");
  cached.write([{ key: row(9), value: null }]);
  t.equal(cached.get(row(9)), undefined);
});

t.test("a greatest key that takes several looks is come closer to, until they come to nothing", async (t) => {
  const engine = new MemoryEngine();
  const asked: number[] = [];
  const row = (n: number) => Buffer.concat([rowPrefix(1, 7), Buffer.from([n])]);
  engine.get = (wanted) => {
    asked.push(wanted.at(-1)!);
    return undefined;
  };
  const bounds = [row(90), row(50), row(20), row(20)];
  let looks = 0;
  engine.cursor = () => {
    const at = bounds[Math.min(looks++, bounds.length - 1)]!;
    return { next: () => NO_ENTRIES, step: () => null, at, close: () => undefined };
  };
  const cached = new CachedEngine(engine, 10_000);
  for (const n of [30, 91, 30, 51, 30, 30, 21, 10, 10]) t.equal(cached.get(row(n)), undefined);
  t.same(asked, [30, 30, 30, 10, 10], "what is above is known not to be there");
  t.equal(looks, 4, "the last look came no closer");
});
