/** Commits that go to the log and to the engine in parts: whole or not there at all, whatever ends the process when. */
import t from "tap";
import { commitUnseen, prepareUnseen } from "../../src/storage/commit-unseen.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { inSteps } from "../../src/storage/in-steps.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import type { Operation } from "../../src/storage/operation.js";
import { createOrderedMap } from "../../src/storage/ordered-map.js";
import type { Shard } from "../../src/storage/shard.js";
import { applyBacklog } from "./apply-backlog.js";
import { commit, content, get, key, openShard, put, scan } from "./shards.js";
import { SimulatedDisk } from "./simulated-disk.js";

const SIZES = { operations: 4, bytes: 1e6, stepOperations: 3, stepBytes: 1e6 };
const AT_ONCE = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: () => Promise.resolve() };
const settle = () => new Promise((resolve) => setImmediate(resolve));
const ROWS = 20;

const logOf = (disk: SimulatedDisk, segmentBytes = 500) =>
  FileCommitLog.open({ directory: "/log", disk, segmentBytes, retentionBytes: 0 });

/** All rows get this value, and one is deleted and one is new in each. */
function fill(shard: Shard, value: string) {
  const tx = shard.begin();
  for (let row = 0; row < ROWS; row++) put(tx, `row${String(row).padStart(2, "0")}`, value);
  tx.delete(key(`only${Number(value) - 1}`));
  put(tx, `only${value}`, value);
  return tx;
}

const valuesOf = (rows: readonly string[]) =>
  [...new Set(rows.filter((row) => row.startsWith("row")).map((row) => row.split("=")[1]))].join();

t.test("readers see all of it or nothing while the engine takes it, and others commit meanwhile", async (t) => {
  const shard = await openShard(t, { log: await logOf(new SimulatedDisk()), largeSizes: SIZES });
  const first = fill(shard, "1");
  await first.prepareCommit(AT_ONCE);
  first.commit();
  shard.flush();
  await applyBacklog(shard);
  const before = shard.begin();
  const large = fill(shard, "2");
  const yields: string[] = [];
  const turns = {
    checkpoint: () => {},
    shouldYield: () => true,
    yieldTurn: async () => {
      yields.push(valuesOf(content(shard)));
      commit(shard, ["other", String(yields.length)]);
      shard.flush();
    },
  };
  await large.prepareCommit(turns);
  t.ok(yields.length > 3);
  t.ok(yields.every((seen) => seen === "1"));
  put(large, "late", "x");
  large.commit();
  commit(shard, ["row03", "3"]);
  shard.flush();
  const between = shard.begin({ readOnly: true });
  let steps = 0;
  while (shard.hasBacklog) {
    await shard.backlogReady();
    shard.applySome();
    steps++;
    t.equal(valuesOf(scan(before)), "1");
    t.equal(get(before, "row19"), "1");
    t.equal(get(before, "only2"), undefined);
    t.same([get(between, "row03"), get(between, "row04"), get(between, "only1")], ["3", "2", undefined]);
    t.equal(valuesOf(scan(between)), "2,3");
    t.equal(valuesOf(content(shard)), steps > 2 ? "2,3,5" : "2,3");
    if (steps === 2) commit(shard, ["row05", "5"], ["only1", "again"]);
    shard.flush();
  }
  t.ok(steps > 5, `the engine took it in ${steps} parts`);
  t.equal(valuesOf(content(shard)), "2,3,5");
  t.equal(get(before, "only1"), "1");
  before.rollback();
  between.rollback();
  t.same([shard.appliedSequence, shard.metrics.versionBytes], [shard.committedSequence, 0]);
  const entry = [...shard.log.replay(1)].findLast(({ operations }) => [...operations].length > 10)!;
  t.equal([...entry.operations].length, ROWS + 3, "the change log has it as one commit");
});

t.test("once the engine has it, who saw it before reads it there", async (t) => {
  const shard = await openShard(t, { log: await logOf(new SimulatedDisk()), largeSizes: SIZES });
  const large = fill(shard, "1");
  await large.prepareCommit(AT_ONCE);
  large.commit();
  shard.flush();
  const reader = shard.begin({ readOnly: true });
  const corrected = (): string[] => {
    const found: string[] = [];
    const newer = { entries: createOrderedMap<Operation>() };
    const corrections = reader.corrections({ gte: key(""), lt: key("\xff") }, newer);
    for (; corrections.text !== null; corrections.advance()) found.push(corrections.text);
    return found;
  };
  t.equal(corrected().length, ROWS + 2, "the engine has nothing of it");
  await applyBacklog(shard);
  t.same(corrected(), []);
  const seen = scan(reader, "a");
  commit(shard, ["row03", "3"], ["new", "3"]);
  t.same(corrected(), ["row03"], "what others have changed since");
  shard.flush();
  t.same(corrected(), ["new", "row03"]);
  t.same(scan(reader, "a"), seen);
  t.equal(get(reader, "row03"), "1");
  reader.rollback();
  t.equal(shard.metrics.versionBytes, 0);
});

t.test("large commits are written into the log side by side, and made one after the other", async (t) => {
  const log = await logOf(new SimulatedDisk());
  const shard = await openShard(t, { log, largeSizes: SIZES });
  const named = (name: string) => {
    const tx = shard.begin({ isolation: "read committed" });
    for (let row = 0; row < ROWS; row++) put(tx, `${name}${row}`, name);
    return tx;
  };
  const [first, second, third, fourth] = ["a", "b", "c", "d"].map(named) as [
    ReturnType<typeof named>,
    ...ReturnType<typeof named>[],
  ];
  await first.prepareCommit(AT_ONCE);
  const ready: string[] = [];
  const prepare = (name: string, tx: ReturnType<typeof named>) =>
    tx.prepareCommit(AT_ONCE).then(
      () => void ready.push(name),
      () => void ready.push(`${name} has ended`),
    );
  const before = log.bytesAppended;
  const waiting = [prepare("b", second!), prepare("c", third!), prepare("d", fourth!)];
  await settle();
  t.ok(log.bytesAppended > before + 3 * ROWS, "the parts of all of them are in the log");
  t.same(ready, [], "while the first has its turn");
  first.commit();
  shard.flush();
  await settle();
  t.same(ready, [], "while the engine takes the first");
  second!.rollback();
  await applyBacklog(shard);
  await settle();
  t.same(ready, ["b has ended", "c"], "the next one has its turn, and only that one");
  third!.commit();
  shard.flush();
  await applyBacklog(shard);
  await Promise.all(waiting);
  t.same(ready, ["b has ended", "c", "d"]);
  fourth!.commit();
  shard.flush();
  await applyBacklog(shard);
  const found = content(shard).map((row) => row.split("=")[1]);
  t.same(
    ["a", "b", "c", "d"].map((name) => found.filter((value) => value === name).length),
    [ROWS, 0, ROWS, ROWS],
  );
});

t.test("who waits for the turn to make a large commit can be stopped", async (t) => {
  const shard = await openShard(t, { log: await logOf(new SimulatedDisk()), largeSizes: SIZES });
  const first = fill(shard, "1");
  await first.prepareCommit(AT_ONCE);
  const stop = new AbortController();
  const second = fill(shard, "2");
  const waiting = second.prepareCommit({ ...AT_ONCE, signal: () => stop.signal });
  await settle();
  stop.abort(new Error("stopped"));
  await t.rejects(waiting, { message: "stopped" });
  second.rollback();
  const third = fill(shard, "3");
  const next = third.prepareCommit({ ...AT_ONCE, signal: () => new AbortController().signal });
  first.rollback();
  await next;
  third.commit();
  shard.flush();
  await applyBacklog(shard);
  t.equal(valuesOf(content(shard)), "3");
});

t.test("conflicts are found from both sides", async (t) => {
  const shard = await openShard(t, { largeSizes: SIZES });
  const large = fill(shard, "1");
  const small = shard.begin();
  put(small, "row07", "9");
  const reader = shard.begin();
  scan(reader, "row10", "row12");
  put(reader, "mine", "1");
  await large.prepareCommit(AT_ONCE);
  large.commit();
  t.throws(() => small.commit(), { code: "serialization_failure" });
  t.throws(() => reader.commit(), { code: "serialization_failure" });
  shard.flush();
  await applyBacklog(shard);
  const second = fill(shard, "2");
  await second.prepareCommit(AT_ONCE);
  commit(shard, ["row07", "9"]);
  t.throws(() => second.commit(), { code: "serialization_failure" });
  t.equal(valuesOf(content(shard)), "1,9");
});

t.test("a kill or a power cut at any moment leaves all of it or nothing", async (t) => {
  let seed = 11;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  let seenBefore = 0;
  let seenAfter = 0;
  for (let run = 0; run < 25; run++) {
    const disk = new SimulatedDisk();
    const engine = new MemoryEngine();
    const shard = await openShard(t, { log: await logOf(disk), engine, largeSizes: SIZES });
    const cuts: { disk: SimulatedDisk; engine: MemoryEngine; durable: number; last: number }[] = [];
    const cut = () => {
      const survives = run % 2 === 0 ? () => true : () => random() < 0.6;
      const { durableSequence: durable, committedSequence: last } = shard;
      cuts.push({ disk: disk.afterPowerCut(survives), engine: engine.clone(), durable, last });
    };
    let small = 0;
    const commits: number[] = [];
    for (const value of ["1", "2", "3"]) {
      const large = fill(shard, value);
      await large.prepareCommit({
        checkpoint: () => {},
        shouldYield: () => true,
        yieldTurn: async () => {
          cut();
          commit(shard, ["small", String(++small)]);
          shard.flush();
          if (random() < 0.5) await settle();
        },
      });
      commits.push(large.commit());
      shard.flush();
      cut();
      await applyBacklog(shard, cut);
    }
    for (const { disk: left, engine: behind, durable, last } of cuts) {
      const reopened = await openShard(t, { log: await logOf(left), engine: behind, largeSizes: SIZES });
      const { committedSequence } = reopened;
      t.ok(committedSequence >= durable && committedSequence <= last);
      const done = commits.filter((sequence) => sequence <= committedSequence).length;
      const expected = done === 0 ? "" : String(done);
      const rows = content(reopened);
      if (valuesOf(rows) !== expected) t.equal(valuesOf(rows), expected, "exactly the commits up to the last");
      const only = rows.filter((row) => row.startsWith("only"));
      t.same(only, done === 0 ? [] : [`only${done}=${done}`]);
      if (done > 0) seenAfter++;
      else seenBefore++;
    }
  }
  t.ok(seenBefore > 10 && seenAfter > 100, `${seenBefore} cuts before the first, ${seenAfter} after`);
});

t.test("the log keeps the parts that recovery needs", async (t) => {
  const disk = new SimulatedDisk();
  const shard = await openShard(t, { log: await logOf(disk, 200), largeSizes: SIZES });
  const large = fill(shard, "1");
  const turns = { ...AT_ONCE, shouldYield: () => true, yieldTurn: async () => void commitOne(shard) };
  await large.prepareCommit(turns);
  shard.log.trim(shard.committedSequence);
  const sequence = large.commit();
  shard.flush();
  await settle();
  t.equal([...[...shard.log.replay(sequence)][0]!.operations].length, ROWS + 2);
  const reopened = await openShard(t, { log: await logOf(disk.afterPowerCut(() => true)), largeSizes: SIZES });
  t.equal(valuesOf(content(reopened)), "1", "an engine that had nothing of it");
  const files = disk.files.size;
  t.ok(files > 4);
  shard.log.trim(sequence);
  await settle();
  t.ok(disk.files.size < 3, "until the engine has it for good");
  await applyBacklog(shard);
});

function commitOne(shard: Shard): void {
  commit(shard, ["small", "x".repeat(150)]);
  shard.flush();
}

t.test("a transaction that ends before its commit leaves nothing", async (t) => {
  const disk = new SimulatedDisk();
  const shard = await openShard(t, { log: await logOf(disk), largeSizes: SIZES });
  const refused = fill(shard, "1");
  const stop = { ...AT_ONCE, shouldYield: () => true, yieldTurn: () => Promise.reject(new Error("cancelled")) };
  await t.rejects(refused.prepareCommit(stop), { message: "cancelled" });
  refused.rollback();
  const full = fill(shard, "2");
  disk.spaceBytes = 300;
  await t.rejects(full.prepareCommit(AT_ONCE), { code: "disk_full" });
  full.rollback();
  disk.spaceBytes = 1e6;
  commit(shard, ["a", "1"]);
  shard.flush();
  t.same(content(shard), ["a=1"]);
  await shard.close();
  t.same(content(await openShard(t, { log: await logOf(disk) })), ["a=1"]);
});

t.test("closing finishes what the engine had not taken", async (t) => {
  const engine = new MemoryEngine();
  const shard = await openShard(t, { log: await logOf(new SimulatedDisk()), engine, largeSizes: SIZES });
  const large = fill(shard, "1");
  await large.prepareCommit(AT_ONCE);
  large.commit();
  commit(shard, ["row03", "3"]);
  await shard.close();
  t.equal(Buffer.from(engine.get(key("row04"))!).toString(), "1");
  t.equal(Buffer.from(engine.get(key("row03"))!).toString(), "3");
});

t.test("a commit of rows that nobody looks for tells why it was not made", async (t) => {
  const disk = new SimulatedDisk();
  const shard = await openShard(t, { log: await logOf(disk), largeSizes: SIZES });
  const made = shard.begin();
  put(made, "a", "1");
  await prepareUnseen(made, AT_ONCE);
  const told = commitUnseen(made);
  disk.spaceBytes = 0;
  shard.flush();
  await t.rejects(told, { code: "disk_full" }, "the log's end of it did not fit");
  disk.spaceBytes = 1e6;
  const other = shard.begin();
  put(other, "b", "1");
  await prepareUnseen(other, AT_ONCE);
  const stored = commitUnseen(other);
  shard.flush();
  await applyBacklog(shard);
  await stored;
  t.same(content(shard), ["b=1"], "few writes are a large commit, too");
});

t.test(
  "who watches goes through no run that he does not want, and hears of no rows that nobody looks for",
  async (t) => {
    const shard = await openShard(t, { log: await logOf(new SimulatedDisk()), largeSizes: SIZES });
    const asked: string[] = [];
    const heard: string[] = [];
    shard.watcher = {
      committing: (_sequence, _micros, writes) => {
        for (const each of writes) heard.push(Buffer.from(each.key).toString());
        return undefined;
      },
      watches: (prefix) => {
        asked.push(Buffer.from(prefix).toString());
        return prefix[0] === 98;
      },
      undone: () => undefined,
    };
    const fillRuns = async (isUnseen: boolean) => {
      const tx = shard.begin();
      const load = tx.beginLoad()!;
      for (const prefix of ["a", "b", "c"]) {
        const run = load.run(key(prefix));
        for (let i = 0; i < 5; i++) load.add(run, key(`${prefix}${i}`), key("v"));
      }
      await inSteps(AT_ONCE, load.sort());
      tx.attach(load);
      put(tx, "b1", "later");
      put(tx, "d", "single");
      await (isUnseen ? prepareUnseen(tx, AT_ONCE) : tx.prepareCommit(AT_ONCE));
      if (isUnseen) void commitUnseen(tx);
      else tx.commit();
      shard.flush();
      await applyBacklog(shard);
    };
    await fillRuns(true);
    t.same([asked, heard], [[], []]);
    await fillRuns(false);
    t.same(asked, ["a", "b", "c"]);
    t.same(heard, ["b1", "d", "b0", "b2", "b3", "b4"], "each key once");
  },
);
