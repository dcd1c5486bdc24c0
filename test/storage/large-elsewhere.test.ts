/**
 * Large commits that RocksDB takes on a thread of its own: what readers see meanwhile, and what an end in between
 * leaves.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { CachedEngine } from "../../src/storage/cached-engine.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { inSteps } from "../../src/storage/in-steps.js";
import { encodeKey } from "../../src/storage/key-codec.js";
import { rowPrefix } from "../../src/storage/keys.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import type { Operation } from "../../src/storage/operation.js";
import { packOperations } from "../../src/storage/packed-operations.js";
import { PackedWrites } from "../../src/storage/packed-writes.js";
import { type Binding, loadBinding } from "../../src/storage/rocksdb-binding.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import { RocksWriter } from "../../src/storage/rocksdb-writer.js";
import { Shard } from "../../src/storage/shard.js";
import type { ShardTransaction } from "../../src/storage/transaction.js";
import { INT8 } from "../../src/values/values.js";
import { SeededRandom } from "../simulation/seeded-random.js";
import { applyBacklog } from "./apply-backlog.js";
import { commit, directory, get, key, openShard, put, scan } from "./shards.js";

const ROWS = 40_000;
const TURNS = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: async () => {} };
/** As long a prefix as the rows of a table have. */
const name = (i: number): string => `k--------${String(i).padStart(6, "0")}`;

/** Puts or (null) deletes all rows by a load. */
async function load(tx: ShardTransaction, value: ((i: number) => string) | null): Promise<void> {
  const load = tx.beginLoad()!;
  const run = load.run(key("k"));
  for (let i = 0; i < ROWS; i++) load.add(run, key(name(i)), value === null ? null : key(value(i)));
  await inSteps(TURNS, load.sort());
  tx.attach(load);
}

async function commitLoads(shard: Shard, ...values: (((i: number) => string) | null)[]): Promise<void> {
  const tx = shard.begin();
  for (const value of values) await load(tx, value);
  await tx.prepareCommit(TURNS);
  tx.commit();
  shard.flush();
}

async function opened(path: string, segmentBytes?: number): Promise<Shard> {
  const rocks = await RocksEngine.open({ directory: join(path, "rocksdb") });
  return Shard.open({
    engine: new CachedEngine(rocks, 1_000_000),
    log: await FileCommitLog.open({
      directory: join(path, "log"),
      ...(segmentBytes !== undefined && { segmentBytes }),
    }),
  });
}

t.test("readers see one state throughout, whatever the engine has taken", async (t) => {
  const shard = await opened(directory(t));
  t.teardown(() => shard.close());
  await commitLoads(shard, (i) => `first ${i}`);
  await applyBacklog(shard);
  // In the record cache.
  for (const i of [1, 20_000, ROWS - 1]) t.equal(get(shard.begin({ readOnly: true }), name(i)), `first ${i}`);
  const before = shard.begin({ readOnly: true });
  // Two sources: what the first one removes, the second one puts again.
  await commitLoads(shard, null, (i) => `second ${i}`);
  commit(shard, [name(77), "later"]);
  shard.flush();
  const after = shard.begin({ readOnly: true });
  let looks = 0;
  const look = (): void => {
    looks++;
    for (const i of [0, 1, 77, 4095, 4096, 20_000, ROWS - 1]) {
      t.equal(get(before, name(i)), `first ${i}`);
      t.equal(get(after, name(i)), i === 77 ? "later" : `second ${i}`);
    }
    const low = name(19_998);
    t.same(scan(before, low, name(20_000)), [`${low}=first 19998`, `${name(19_999)}=first 19999`]);
    t.same(scan(after, low, name(20_000), true), [`${name(19_999)}=second 19999`, `${low}=second 19998`]);
  };
  const ended = applyBacklog(shard);
  while (shard.hasBacklog) {
    look();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await ended;
  look();
  t.ok(looks > 2, `${looks} looks`);
  before.rollback();
  after.rollback();
  t.equal(shard.appliedSequence, shard.committedSequence);
  for (const i of [0, 1, 77, ROWS - 1]) {
    t.equal(Buffer.from(shard.engine.get(key(name(i)))!).toString(), i === 77 ? "later" : `second ${i}`);
  }
});

t.test("a shard that is closed meanwhile has all of it when it is opened again", async (t) => {
  const path = directory(t);
  const shard = await opened(path);
  await commitLoads(shard, (i) => `value ${i}`);
  await shard.backlogReady();
  shard.applySome();
  t.ok(shard.hasBacklog);
  await shard.close();
  const again = await opened(path);
  t.teardown(() => again.close());
  t.equal(again.appliedSequence, 1);
  for (const i of [0, 20_000, ROWS - 1]) t.equal(get(again.begin(), name(i)), `value ${i}`);
});

/** The directory of a process that was killed while it replaced, or removed, all rows. */
async function killed(t: Test, what: "replace" | "remove"): Promise<string> {
  const path = directory(t);
  const target = fileURLToPath(new URL("./large-kill-target.js", import.meta.url));
  const child = spawn(process.execPath, [target, path, what], { stdio: ["ignore", "pipe", "inherit"] });
  let told = "";
  child.stdout.on("data", (data: Buffer) => {
    told += data;
    if (told.includes("last under way")) child.kill("SIGKILL");
  });
  await once(child, "close");
  return path;
}

t.test("killed in the middle", async (t) => {
  const path = await killed(t, "replace");
  const shard = await opened(path);
  t.teardown(() => shard.close());
  const tx = shard.begin({ readOnly: true });
  const values = new Set<string>();
  const cursor = tx.scan({ gte: key("k"), lt: key("l") });
  let rows = 0;
  for (let entries = cursor.next(1000); entries.keys.length > 0; entries = cursor.next(1000)) {
    rows += entries.keys.length;
    for (const value of entries.values) values.add(Buffer.from(value).toString());
  }
  t.equal(rows, ROWS);
  t.same([...values], ["3"], "it was durable before the engine took any of it");
});

t.test("killed while all rows are removed", async (t) => {
  const path = await killed(t, "remove");
  const shard = await opened(path);
  t.teardown(() => shard.close());
  const reader = shard.begin({ readOnly: true });
  t.same(scan(reader, "k", "l"), [], "none is there any more");
  const entries = shard.engine.entriesInMemory();
  if (!RocksWriter.pays) return t.pass("there is no other thread on one core");
  t.ok(entries < ROWS / 10, `the replay wrote ranges, not each deletion: ${entries} entries`);
});

t.test("the other thread gives memory back, which the next writes take", async (t) => {
  const engine = await RocksEngine.open({ directory: join(directory(t), "rocksdb") });
  t.teardown(() => engine.close());
  const allocate = Buffer.allocUnsafeSlow;
  let pieces = 0;
  Buffer.allocUnsafeSlow = (bytes) => {
    if (bytes >= 64 * 1024) pieces++;
    return allocate(bytes);
  };
  t.teardown(() => {
    Buffer.allocUnsafeSlow = allocate;
  });
  let written = 0;
  const next = (count: number): Operation[] =>
    Array.from({ length: count }, () => ({ key: key(name(written)), value: key(`${"long ".repeat(20)}${written++}`) }));
  // Shorter ones have what longer ones have left behind them.
  for (const count of [3000, 1000, 10, 0, 2999]) {
    if ((await engine.writeElsewhere([next(count)])) === null) return t.pass("there is no other thread on one core");
  }
  t.equal(pieces, 1, "one after the other");
  await Promise.all([3000, 2000, 3000].map((count) => engine.writeElsewhere([next(count)])));
  t.equal(pieces, 3, "three at once");
  await Promise.all([3000, 10, 1].map((count) => engine.writeElsewhere([next(count)])));
  t.equal(pieces, 3);
  const cursor = engine.cursor({ gte: key(""), lt: key("z") });
  const { keys, values } = cursor.next(2 * written);
  cursor.close();
  t.equal(keys.length, written);
  const isRight = (value: Uint8Array, i: number): boolean =>
    Buffer.from(value).toString() === `${"long ".repeat(20)}${i}`;
  t.ok(values.every(isRight), "each has its value");
});

t.test("deletions with nothing between them are written as ranges, and take nothing else with them", async (t) => {
  const all = Array.from({ length: 6000 }, (_, i) => name(i));
  const cases: { readonly what: string; readonly gone: (i: number) => boolean; readonly entriesMax: number }[] = [
    { what: "all", gone: () => true, entriesMax: 2 },
    { what: "all but one", gone: (i) => i !== 2500, entriesMax: 3 },
    { what: "the upper half", gone: (i) => i >= 3000, entriesMax: 1 },
    { what: "two runs far from each other", gone: (i) => i < 1500 || i >= 4500, entriesMax: 2 },
    { what: "three long runs with others between", gone: (i) => i % 2000 > 1, entriesMax: 4 },
    { what: "all but each thousandth", gone: (i) => i % 1000 !== 0, entriesMax: 6000 },
    { what: "each second", gone: (i) => i % 2 === 1, entriesMax: 3000 },
  ];
  const engine = await RocksEngine.open({ directory: join(directory(t), "rocksdb") });
  t.teardown(() => engine.close());
  for (const { what, gone, entriesMax } of cases) {
    engine.write(all.map((k) => ({ key: key(k), value: key("there") })));
    // Some are not there any more, and the last one has come again.
    engine.write([{ key: key(name(5555)), value: null }]);
    const deletions = all.filter((_, i) => gone(i)).map((k) => ({ key: key(k), value: null }));
    const again = { key: key(name(5999)), value: key("again") };
    const entries = await engine.writeElsewhere([deletions, [again]]);
    if (entries === null) return t.pass("there is no other thread on one core");
    t.ok(entries <= entriesMax + 1, `${what}: ${entries} entries`);
    const cursor = engine.cursor({ gte: key("k"), lt: key("l") });
    const { keys, values } = cursor.next(all.length + 1);
    cursor.close();
    const wanted = all.filter((_, i) => i === 5999 || (i !== 5555 && !gone(i)));
    t.same(
      keys.map((k) => Buffer.from(k).toString()),
      wanted,
      what,
    );
    t.equal(Buffer.from(values.at(-1)!).toString(), "again");
    const found = [
      await engine.greatestElsewhere({ gte: key("k"), lt: key(name(5999)) }),
      await engine.greatestElsewhere({ gte: key("k"), lt: key("l") }),
    ];
    const greatest = wanted.at(-2) ?? null;
    t.same(
      found.map((k) => k && Buffer.from(k).toString()),
      [greatest, name(5999)],
    );
    engine.clear({ gte: key("k"), lt: key("l") });
  }
});

t.test(
  "what stands between the rows of two tables is not taken with either, nor are there ranges without end",
  async (t) => {
    const path = directory(t);
    const binding = loadBinding();
    const db = binding.db_init(path);
    await new Promise<void>((resolve, reject) => {
      binding.db_open(db, { createIfMissing: true }, (error) => (error === null ? resolve() : reject(error)));
    });
    const prefixes = Array.from({ length: 6 }, (_, table) => `table ${table} `.padEnd(9, "-"));
    const rows = prefixes.map((prefix) =>
      Array.from({ length: 1024 }, (_, i) => ({ key: key(`${prefix}${String(i).padStart(4, "0")}`), value: null })),
    );
    const writes = new PackedWrites(binding, db, 4);
    t.equal(writes.write(packOperations([rows[0]!, rows[1]!])), 2, "one for each");
    t.equal(writes.write(packOperations(rows.slice(2))), 2 + 2 * 1024, "no more than four");
    await new Promise<void>((resolve) => binding.db_close(db, () => resolve()));
  },
);

t.test("deletions of every other entry look at few of those between them", async (t) => {
  const real = loadBinding();
  const db = real.db_init(directory(t));
  await new Promise<void>((resolve, reject) => {
    real.db_open(db, { createIfMissing: true }, (error) => (error === null ? resolve() : reject(error)));
  });
  let looks = 0;
  const binding: Binding = {
    ...real,
    iterator_nextv_sync: (iterator, max) => {
      const found = real.iterator_nextv_sync(iterator, max);
      looks += found.rows.length / 2;
      return found;
    },
  };
  const entries = Array.from({ length: 8192 }, (_, i) => key(`the table ${String(i).padStart(4, "0")}`));
  const writes = new PackedWrites(binding, db);
  writes.write(packOperations([entries.map((one) => ({ key: one, value: one }))]));
  const deleted = entries.filter((_, i) => i % 2 === 0).map((one) => ({ key: one, value: null }));
  t.equal(writes.write(packOperations([deleted])), deleted.length, "each is deleted by itself");
  t.ok(looks > 0 && looks <= 64, `entries looked at: ${looks}`);
  const left = real.iterator_init(db, { keyEncoding: "buffer", valueEncoding: "buffer" });
  t.equal(real.iterator_nextv_sync(left, entries.length).rows.length / 2, entries.length / 2);
  real.iterator_close(left);
  await new Promise<void>((resolve) => real.db_close(db, () => resolve()));
});

t.test("deletions of rows with consecutive numbers look at nothing between them", async (t) => {
  const real = loadBinding();
  const db = real.db_init(directory(t));
  await new Promise<void>((resolve, reject) => {
    real.db_open(db, { createIfMissing: true }, (error) => (error === null ? resolve() : reject(error)));
  });
  let looks = 0;
  const binding: Binding = {
    ...real,
    iterator_nextv_sync: (iterator, max) => {
      looks++;
      return real.iterator_nextv_sync(iterator, max);
    },
  };
  const columns = [{ type: INT8, descending: false, nullsFirst: false }];
  const rowOf = (storageId: number, id: number) => encodeKey(rowPrefix(7, storageId), columns, [BigInt(id)]);
  const textOf = (id: number) => Buffer.concat([rowPrefix(7, 3), Buffer.from(String(id)), Buffer.from([0, 1])]);
  const idsOf = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  const deleted = (keys: readonly Uint8Array[]) => packOperations([keys.map((one) => ({ key: one, value: null }))]);
  const put = (keys: readonly Uint8Array[]) => packOperations([keys.map((one) => ({ key: one, value: one }))]);
  const left = (): string[] => {
    const iterator = real.iterator_init(db, { keyEncoding: "buffer", valueEncoding: "buffer" });
    const { rows } = real.iterator_nextv_sync(iterator, 100_000);
    real.iterator_close(iterator);
    return rows.filter((_, i) => i % 2 === 0).map((one) => one.toString("hex"));
  };
  const hexOf = (keys: readonly Uint8Array[]) => keys.map((one) => Buffer.from(one).toString("hex"));
  const writes = new PackedWrites(binding, db);
  // Around 2 ** 16, where the digits carry over, and around 0, where the sign changes.
  const ids = idsOf(-3000, 70_000);
  writes.write(put(ids.map((id) => rowOf(1, id))));
  writes.write(put(ids.map((id) => rowOf(2, id))));
  t.equal(writes.write(deleted(idsOf(-2000, 66_000).map((id) => rowOf(1, id)))), 1, "one range");
  t.equal(looks, 0, "nothing is looked at");
  const kept = [...idsOf(-3000, -2000), ...idsOf(66_000, 70_000)].map((id) => rowOf(1, id));
  t.strictSame(left(), hexOf([...kept, ...ids.map((id) => rowOf(2, id))]));
  // One row stays in the middle: it is looked for, and found.
  writes.write(deleted([...idsOf(-3000, 100), ...idsOf(101, 70_000)].map((id) => rowOf(2, id))));
  t.ok(looks > 0, "where a number is missing, there is a look");
  t.strictSame(left(), hexOf([...kept, rowOf(2, 100)]));
  // Texts are no numbers, whatever lies between them.
  const texts = idsOf(10_000, 15_000).map(textOf);
  writes.write(put([...texts, textOf(12_345_678)].sort(Buffer.compare)));
  writes.write(deleted(texts));
  t.strictSame(left(), hexOf([...kept, rowOf(2, 100), textOf(12_345_678)]));
  await new Promise<void>((resolve) => real.db_close(db, () => resolve()));
});

t.test("whatever both threads write in turn, readers find it", async (t) => {
  // Each step of a cursor counts as slow, so that ranges without entries are kept.
  const engine = await RocksEngine.open({ directory: join(directory(t), "rocksdb"), slowStepMs: 0 });
  t.teardown(() => engine.close());
  const rows = 6000;
  const place = (i: number): Uint8Array => key(`table ${i % 2} ${String(i).padStart(5, "-")}`);
  const random = new SeededRandom(7);
  const there = new Map<string, string>();
  const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
  let value = "";
  /** Every `hole`th row of a stretch is put, or left as it is; the others are deleted. */
  const changed = (puts: boolean): Operation[] => {
    const from = random.below(rows);
    const to = from + random.below(rows - from);
    const hole = random.chance(0.3) ? rows : 1 + random.below(3000);
    const made: Operation[] = [];
    for (let i = from; i <= to; i++) {
      if (i % hole !== hole - 1) made.push({ key: place(i), value: null });
      else if (puts) made.push({ key: place(i), value: key(value) });
    }
    return made.sort((a, b) => Buffer.compare(a.key, b.key));
  };
  const note = (operations: readonly Operation[]): void => {
    for (const operation of operations) {
      if (operation.value === null) there.delete(textOf(operation.key));
      else there.set(textOf(operation.key), textOf(operation.value));
    }
  };
  for (let step = 0; step < 40; step++) {
    value = `value of step ${step}`;
    const puts = Array.from({ length: random.below(1500) }, (_, i) => ({
      key: place((step * 977 + i) % rows),
      value: key(value),
    }));
    engine.write(puts);
    note(puts);
    const parts = [changed(false), changed(true), changed(random.chance(0.5))];
    const written = engine.writeElsewhere(parts);
    if (written === null) return t.pass("there is no other thread on one core");
    // Meanwhile.
    engine.cursor({ gte: place(random.below(rows)), lt: key("u") }).close();
    await written;
    for (const part of parts) note(part);
    for (const reverse of [false, true]) {
      const [low, high] = [place(random.below(rows)), place(random.below(rows))];
      const cursor = engine.cursor({ gte: low, lt: high, reverse });
      const { keys, values } = cursor.next(random.chance(0.5) ? rows : 2);
      cursor.close();
      const all = [...there].filter(([text]) => text >= textOf(low) && text < textOf(high)).sort();
      const wanted = (reverse ? all.reverse() : all).slice(0, Math.max(2, keys.length));
      assert.deepEqual(
        keys.map((each, i) => [textOf(each), textOf(values[i]!)]),
        wanted,
        `step ${step}`,
      );
    }
    const some = Array.from({ length: 20 }, () => place(random.below(rows)));
    assert.deepEqual(
      engine.getMany(some).map((found) => found && textOf(found)),
      some.map((each) => there.get(textOf(each))),
    );
  }
});

t.test("the log keeps what a deletion of ranges has not brought to the engine's files", async (t) => {
  const shard = await opened(directory(t), 100_000);
  t.teardown(() => shard.close());
  await commitLoads(shard, (i) => `value ${i}`);
  await applyBacklog(shard);
  await commitLoads(shard, null);
  await applyBacklog(shard);
  t.same(scan(shard.begin({ readOnly: true }), "k", "l"), []);
  // So much of it that it is looked through.
  await commitLoads(shard, () => "x".repeat(120));
  t.equal(shard.log.firstSequence, 1, "all is still in memory");
});

/** An engine whose other thread does what the test says. */
class ToldEngine extends MemoryEngine {
  readonly waiting: { readonly done: () => void; readonly fail: (error: Error) => void }[] = [];

  writeElsewhere(parts: Parameters<NonNullable<RocksEngine["writeElsewhere"]>>[0]): Promise<number> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        for (const part of parts) this.write([...part]);
        resolve(parts.reduce((sum, part) => sum + part.length, 0));
      };
      this.waiting.push({ done, fail: reject });
    });
  }
}

async function withToldEngine(t: Test) {
  const engine = new ToldEngine();
  const failures: DbError[] = [];
  const applied: number[] = [];
  const shard = await openShard(t, { engine, onFailed: (error) => failures.push(error) });
  shard.onApplied = (operations) => applied.push(operations.length);
  await commitLoads(shard, (i) => `value ${i}`);
  await shard.backlogReady();
  applyReady(shard);
  return { engine, shard, failures, applied };
}

/** More steps than there can be until the other thread must answer. */
function applyReady(shard: Shard): void {
  for (let steps = 0; steps < 100; steps++) shard.applySome();
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

t.test("few writes wait for the other thread, and their followers hear of what it has done", async (t) => {
  const { engine, shard, applied } = await withToldEngine(t);
  t.equal(engine.waiting.length, 3);
  t.same(applied, []);
  const small = shard.begin();
  put(small, "another", "commit");
  small.commit();
  shard.flush();
  t.notOk(engine.get(key("another")), "later commits wait");
  for (let next = 0; shard.hasBacklog; next++) {
    engine.waiting[next]!.done();
    await tick();
    t.notOk(applied.length > 0 && next === 0, "followers hear of it in the steps, not when the answer comes");
    applyReady(shard);
  }
  t.equal(
    applied.reduce((sum, count) => sum + count),
    ROWS + 3,
    "rows, two sequences, and the commit that waited",
  );
  t.ok(engine.get(key("another")));
  t.equal(shard.appliedSequence, 2);
});

t.test("a write that fails there fails the shard", async (t) => {
  const { engine, shard, failures } = await withToldEngine(t);
  engine.waiting[0]!.fail(new DbError("partition_damaged"));
  await tick();
  t.equal(failures[0]?.code, "partition_damaged");
  t.notOk(shard.hasBacklog);
  engine.waiting[1]!.done();
  await tick();
  t.equal(shard.appliedSequence, 0);
  t.throws(() => shard.begin(), { code: "partition_unavailable" });
});
