/** Durability of a shard: the gate, group commit, faults of the disk, and every way of coming back. */
import t, { type Test } from "tap";
import type { DbError } from "../../src/protocol/errors.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import type { Operation } from "../../src/storage/operation.js";
import type { ShardOptions } from "../../src/storage/shard-options.js";
import type { Cursor, Entries, KeyRange } from "../../src/storage/store.js";
import { commit, content, get, key, openShard, put } from "./shards.js";
import { SimulatedDisk } from "./simulated-disk.js";

async function onDisk(t: Test, disk: SimulatedDisk, options: Partial<ShardOptions> = {}, segmentBytes = 2000) {
  const log = await FileCommitLog.open({ directory: "/log", disk, segmentBytes, retentionBytes: 0 });
  return openShard(t, { log, ...options });
}

/** Lets everything that can happen without the disk happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

t.test("a commit is visible at once, and durable only after its turn's sync; turns are durable in order", async (t) => {
  const disk = new SimulatedDisk();
  const durable: number[] = [];
  const shard = await onDisk(t, disk, { onDurable: (sequence) => durable.push(sequence) });
  disk.isSlow = true;
  commit(shard, ["a", "1"]);
  commit(shard, ["b", "1"]);
  t.same(content(shard), ["a=1", "b=1"]);
  t.equal(shard.committedSequence, 2);
  await settle();
  t.equal(disk.waitingSyncs, 0, "nothing is synced before the turn ends");
  shard.flush();
  commit(shard, ["c", "1"]);
  shard.flush();
  commit(shard, ["d", "1"]);
  shard.flush();
  await settle();
  t.same([durable, shard.durableSequence], [[], 0]);
  disk.release();
  await settle();
  t.same(durable, [2], "one sync for the turn's two commits");
  disk.release();
  await settle();
  t.same(durable, [2, 4], "the next sync took both turns that were waiting");
  disk.isSlow = false;
});

t.test("with interval durability a commit counts as durable when its turn ends", async (t) => {
  const disk = new SimulatedDisk();
  const durable: number[] = [];
  const onDurable = (sequence: number) => durable.push(sequence);
  const shard = await onDisk(t, disk, { durability: { intervalMs: 60_000 }, onDurable });
  const before = disk.syncs;
  commit(shard, ["a", "1"]);
  t.same(durable, []);
  shard.flush();
  t.same(durable, [1]);
  t.equal(disk.syncs, before);
  await shard.close();
  t.ok(disk.syncs > before, "closing syncs");
});

t.test("after a kill the shard is as it was, whatever the engine had lost", async (t) => {
  const disk = new SimulatedDisk();
  const engine = new MemoryEngine();
  const lost: MemoryEngine[] = [engine.clone()];
  const shard = await onDisk(t, disk, { engine }, 500);
  for (let turn = 0; turn < 30; turn++) {
    commit(shard, [`k${turn % 7}`, String(turn)], [`x${turn}`, "1"]);
    const deletion = shard.begin();
    deletion.delete(key(`x${turn - 3}`));
    deletion.commit();
    shard.flush();
    lost.push(engine.clone());
    await settle();
  }
  const expected = content(shard);
  t.ok(disk.files.size > 2, "over several segments");
  for (const behind of lost) {
    const reopened = await onDisk(
      t,
      disk.afterPowerCut(() => true),
      { engine: behind },
    );
    t.same(content(reopened), expected);
    t.same([reopened.committedSequence, reopened.durableSequence], [60, 60]);
    t.equal(commit(reopened, ["more", "1"]), 61);
  }
});

t.test("a power cut loses nothing durable, splits no commit, and keeps the order", async (t) => {
  let seed = 7;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  for (let run = 0; run < 60; run++) {
    const disk = new SimulatedDisk();
    const shard = await onDisk(t, disk, {}, 500);
    for (let turn = 0; turn < 10; turn++) {
      disk.isSlow = random() < 0.5;
      for (let each = 0; each < 3; each++) {
        const next = String(shard.committedSequence + 1);
        commit(shard, ["counter", next], ["twin", next], [`row${next}`, "x".repeat(Math.floor(random() * 300))]);
      }
      shard.flush();
      if (random() < 0.7) await settle();
      if (random() < 0.5) disk.release();
    }
    const { durableSequence } = shard;
    const reopened = await onDisk(
      t,
      disk.afterPowerCut(() => random() < 0.6),
      {},
      500,
    );
    disk.isSlow = false;
    disk.release();
    const sequence = reopened.committedSequence;
    t.ok(sequence >= durableSequence, "every durable commit is there");
    const reader = reopened.begin({ readOnly: true });
    if (sequence > 0) t.same([get(reader, "counter"), get(reader, "twin")], [String(sequence), String(sequence)]);
    const found = content(reopened).filter((row) => row.startsWith("row")).length;
    t.equal(found, sequence, "all commits up to the last, and none after it");
    reader.rollback();
  }
});

t.test("commits that only the engine kept leave a gap in the change log", async (t) => {
  const disk = new SimulatedDisk();
  const engine = new MemoryEngine();
  const shard = await onDisk(t, disk, { engine });
  commit(shard, ["a", "1"]);
  shard.flush();
  await settle();
  disk.isSlow = true;
  commit(shard, ["b", "1"]);
  commit(shard, ["c", "1"]);
  shard.flush();
  const cut = disk.afterPowerCut(() => false);
  disk.isSlow = false;
  disk.release();
  // It must be on the device before the log says that it has them: another power cut could take them from the engine.
  const kept = engine.clone();
  const { write } = kept;
  const persisted: boolean[] = [];
  kept.write = (operations: readonly Operation[], isPersisted?: boolean) => {
    persisted.push(isPersisted === true);
    write.call(kept, operations);
  };
  const reopened = await onDisk(t, cut, { engine: kept });
  t.same(persisted, [true]);
  t.same(content(reopened), ["a=1", "b=1", "c=1"]);
  t.equal(commit(reopened, ["d", "1"]), 4);
  reopened.flush();
  const entries = [...reopened.log.replay(1)].map(({ sequence, gap }) => [sequence, gap]);
  t.same(entries, [
    [1, false],
    [3, true],
    [4, false],
  ]);
  const behind = FileCommitLog.open({ directory: "/log", disk: cut }).then((log) => openShard(t, { log }));
  await t.rejects(behind, { message: /cannot be recovered.*gap/ }, "an engine from before the gap");
});

t.test("a full disk undoes the turn and only the turn", async (t) => {
  const disk = new SimulatedDisk();
  const failed: [number, number, string][] = [];
  const onFlushFailed = (first: number, last: number, error: DbError) => failed.push([first, last, error.code]);
  const shard = await onDisk(t, disk, { onFlushFailed });
  commit(shard, ["a", "1"], ["b", "1"]);
  shard.flush();
  const before = shard.begin();
  t.equal(get(before, "a"), "1");
  disk.spaceBytes = 150;
  commit(shard, ["a", "2"]);
  commit(shard, ["c", "x".repeat(500)]);
  const between = shard.begin();
  t.equal(get(between, "a"), "2");
  shard.flush();
  t.same(failed, [[2, 3, "disk_full"]]);
  t.throws(() => get(between, "a"), { code: "disk_full" }, "it has seen what was undone");
  t.same(content(shard), ["a=1", "b=1"]);
  put(before, "b", "2");
  t.throws(
    () => {
      before.commit();
      disk.spaceBytes = 0;
      shard.flush();
      t.same(failed.length, 2);
      throw new Error("undone again");
    },
    { message: "undone again" },
  );
  disk.spaceBytes = 100_000;
  t.equal(commit(shard, ["d", "1"]), 2, "sequences are not skipped");
  shard.flush();
  t.same(content(shard), ["a=1", "b=1", "d=1"]);
  t.equal(shard.failed, null);
  await shard.close();
  t.same(content(await onDisk(t, disk)), ["a=1", "b=1", "d=1"]);
});

t.test("after a failed sync nothing more is durable, and every call throws", async (t) => {
  const disk = new SimulatedDisk();
  const events: string[] = [];
  const shard = await onDisk(t, disk, {
    onDurable: (sequence) => events.push(`durable ${sequence}`),
    onFailed: (error) => events.push(error.code),
  });
  commit(shard, ["a", "1"]);
  shard.flush();
  await settle();
  disk.syncError = "EIO";
  commit(shard, ["b", "1"]);
  const open = shard.begin();
  shard.flush();
  await settle();
  disk.syncError = null;
  t.same(events, ["durable 1", "partition_unavailable"]);
  t.throws(() => shard.begin(), { code: "partition_unavailable" });
  t.throws(() => get(open, "a"), { code: "partition_unavailable" });
  shard.flush();
  await settle();
  t.same([events.length, shard.durableSequence], [2, 1]);
  await t.resolves(shard.close());
  t.equal(disk.openFiles, 0);
});

t.test("an engine that fails takes the shard down, and the log has the commit", async (t) => {
  const disk = new SimulatedDisk();
  const engine = new MemoryEngine();
  const failures: string[] = [];
  const shard = await onDisk(t, disk, { engine, onFailed: (error) => failures.push(error.message) });
  engine.write = () => {
    throw new Error("no room in the engine");
  };
  commit(shard, ["a", "1"]);
  shard.flush();
  t.match(failures, [/no room in the engine/]);
  t.throws(() => shard.begin(), { code: "partition_unavailable" });
  await shard.close();
  t.same(content(await onDisk(t, disk)), ["a=1"]);
});

t.test("the log is trimmed as far as the engine has persisted, and no further", async (t) => {
  const disk = new SimulatedDisk();
  const engine = new MemoryEngine();
  let inMemory = 0;
  engine.entriesInMemory = () => inMemory;
  const shard = await onDisk(t, disk, { engine }, 1_000_000);
  const write = async (megabytes: number) => {
    for (let i = 0; i < megabytes * 10; i++) {
      const transaction = shard.begin();
      for (let j = 0; j < 100; j++) transaction.put(key(`${i}/${j}`), Buffer.alloc(1000));
      transaction.commit();
      shard.flush();
      await settle();
    }
  };
  await write(10);
  t.ok(shard.log.firstSequence > 1, "what the engine has in files is dropped");
  t.ok(disk.files.size < 8);
  inMemory = Number.POSITIVE_INFINITY;
  const { firstSequence } = shard.log;
  await write(10);
  t.equal(shard.log.firstSequence, firstSequence, "what it has only in memory is kept");
  const stale = FileCommitLog.open({ directory: "/log", disk }).then((log) => openShard(t, { log }));
  await t.rejects(stale, { message: /cannot be recovered: its engine has applied 0 commits/ });
});

t.test("others are served while the log is replayed", async (t) => {
  const disk = new SimulatedDisk();
  const before = await onDisk(t, disk);
  for (let i = 0; i < 100; i++) {
    const rows = Array.from({ length: 100 }, (_, j): [string, string] => [`${i} ${j}`, `value ${i}`]);
    commit(before, ...rows);
    before.flush();
  }
  await before.close();
  let inRound = 0;
  let most = 0;
  class WatchedEngine extends MemoryEngine {
    override write(operations: readonly Operation[]): void {
      inRound += operations.length;
      most = Math.max(most, inRound);
      super.write(operations);
    }
  }
  let isOpen = false;
  const look = (): void => {
    inRound = 0;
    if (!isOpen) setImmediate(look);
  };
  look();
  const again = await onDisk(t, disk, { engine: new WatchedEngine() });
  isOpen = true;
  t.equal(get(again.begin(), "99 99"), "value 99");
  t.ok(most > 0 && most < 2500, `${most} operations in one round of the loop`);
});

t.test("a cursor over what was deleted reads much at a time, and soon says that it has nothing yet", async (t) => {
  const reads: number[] = [];
  class CountingEngine extends MemoryEngine {
    override cursor(range: KeyRange): Cursor {
      const cursor = super.cursor(range);
      return {
        next: (max) => {
          const entries = cursor.next(max);
          reads.push(entries.keys.length);
          return entries;
        },
        close: () => cursor.close(),
      };
    }
  }
  const shard = await openShard(t, { engine: new CountingEngine() });
  const names = Array.from({ length: 2000 }, (_, i) => `k${String(i).padStart(4, "0")}`);
  commit(shard, ...names.map((name): [string, string] => [name, "value"]));
  shard.flush();
  const tx = shard.begin();
  for (const name of names.slice(1)) tx.delete(key(name));
  const cursor = tx.scan({ gte: key("k"), lt: key("l"), reverse: true });
  let steps = 0;
  let found: Entries | null = null;
  for (; found === null; steps++) {
    reads.length = 0;
    found = cursor.step!(2);
    t.ok(reads.length < 20 && reads.reduce((sum, read) => sum + read, 0) < 600, `${reads}`);
  }
  t.ok(steps > 5, `${steps} steps`);
  t.same(found.keys.map(String), ["k0000"]);
});
