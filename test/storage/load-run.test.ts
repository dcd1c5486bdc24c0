/** Runs of a load: sorted as a stable sort by bytes would, and copied into the log as they are. */
import fc from "fast-check";
import t from "tap";
import { inSteps } from "../../src/storage/in-steps.js";
import { Load } from "../../src/storage/load.js";
import { LoadRun } from "../../src/storage/load-run.js";
import type { Operation } from "../../src/storage/operation.js";
import { packOperations, unpackOperations } from "../../src/storage/packed-operations.js";
import { partsOfRun } from "../../src/storage/sorted-run.js";
import { tries } from "../lengths.js";

const TURNS = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: async () => {} };
const PREFIX = Buffer.from("prefix");

/** The run's writes in key order, as hexadecimal keys with the number of each. */
function sorted(keys: readonly Uint8Array[]): string[] {
  const run = new LoadRun(PREFIX);
  for (const [i, key] of keys.entries()) run.add(Buffer.concat([PREFIX, key]), Buffer.from(String(i)));
  inSteps(TURNS, run.sort());
  return Array.from({ length: run.size }, (_, place) => {
    const { key, value } = run.operationAt(place);
    return `${Buffer.from(key).toString("hex")} ${Buffer.from(value!)}`;
  });
}

function expected(keys: readonly Uint8Array[]): string[] {
  return keys
    .map((key, i) => ({ key: Buffer.concat([PREFIX, key]), i }))
    .sort((a, b) => Buffer.compare(a.key, b.key) || a.i - b.i)
    .map(({ key, i }) => `${key.toString("hex")} ${i}`);
}

t.test("keys of any bytes and lengths", async (t) => {
  // Few different bytes, zeros among them: many keys are alike for long, or end where others go on with zeros.
  const bytes = fc.array(fc.constantFrom(0, 1, 127, 128, 255), { maxLength: 40 });
  const common = fc.constantFrom("", "a", "common beginning of many keys ", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
  const key = fc.tuple(common, bytes).map(([text, rest]) => Buffer.concat([Buffer.from(text), Buffer.from(rest)]));
  fc.assert(
    fc.property(fc.array(key, { minLength: 2, maxLength: 400, size: "max" }), (keys) => {
      t.same(sorted(keys), expected(keys));
    }),
    { numRuns: tries(60) },
  );
});

t.test("many keys of the shapes that indexes have", async (t) => {
  const numbers = Array.from({ length: 30_000 }, (_, i) => (i * 7919) % 10_007);
  const fixed = numbers.map((number) => {
    const key = Buffer.alloc(10);
    key[0] = 1;
    key.writeUInt32BE(number, 1);
    key[5] = 1;
    key.writeUInt32BE(number >>> 3, 6);
    return key;
  });
  t.same(sorted(fixed), expected(fixed));
  const texts = numbers.map((number) =>
    Buffer.from(`https://example.com/${number % 3 === 0 ? "a/long/way/down/" : ""}${number}\0\x01`),
  );
  t.same(sorted(texts), expected(texts));
  // Few bytes differ, far from each other, and some keys end where others go on with zeros.
  const apart = numbers.map((number) => {
    const key = Buffer.alloc(20 + (number % 50), number % 3 === 0 ? 0 : 7);
    for (const at of [0, 3, 9, 17, 30, 60]) if (at < key.length) key[at] = (number >>> (at % 7)) & 3;
    return key;
  });
  t.same(sorted(apart), expected(apart));
  const same = numbers.map(() => Buffer.from("always the same, and longer than what is looked at at once"));
  t.same(sorted(same), expected(same));
  const long = numbers.slice(0, 3000).map((number) => Buffer.from(`${"long and the same ".repeat(20)}${number % 997}`));
  t.same(sorted(long), expected(long));
});

function unpacked(packed: Uint8Array<ArrayBuffer>): Operation[] {
  const operations: Operation[] = [];
  unpackOperations(packed, (key, value) => operations.push({ key, value }));
  return operations;
}

t.test("parts of a run have all of its writes, in order", async (t) => {
  const run = new LoadRun(PREFIX);
  const keys = Array.from({ length: 1000 }, (_, i) => Buffer.concat([PREFIX, Buffer.from(`${(i * 37) % 1000}`)]));
  for (const [i, key] of keys.entries()) run.add(key, i % 5 === 0 ? null : Buffer.alloc(i % 70, i));
  inSteps(TURNS, run.sort());
  let place = 0;
  for (const part of partsOfRun(run, 64, 500)) {
    t.ok(part.length <= 64);
    let bytes = 0;
    for (const operation of part) {
      t.same(operation, run.operationAt(place));
      const length = operation.key.length + (operation.value?.length ?? 0);
      bytes += length;
      place++;
    }
    t.equal(part.bytes, bytes);
    t.same(unpacked(packOperations([part])), [...part]);
  }
  t.equal(place, run.size);
});

t.test("frames of a run that was filled in order are copied across slabs", async (t) => {
  const run = new LoadRun(PREFIX);
  const value = (i: number) => (i % 7 === 0 ? null : Buffer.alloc((i * 131) % 3000, i));
  for (let i = 0; i < 1000; i++) run.add(Buffer.concat([PREFIX, Buffer.from(String(10_000 + i))]), value(i));
  t.ok(run.isSorted);
  const parts = [...partsOfRun(run, 1000, 2 ** 30)];
  t.equal(parts.length, 1);
  t.same(
    unpacked(packOperations(parts)),
    Array.from({ length: 1000 }, (_, i) => run.operationAt(i)),
  );
});

t.test("a run that takes the memory of another one has its own writes only", async (t) => {
  // More than a block of either has.
  const count = 100_000;
  const fill = (run: LoadRun, salt: number): void => {
    for (let i = 0; i < count; i++) {
      const key = Buffer.from(`${String(i).padStart(6, "0")}${i % 5 === salt ? "longer" : ""}`);
      run.add(Buffer.concat([PREFIX, key]), i % 11 === salt ? null : Buffer.from(`${salt} ${i}`));
    }
  };
  const first = new LoadRun(PREFIX);
  fill(first, 1);
  const spare = first.takeMemory();
  const [slabs, blocks] = [spare.slabs.length, spare.blocks.length];
  const second = new LoadRun(PREFIX, spare);
  fill(second, 2);
  t.ok(spare.slabs.length < slabs && spare.blocks.length < blocks, "it is used");
  const fresh = new LoadRun(PREFIX);
  fill(fresh, 2);
  t.equal(second.size, fresh.size);
  t.equal(second.deletions, fresh.deletions);
  for (let i = 0; i < count; i += 97) t.same(second.operationAt(i), fresh.operationAt(i));
  t.same(unpacked(packOperations([...partsOfRun(second, count, 2 ** 30)])).length, count);
});

t.test("sorted runs that are merged", async (t) => {
  const bytes = fc.array(fc.constantFrom(0, 1, 128, 255), { maxLength: 12 });
  const common = fc.constantFrom("", "a", "begins alike ", "\0\0\0\0\0\0\0\0");
  const key = fc.tuple(common, bytes).map(([text, rest]) => Buffer.concat([Buffer.from(text), Buffer.from(rest)]));
  fc.assert(
    fc.property(fc.array(fc.array(key, { maxLength: 60 }), { minLength: 1, maxLength: 4 }), (lists) => {
      const merged = new LoadRun(PREFIX);
      const parts = lists.map((keys, part) => {
        const run = new LoadRun(PREFIX);
        for (const [i, key] of keys.entries()) run.add(Buffer.concat([PREFIX, key]), Buffer.from(`${part} ${i}`));
        inSteps(TURNS, run.sort());
        return run.pack();
      });
      inSteps(TURNS, merged.merge(parts));
      const taken = new LoadRun(PREFIX);
      taken.takeOver(merged.pack());
      const wanted = lists
        .flatMap((keys, part) => keys.map((key, i) => ({ key: Buffer.concat([PREFIX, key]), value: `${part} ${i}` })))
        .map((one, i) => ({ ...one, i }))
        .sort((a, b) => Buffer.compare(a.key, b.key) || a.i - b.i);
      const found = Array.from({ length: taken.size }, (_, place) => taken.operationAt(place));
      t.same(
        found.map(({ key, value }) => [Buffer.from(key).toString("hex"), Buffer.from(value!).toString()]),
        wanted.map(({ key, value }) => [key.toString("hex"), value]),
      );
      const repeated = wanted.findIndex(({ key }, i) => i > 0 && key.equals(wanted[i - 1]!.key));
      t.equal(taken.firstRepeated(1, Math.max(1, taken.size)), repeated, "the first key that is there twice");
      const copied = [...partsOfRun(taken, 7, 1e6)].flatMap((part) => unpacked(packOperations([part])));
      t.same(copied, found, "frames as the log has them");
    }),
    { numRuns: tries(100) },
  );
});

t.test("numbered keys: the values go into their places, in one slab after the other, in order", async (t) => {
  const sizes = Int32Array.from({ length: 4000 }, (_, i) => (i * 7919) % 300);
  // One alone is longer than a slab.
  sizes[1500] = 600_000;
  const first = 2 ** 32 - 1000;
  const load = new Load(0, 1e9);
  const run = load.run(PREFIX);
  const places = new Int32Array(sizes.length);
  let groups = 0;
  for (let from = 0; from < sizes.length; groups++) {
    const end = load.addNumbered(run, first + from, { sizes, places }, from, sizes.length);
    for (let i = from; i < end; i++) run.slab!.bytes.fill(i & 255, places[i], places[i]! + sizes[i]!);
    from = end;
  }
  t.ok(groups > 3, `${groups} groups`);
  t.equal(run.size, sizes.length);
  t.ok(run.isInOrder);
  const other = new Load(0, 1e9);
  const single = other.run(PREFIX);
  for (const [i, size] of sizes.entries()) {
    const key = Buffer.concat([PREFIX, Buffer.alloc(8)]);
    key.writeBigUInt64BE(BigInt(first + i), PREFIX.length);
    other.add(single, key, Buffer.alloc(size, i & 255));
  }
  const bytesOf = (one: LoadRun) => Buffer.from(packOperations([...partsOfRun(one, 1000, 1e6)]));
  t.ok(bytesOf(run).equals(bytesOf(single)));
  t.equal(load.bytes, other.bytes);
});

t.test("numbered keys throw past the load's bound", async (t) => {
  const load = new Load(0, 1000);
  const values = { sizes: new Int32Array(100).fill(20), places: new Int32Array(100) };
  t.throws(() => load.addNumbered(load.run(PREFIX), 1, values, 0, 100), /exceed/);
});
