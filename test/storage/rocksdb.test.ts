/** The shard on real files: RocksDB, the commit log and the format version of a directory. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import t, { type Test } from "tap";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { checkShardDirectory, createShardDirectory, FORMAT_VERSION, markOpened } from "../../src/storage/format.js";
import { KnownGaps } from "../../src/storage/known-gaps.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { commit, content, directory, get, key, openShard, rows } from "./shards.js";

const all = { gte: Buffer.alloc(0), lt: Buffer.of(0xff) };

async function onFiles(t: Test, path: string) {
  const engine = await RocksEngine.open({ directory: join(path, "rocksdb") });
  return openShard(t, {
    engine,
    log: await FileCommitLog.open({ directory: join(path, "log"), segmentBytes: 20_000 }),
  });
}

t.test("a shard comes back after it was closed", async (t) => {
  const path = directory(t);
  const shard = await onFiles(t, path);
  for (let i = 0; i < 50; i++) {
    commit(shard, [`k${i % 9}`, String(i)], ["empty", ""], ["z", "x".repeat(3000)]);
    shard.flush();
  }
  const before = content(shard);
  await shard.close();
  const reopened = await onFiles(t, path);
  t.same(content(reopened), before);
  t.equal(reopened.durableSequence, 50);
  t.ok(readdirSync(join(path, "log")).length > 3);
});

t.test("what a close leaves is in files, so that the next start need not read much of RocksDB's own log", async (t) => {
  const path = directory(t);
  const value = Buffer.alloc(1000, "x");
  const bytesOfLogs = () =>
    readdirSync(path)
      .filter((name) => name.endsWith(".log"))
      .reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
  const fill = async (rows: number, filesAtClose = true) => {
    const engine = await RocksEngine.open({ directory: path, filesAtClose });
    for (let i = 0; i < rows; i += 100)
      engine.write(Array.from({ length: 100 }, (_, j) => ({ key: Buffer.from(`${rows}/${i + j}`), value })));
    await engine.close();
  };
  await fill(1000);
  t.ok(bytesOfLogs() > 1_000_000, "a little stays in the log");
  await fill(20_000, false);
  t.ok(bytesOfLogs() > 20_000_000, "all of it does where somebody waits for the close");
  await fill(30_000);
  t.ok(bytesOfLogs() < 10_000, `${bytesOfLogs()} bytes of logs`);
  const engine = await RocksEngine.open({ directory: path });
  const cursor = engine.cursor(all);
  t.equal(cursor.next(100_000).keys.length, 51_000);
  cursor.close();
  await engine.close();
});

t.test("segments that a trim left below a gap do not end the log", async (t) => {
  const path = directory(t);
  const shard = await openShardOnDisk(path, {});
  for (let i = 1; i <= 97; i++) {
    commit(shard, [`k${i}`, "in the engine"]);
    shard.flush();
  }
  await shard.close();
  const place = join(path, "log");
  rmSync(place, { recursive: true });
  const log = await FileCommitLog.open({ directory: place, segmentBytes: 1000 });
  for (let sequence = 1; sequence <= 100; sequence++) {
    log.append([{ sequence, micros: sequence, operations: [{ key: key(`k${sequence}`), value: Buffer.alloc(10) }] }]);
  }
  await log.sync();
  const names = readdirSync(place).sort();
  for (const name of names.slice(2, -1)) rmSync(join(place, name));
  const reopened = await openShardOnDisk(path, {});
  t.equal(reopened.committedSequence, 100, "what the engine lacks is replayed");
  t.same(readdirSync(place), names.slice(-1));
  await reopened.close();
});

t.test("a killed process loses no durable commit and splits none", async (t) => {
  const path = directory(t);
  let durable = 0;
  for (let life = 0; life < 3; life++) {
    const target = fileURLToPath(new URL("./kill-target.js", import.meta.url));
    const child = spawn(process.execPath, [target, path], { stdio: ["ignore", "pipe", "inherit"] });
    const goal = durable + 200;
    for await (const chunk of child.stdout) {
      const lines = String(chunk).split("\n");
      durable = Math.max(durable, ...lines.slice(0, -1).map(Number));
      if (durable >= goal) child.kill("SIGKILL");
    }
    const shard = await onFiles(t, path);
    const sequence = shard.committedSequence;
    t.ok(sequence >= goal && sequence >= durable);
    const reader = shard.begin({ readOnly: true });
    t.same([get(reader, "counter"), get(reader, "twin")], [String(sequence), String(sequence)]);
    t.equal(content(shard).filter((row) => row.startsWith("row")).length, Math.min(sequence, 998));
    reader.rollback();
    await shard.close();
  }
});

t.test("a range is removed at once, and stays so", async (t) => {
  const path = directory(t);
  const settings = { directory: join(path, "rocksdb") };
  const engine = await RocksEngine.open(settings);
  const at = (n: number) => Buffer.from([7, n >> 8, n & 255]);
  const entries = (from: RocksEngine) =>
    from
      .cursor(all)
      .next(10_000)
      .keys.map((each) => Buffer.from(each));
  engine.write(Array.from({ length: 2000 }, (_, n) => ({ key: at(n), value: Buffer.from(`value ${n}`) })));
  const before = engine.cursor({ gte: at(500), lt: at(1500) });
  engine.clear({ gte: at(500), lt: at(1500) });
  t.equal(before.next(10_000).keys.length, 1000, "a cursor sees what it saw");
  before.close();
  t.equal(entries(engine).length, 1000);
  t.equal(engine.get(at(500)), undefined);
  t.same(engine.get(at(1500)), Buffer.from("value 1500"));
  engine.write([{ key: at(700), value: Buffer.from("again") }], true);
  await engine.close();
  const reopened = await RocksEngine.open(settings);
  t.teardown(() => reopened.close());
  t.same(reopened.get(at(700)), Buffer.from("again"));
  t.equal(entries(reopened).length, 1001);
});

t.test("a directory that is in use is refused with advice", async (t) => {
  const path = directory(t);
  const engine = await RocksEngine.open({ directory: path });
  await t.rejects(RocksEngine.open({ directory: path }), { message: /in use by another server.*Stop/ });
  await engine.close();
  const next = await RocksEngine.open({ directory: path });
  await next.close();
});

t.test("a closed engine answers with an error, also through a cursor that was open", async (t) => {
  const engine = await RocksEngine.open({ directory: directory(t) });
  engine.write([{ key: key("a"), value: key("1") }]);
  const cursor = engine.cursor(all);
  const other = engine.cursor(all);
  await engine.close();
  for (const call of [
    () => engine.get(key("a")),
    () => engine.cursor(all),
    () => engine.write([]),
    () => engine.entriesInMemory(),
    () => cursor.next(1),
  ]) {
    t.throws(call, { code: "shutting_down" });
  }
  cursor.close();
  other.close();
  await engine.close();
});

t.test("a cursor sees the moment it was opened, in both directions and within its bounds", async (t) => {
  const engine = await RocksEngine.open({ directory: directory(t) });
  t.teardown(() => engine.close());
  engine.write(["a", "b", "c", "d"].map((name) => ({ key: key(name), value: key("1") })));
  const forward = engine.cursor({ gte: key("a"), lt: key("d") });
  const backward = engine.cursor({ gte: key("b"), lt: key("e"), reverse: true });
  const nothing = engine.cursor({ gte: key("d"), lt: key("a") });
  engine.write([
    { key: key("bb"), value: key("2") },
    { key: key("c"), value: null },
  ]);
  t.same([...rows(forward, 2), ...rows(forward, 2), ...rows(forward, 2)], ["a=1", "b=1", "c=1"]);
  t.same(rows(backward, 9), ["d=1", "c=1", "b=1"]);
  t.same(rows(nothing), []);
  t.same(rows(engine.cursor(all)), ["a=1", "b=1", "bb=2", "d=1"]);
  t.equal(engine.entriesInMemory(), 6);
  const memory = new MemoryEngine();
  memory.write(["a", "b", "bb", "d"].map((name) => ({ key: key(name), value: key("1") })));
  for (const [name, either] of Object.entries({ engine, memory })) {
    const onwards = either.cursor({ gte: key("a"), lt: key("d") });
    t.equal(onwards.next(1).keys.length, 1);
    t.equal(onwards.seek?.(key("ba")), true);
    t.same(onwards.next(9).keys, [key("bb")], `${name}: goes on where it is told to, within its bounds`);
    t.equal(onwards.seek?.(key("c")), false, `${name}: not when it is at its end`);
    const back = either.cursor({ gte: key("b"), lt: key("e"), reverse: true });
    t.equal(back.next(1).keys.length, 1);
    t.equal(back.seek?.(key("ba")), true);
    t.same(back.next(9).keys, [key("b")], `${name}: also backwards`);
    const beyond = either.cursor({ gte: key("a"), lt: key("c") });
    t.equal(beyond.next(1).keys.length, 1);
    t.equal(beyond.seek?.(key("c")), true);
    t.same(beyond.next(9).keys, [], `${name}: there is nothing behind its bounds`);
  }
});

t.test("the format version is written once and checked ever after", async (t) => {
  const path = join(directory(t), "new", "shard");
  const check = () => checkShardDirectory(path, null);
  check();
  const file = join(path, "FORMAT");
  t.match(JSON.parse(readFileSync(file, "utf8")), { product: "tessera", format: FORMAT_VERSION });
  mkdirSync(join(path, "log"));
  t.doesNotThrow(check);
  const cases: [string, RegExp][] = [
    ['{"product":"tessera","format":99}', /version 99; this server reads \d+\. Start the newer server/],
    ['{"product":"tessera","format":0}', /Start the server, which brings it up to date/],
    ['{"product":"other","format":1}', /FORMAT is damaged: restore/],
    ["{", /FORMAT is damaged: restore/],
  ];
  for (const [text, message] of cases) {
    writeFileSync(file, text);
    t.throws(check, { message });
  }
  const foreign = directory(t);
  writeFileSync(join(foreign, "holiday.jpg"), "");
  const refused = { message: /no FORMAT file but holds other files \(holiday.jpg\)/ };
  t.throws(() => checkShardDirectory(foreign, null), refused);
});

t.test("a directory that is known to an installation is never made anew by itself", async (t) => {
  const path = join(directory(t), "partition-3");
  const identity = { installation: "a", partition: 3 };
  const check = () => checkShardDirectory(path, identity);
  t.throws(check, { code: "partition_damaged", message: /is gone.*tessera accept-loss 3/ });
  mkdirSync(path);
  t.throws(check, { code: "partition_damaged", message: /is empty/ });
  createShardDirectory(path, identity);
  t.doesNotThrow(check, "one that was never opened has nothing to miss");
  await markOpened(path);
  t.throws(check, { code: "partition_damaged", message: /CURRENT is gone/ });
  mkdirSync(join(path, "rocksdb"));
  writeFileSync(join(path, "rocksdb", "CURRENT"), "");
  t.throws(check, { code: "partition_damaged", message: /log is gone/ });
  mkdirSync(join(path, "log"));
  t.doesNotThrow(check);
  for (const other of [
    { installation: "b", partition: 3 },
    { installation: "a", partition: 2 },
  ]) {
    t.throws(() => checkShardDirectory(path, other), { code: "partition_damaged", message: /Restore the right one/ });
  }
});

t.test("keys whose values RocksDB does not give together are read in parts", async (t) => {
  const engine = await RocksEngine.open({ directory: join(directory(t), "rocksdb") });
  t.teardown(() => engine.close());
  const keys = Array.from({ length: 11 }, (_, i) => key(`k${i}`));
  engine.write(keys.filter((_, i) => i !== 4).map((one) => ({ key: one, value: one })));
  const { binding } = engine as unknown as { binding: { db_get_many_sync: (...args: unknown[]) => unknown[] } };
  const read = binding.db_get_many_sync;
  let most = 3;
  binding.db_get_many_sync = (db, asked, ...rest) => {
    const some = asked as unknown[];
    return some.length > most ? some.map(() => null) : read(db, asked, ...rest);
  };
  try {
    const expected = keys.map((one, i) => (i === 4 ? undefined : one.toString()));
    t.same(
      engine.getMany(keys).map((value) => value && Buffer.from(value).toString()),
      expected,
    );
    most = 0;
    t.throws(() => engine.getMany(keys), { message: "too much data in one read" });
  } finally {
    binding.db_get_many_sync = read;
  }
});

t.test("ranges that are known to be empty never hide an entry", async (t) => {
  const path = directory(t);
  // Each step counts as slow.
  const engine = await RocksEngine.open({ directory: join(path, "rocksdb"), slowStepMs: 0 });
  t.teardown(() => engine.close());
  const nth = (i: number) => Buffer.from([100, i]);
  const write = fc.record({
    kind: fc.constant("write" as const),
    puts: fc.array(fc.tuple(fc.nat(99), fc.boolean()), { maxLength: 12 }),
  });
  const look = fc.record({
    kind: fc.constant("look" as const),
    ends: fc.tuple(fc.nat(99), fc.nat(100)),
    reverse: fc.boolean(),
    only: fc.constantFrom("keys" as const, undefined),
    between: fc.option(fc.nat(99)),
  });
  const steps = fc.array(fc.oneof(write, look), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(99), async (all, first) => {
      engine.write(Array.from({ length: 100 }, (_, i) => ({ key: nth(i), value: null })));
      const there = new Set<number>();
      const put = (i: number, isThere: boolean): void => {
        engine.write([{ key: nth(i), value: isThere ? key("value") : null }]);
        if (isThere) there.add(i);
        else there.delete(i);
      };
      put(first, true);
      for (const step of all) {
        if (step.kind === "write") for (const [i, isThere] of step.puts) put(i, isThere);
        else {
          const [from, to] = step.ends;
          const wanted = [...there].filter((i) => i >= from && i < to).sort((a, b) => (step.reverse ? b - a : a - b));
          const { reverse, only, between } = step;
          const cursor = engine.cursor({ gte: nth(from), lt: nth(to), reverse, ...(only && { only }) });
          if (between !== null) put(between, true);
          if (from < to)
            assert.deepEqual(
              [...cursor.next(200).keys].map((k) => k[1]),
              wanted,
            );
          cursor.close();
        }
      }
    }),
    { numRuns: 40 },
  );
});

t.test("who looks for the first entry again does not step over what was deleted before it", async (t) => {
  const range = { gte: key("k"), lt: key("l") };
  const gaps = new KnownGaps();
  gaps.learn({ gte: key("k"), lt: key("k5") });
  const begin = () => Buffer.from(gaps.narrowed(range).gte).toString();
  t.equal(begin(), "k5");
  gaps.learn({ gte: key("k5"), lt: key("k7") });
  t.equal(begin(), "k7", "one gap behind the other is one");
  gaps.wrote(key("k9"));
  t.equal(begin(), "k7");
  gaps.wrote(key("k3"));
  t.equal(begin(), "k3");
  t.equal(Buffer.from(gaps.narrowed({ ...range, gte: key("k4") }).gte).toString(), "k7");
  t.equal(Buffer.from(gaps.narrowed({ ...range, lt: key("k6"), reverse: true }).lt).toString("latin1"), "k3\0");
  t.equal(Buffer.from(gaps.narrowed({ gte: key("k4"), lt: key("k5") }).gte).toString(), "k5", "nothing is left");
  // Those that were of use longest ago go first.
  for (let i = 0; i < 100; i++) {
    gaps.learn({ gte: key(`a${i}`), lt: key(`a${i}!`) });
    gaps.narrowed({ gte: key("k4"), lt: key("l") });
  }
  t.equal(begin(), "k");
  t.equal(Buffer.from(gaps.narrowed({ ...range, gte: key("k4") }).gte).toString(), "k7");
});
