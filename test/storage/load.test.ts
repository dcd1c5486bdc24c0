/** Loads: rows that are appended behave as rows that are put, whoever looks, and come back from the log. */
import t from "tap";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import type { ShardTransaction } from "../../src/storage/transaction.js";
import { commit, get, key, openShard, put, scan as scanFrom } from "./shards.js";
import { SimulatedDisk } from "./simulated-disk.js";

/** Without what the shard keeps for itself. */
const scan = (transaction: Parameters<typeof scanFrom>[0]): string[] => scanFrom(transaction, "a");
const name = (i: number): string => `k${String(i).padStart(6, "0")}`;

function append(transaction: ShardTransaction, from: number, to: number): void {
  for (let i = from; i < to; i++) transaction.append(key(name(i)), key(`v${i}`));
}

const TURNS = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: async () => {} };

/** The engine takes what it has not got of large commits. */
async function applyAll(shard: Shard): Promise<void> {
  while (shard.hasBacklog) {
    await shard.backlogReady();
    shard.applySome();
  }
}

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
        append(load, 10, 6000);
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
        await applyAll(shard);
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
  append(load, 0, 5);
  put(load, name(2), "changed");
  t.same(scan(load), ["k000000=v0", "k000001=v1", "k000002=changed", "k000003=v3", "k000004=v4"]);
  const before = load.savepoint();
  append(load, 5, 7);
  load.delete(key(name(0)));
  load.rollbackTo(before);
  append(load, 7, 8);
  load.commit();
  const after = shard.begin({ readOnly: true });
  t.same(scan(after), ["k000000=v0", "k000001=v1", "k000002=changed", "k000003=v3", "k000004=v4", "k000007=v7"]);
});

t.test("keys out of order are a fault; a rolled-back load leaves nothing", async (t) => {
  const shard = await openShard(t);
  const load = shard.begin();
  append(load, 5, 6);
  t.throws(() => append(load, 5, 6));
  load.rollback();
  t.same(scan(shard.begin({ readOnly: true })), []);
});

t.test("a key that another committed meanwhile refuses the load", async (t) => {
  const shard = await openShard(t);
  const load = shard.begin({ isolation: "snapshot" });
  append(load, 0, 100);
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
  append(load, 1, 9000);
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
  append(load, 1, 9000);
  disk.spaceBytes = 100;
  await t.rejects(load.prepareCommit(TURNS), { code: "disk_full" });
  disk.spaceBytes = Number.POSITIVE_INFINITY;
  load.rollback();
  t.same(scan(shard.begin({ readOnly: true })), [`${name(0)}=before`]);
  commit(shard, [name(1), "goes on"]);
  shard.flush();
  t.equal(get(shard.begin({ readOnly: true }), name(1)), "goes on");
});
