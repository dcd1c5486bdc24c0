/** What a partition has after it wrote the entries of another one's commits. */
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import { Partition } from "../../../src/actor/partition.js";
import { loadConfig } from "../../../src/config/load-config.js";
import { writeEntries } from "../../../src/features/placement/write-entries.js";
import { CLEARED, prefixRange, retiredKey, rowPrefix, tenantPrefix } from "../../../src/storage/keys.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../../src/storage/memory-engine.js";
import { Shard } from "../../../src/storage/shard.js";

const TENANT = 7;

t.test("an order to remove a range is carried out, though its record ends in the same message", async (t) => {
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  const partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  const kept = Buffer.concat([rowPrefix(TENANT, 1), Buffer.from("kept")]);
  const dropped = Buffer.concat([rowPrefix(TENANT, 2), Buffer.from("dropped")]);
  const record = retiredKey(TENANT, rowPrefix(TENANT, 2));
  const operations = [
    { key: kept, value: Buffer.from("1") },
    { key: dropped, value: Buffer.from("2") },
    { key: record, value: CLEARED },
    { key: record, value: null },
  ];
  await writeEntries(partition, TENANT, operations, () => turn());
  const tx = shard.begin({ readOnly: true });
  const cursor = tx.scan(prefixRange(tenantPrefix(TENANT)));
  t.strictSame(
    cursor.next(10).keys.map((key) => Buffer.from(key).toString("hex")),
    [kept.toString("hex")],
  );
  cursor.close();
  tx.rollback();
});

t.test("nothing more is written once the pause throws", async (t) => {
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  const partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  const operations = Array.from({ length: 1000 }, (_, n) => ({
    key: Buffer.concat([rowPrefix(TENANT, 1), Buffer.from(String(n).padStart(4, "0"))]),
    value: Buffer.from("1"),
  }));
  let pauses = 0;
  const pause = async (): Promise<void> => {
    if (++pauses === 3) throw new Error("it ends");
  };
  await t.rejects(writeEntries(partition, TENANT, operations, pause), { message: "it ends" });
  t.equal(shard.committedSequence, 2);
});
