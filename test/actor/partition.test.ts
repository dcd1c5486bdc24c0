/** What a partition keeps in memory for its tenants is bounded, and forgetting it loses nothing. */
import t from "tap";
import { Partition } from "../../src/actor/partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { DbError } from "../../src/protocol/errors.js";
import { TENANTS_IN_MEMORY_MAX } from "../../src/protocol/limits.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";

t.test("idle tenants are forgotten, busy ones stay", async (t) => {
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  const first = partition.tenant(1);
  const busy = partition.tenant(2);
  const inTransaction = partition.tenant(3);
  const options = { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "routes" } as const;
  partition.transactionsOf(inTransaction).begin(options, false, undefined, { userId: "u", keyId: "", tenantId: "t" });
  const last = TENANTS_IN_MEMORY_MAX + 10;
  for (let number = 4; number <= last; number++) partition.tenant(number);
  partition.sweep(Date.now(), new Set([busy]));
  t.equal([...partition.activeTenants()].length, TENANTS_IN_MEMORY_MAX);
  t.not(partition.tenant(1), first, "the one used longest ago was made anew");
  t.equal(partition.tenant(2), busy);
  t.equal(partition.tenant(3), inTransaction);
});

t.test("tenants that ask for nothing are forgotten after a while", async (t) => {
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const config = loadConfig({ env: { TESSERA_LIMITS_TENANT_IDLE_SECONDS: "60" } });
  const partition = new Partition(0, shard, config, () => undefined);
  const start = Date.now();
  const idle = partition.tenant(1);
  const used = partition.tenant(2);
  const prepared = partition.tenant(3);
  prepared.prepared.add("ann", { sql: "SELECT 1", parameterCount: 0 }, "one");
  for (let second = 0; second <= 50; second += 5) partition.sweep(start + second * 1000, new Set());
  partition.tenant(2);
  for (let second = 55; second <= 75; second += 5) partition.sweep(start + second * 1000, new Set());
  t.same(
    [...partition.activeTenants()].map(({ number }) => number),
    [2, 3],
    "the idle one is gone, the one with a prepared statement stays",
  );
  t.not(partition.tenant(1), idle);
  t.equal(partition.tenant(2), used);
});

t.test("a transaction that the shard has ended does not pass for one that wrote nothing", async (t) => {
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  t.teardown(() => shard.close());
  const tenant = new Partition(0, shard, loadConfig({ env: {} }), () => undefined).tenant(1);
  const tx = shard.begin();
  tx.put(Buffer.from("key"), Buffer.from("value"));
  // As when the disk was full for commits that it has read, or it was open for too long.
  tx.abort(new DbError("disk_full"));
  t.throws(() => tenant.commit(tx), { code: "disk_full" });
  const reader = shard.begin();
  tenant.commit(reader);
  t.equal(reader.isOpen, false);
});
