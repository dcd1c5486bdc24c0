/** Loads: rows that are appended behave as rows that are put, whoever looks, and come back from the log. */
import fc from "fast-check";
import t from "tap";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { inSteps } from "../../src/storage/in-steps.js";
import { Load } from "../../src/storage/load.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import type { ShardTransaction } from "../../src/storage/transaction.js";
import { applyBacklog } from "./apply-backlog.js";
import { commit, get, key, openShard, put, scan as scanFrom } from "./shards.js";
import { SimulatedDisk } from "./simulated-disk.js";

/** Without what the shard keeps for itself. */
const scan = (transaction: Parameters<typeof scanFrom>[0]): string[] => scanFrom(transaction, "a");
const name = (i: number): string => `k${String(i).padStart(6, "0")}`;

/** Backwards, so that they must be sorted. */
async function append(transaction: ShardTransaction, from: number, to: number): Promise<void> {
  const load = transaction.beginLoad()!;
  const run = load.run(key("k"));
  for (let i = to - 1; i >= from; i--) load.add(run, key(name(i)), key(`v${i}`));
  await inSteps(TURNS, load.sort());
  transaction.attach(load);
}

const TURNS = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: async () => {} };

for (const isPrepared of [false, true]) {
  t.test(
    `seen by the transaction, by others after the commit, by older snapshots never; prepared: ${isPrepared}`,
    async (t) => {
      for (const withReader of [false, true]) {
        const shard = await openShard(t);
        commit(shard, [name(3), "old"], ["z", "last"]);
        shard.flush();
        const reader = withReader ? shard.begin({ readOnly: true }) : null;
        const load = shard.begin({ isolation: "snapshot" });
        await append(load, 10, 6000);
        put(load, "a", "first");
        t.equal(get(load, name(5000)), "v5000");
        t.equal(get(load, name(5)), undefined);
        if (isPrepared) await load.prepareCommit(TURNS);
        put(load, "b", "late");
        put(load, name(4000), "late");
        t.notOk(shard.engine.get(key(name(10))), "nothing is there before the commit");
        load.commit();
        commit(shard, [name(20), "later"]);
        const after = shard.begin({ readOnly: true });
        const look = (): void => {
          t.equal(scan(after).length, 1000);
          t.same(
            ["a", "b", name(3), name(20), name(4000), name(5999), name(6000)].map((text) => get(after, text)),
            ["first", "late", "old", "later", "late", "v5999", undefined],
          );
          t.same(scanFrom(after, name(5998), "zz", true), ["z=last", `${name(5999)}=v5999`, `${name(5998)}=v5998`]);
          if (reader !== null) t.same(scan(reader), [`${name(3)}=old`, "z=last"]);
          if (reader !== null) t.equal(get(reader, name(4000)), undefined);
        };
        look();
        shard.flush();
        look();
        await applyBacklog(shard);
        look();
        t.equal(Buffer.from(shard.engine.get(key(name(20)))!).toString(), "later");
        t.equal(Buffer.from(shard.engine.get(key(name(4000)))!).toString(), "late");
      }
    },
  );
}

t.test("scans, savepoints and later changes of what was appended", async (t) => {
  const shard = await openShard(t);
  const load = shard.begin();
  await append(load, 0, 5);
  put(load, name(2), "changed");
  t.same(scan(load), ["k000000=v0", "k000001=v1", "k000002=changed", "k000003=v3", "k000004=v4"]);
  const before = load.savepoint();
  await append(load, 5, 7);
  load.delete(key(name(0)));
  load.rollbackTo(before);
  await append(load, 7, 8);
  load.commit();
  const after = shard.begin({ readOnly: true });
  t.same(scan(after), ["k000000=v0", "k000001=v1", "k000002=changed", "k000003=v3", "k000004=v4", "k000007=v7"]);
});

t.test(
  "nobody sees a load before it is attached, which it must be sorted for; rolled back it leaves nothing",
  async (t) => {
    const shard = await openShard(t);
    const tx = shard.begin();
    const load = tx.beginLoad()!;
    const run = load.run(key("k"));
    for (const i of [5, 3, 4]) load.add(run, key(name(i)), key(`v${i}`));
    t.equal(get(tx, name(3)), undefined);
    t.throws(() => tx.attach(load));
    await inSteps(TURNS, load.sort());
    tx.attach(load);
    t.equal(get(tx, name(3)), "v3");
    t.equal(Buffer.from(tx.greatestKey(key("k"))!).toString(), name(5));
    tx.rollback();
    t.same(scan(shard.begin({ readOnly: true })), []);
  },
);

t.test(
  "later loads and single writes count before earlier ones, in memory, in the engine and after a crash",
  async (t) => {
    const disk = new SimulatedDisk();
    const log = () => FileCommitLog.open({ directory: "/log", disk, segmentBytes: 100_000, retentionBytes: 1e9 });
    const shard = await Shard.open({ engine: new MemoryEngine(), log: await log() });
    commit(shard, [name(0), "stored"], [name(1), "stored"]);
    const tx = shard.begin();
    put(tx, name(7), "single");
    put(tx, name(8), "single");
    const parts: readonly (readonly [number, number, string, number])[] = [
      [0, 3000, "one", -1],
      [1, 8, "two", 6],
    ];
    for (const [from, to, text, gone] of parts) {
      const load = tx.beginLoad()!;
      const run = load.run(key("k"));
      for (let i = from; i < to; i++) load.add(run, key(name(i)), i === gone ? null : key(text));
      await inSteps(TURNS, load.sort());
      tx.attach(load);
    }
    put(tx, name(2), "last");
    tx.delete(key(name(3)));
    const expected = ["one", "two", "last", undefined, "two", "two", undefined, "two", "one", "one"];
    const seen = (reader: Parameters<typeof get>[0]) => expected.map((_text, i) => get(reader, name(i)));
    const scanned = expected.flatMap((text, i) => (text === undefined ? [] : [`${name(i)}=${text}`]));
    const look = (reader: Parameters<typeof get>[0]): void => {
      t.same(seen(reader), expected);
      t.same(scanFrom(reader, "k", name(10)), scanned);
      t.same(scanFrom(reader, "k", name(10), true), [...scanned].reverse());
    };
    look(tx);
    look(tx.frozen());
    await tx.prepareCommit(TURNS);
    put(tx, name(9), "late");
    expected[9] = "late";
    scanned[scanned.length - 1] = `${name(9)}=late`;
    tx.commit();
    look(shard.begin({ readOnly: true }));
    shard.flush();
    await applyBacklog(shard);
    look(shard.begin({ readOnly: true }));
    await shard.close();
    const again = await openShard(t, { engine: new MemoryEngine(), log: await log() });
    look(again.begin({ readOnly: true }));
  },
);

t.test("sorted as the bytes are, those of one key as they were added", async () => {
  const random = fc.uint8Array({ maxLength: 20 }).map((bytes) => bytes.map((byte) => (byte % 3) * 127));
  await fc.assert(
    fc.asyncProperty(fc.array(random, { maxLength: 300 }), async (suffixes) => {
      const prefix = key("p");
      const load = new Load(0, 1e9);
      const run = load.run(prefix);
      const keys = suffixes.map((suffix) => Buffer.concat([prefix, suffix]));
      keys.forEach((each, i) => void load.add(run, each, key(String(i))));
      await inSteps(TURNS, load.sort());
      const order = keys.map((each, i) => ({ each, i })).sort((a, b) => Buffer.compare(a.each, b.each) || a.i - b.i);
      const sorted = [...load.operations()];
      return order.every(({ each, i }, place) => {
        const { key: found, value } = sorted[place]!;
        return each.equals(found) && Buffer.from(value!).toString() === String(i);
      });
    }),
    { numRuns: 200 },
  );
});

t.test("a key that another committed meanwhile refuses the load", async (t) => {
  const shard = await openShard(t);
  const load = shard.begin({ isolation: "snapshot" });
  await append(load, 0, 100);
  commit(shard, [name(50), "theirs"]);
  shard.flush();
  t.throws(() => load.commit(), { code: "serialization_failure" } as unknown as Error);
  t.same(scan(shard.begin({ readOnly: true })), [`${name(50)}=theirs`]);
});

t.test("commits of the same turn stay in order, and all comes back from the log", async (t) => {
  const disk = new SimulatedDisk();
  const log = () => FileCommitLog.open({ directory: "/log", disk, segmentBytes: 100_000, retentionBytes: 1e9 });
  const durable: number[] = [];
  const shard = await Shard.open({
    engine: new MemoryEngine(),
    log: await log(),
    onDurable: (sequence) => durable.push(sequence),
  });
  commit(shard, [name(0), "before"]);
  const load = shard.begin({ isolation: "snapshot" });
  await append(load, 1, 9000);
  await load.prepareCommit(TURNS);
  load.commit();
  commit(shard, [name(1), "after"]);
  shard.flush();
  const last = shard.committedSequence;
  await shard.close();
  t.equal(durable.at(-1), last);
  const again = await openShard(t, { engine: new MemoryEngine(), log: await log() });
  const reader = again.begin({ readOnly: true });
  t.same(
    [0, 1, 2, 8999, 9000].map((i) => get(reader, name(i))),
    ["before", "after", "v2", "v8999", undefined],
  );
});

t.test("a full disk refuses the load and nothing else", async (t) => {
  const disk = new SimulatedDisk();
  const log = await FileCommitLog.open({ directory: "/log", disk, segmentBytes: 100_000, retentionBytes: 0 });
  const shard = await openShard(t, { log });
  commit(shard, [name(0), "before"]);
  shard.flush();
  const load = shard.begin({ isolation: "snapshot" });
  await append(load, 1, 9000);
  disk.spaceBytes = 100;
  await t.rejects(load.prepareCommit(TURNS), { code: "disk_full" });
  disk.spaceBytes = Number.POSITIVE_INFINITY;
  load.rollback();
  t.same(scan(shard.begin({ readOnly: true })), [`${name(0)}=before`]);
  commit(shard, [name(1), "goes on"]);
  shard.flush();
  t.equal(get(shard.begin({ readOnly: true }), name(1)), "goes on");
});
