/** What a partition keeps in memory for its tenants is bounded, and forgetting it loses nothing. */
import { setImmediate } from "node:timers/promises";
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

/** A disk that takes a while, and is full at times. */
class SlowLog extends MemoryCommitLog {
  isFull = false;
  private waits: (() => void)[] | null = null;

  slow(): void {
    this.waits = [];
  }

  /** All is on disk. */
  done(): void {
    for (const resolve of this.waits!) resolve();
    this.waits = null;
  }

  override append(commits: Parameters<MemoryCommitLog["append"]>[0]): void {
    if (this.isFull) throw new DbError("disk_full");
    super.append(commits);
  }

  override async sync(): Promise<void> {
    if (this.waits !== null) await new Promise<void>((resolve) => this.waits!.push(resolve));
  }
}

t.test("when commits are undone, those before them are told of no sooner than they are on disk", async (t) => {
  const log = new SlowLog();
  let partition: Partition | null = null;
  const shard = await Shard.open({
    ...{ engine: new MemoryEngine(), log, applyWhen: "durable" },
    onFlushFailed: (first, _last, error) => partition!.undo(first, error),
    onDurable: (sequence) => partition!.onDisk(sequence),
  });
  t.teardown(() => shard.close());
  partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  const commit = (text: string): void => {
    const tx = shard.begin();
    tx.put(Buffer.from(text), Buffer.from("value"));
    partition!.tenant(1).commit(tx);
    shard.flush();
  };
  log.slow();
  commit("first");
  const before = partition.tenant(1);
  log.isFull = true;
  commit("second");
  const told: string[] = [];
  const gate = partition.gate;
  gate.pass(
    before.lastCommit,
    () => told.push("sent"),
    ({ code }) => told.push(code),
  );
  t.same(told, ["disk_full"], "who is late to ask hears that, too, and not of the commit that comes in its place");
  t.not(partition.tenant(1), before, "what was derived from the undone commit is gone");
  const reader = shard.begin({ readOnly: true });
  t.ok(reader.get(Buffer.from("first")), "the first commit is seen");
  t.notOk(reader.get(Buffer.from("second")));
  t.equal(partition.tenant(1).lastCommit, 1);
  t.notOk(partition.gate.isOpenFor(partition.tenant(1).lastCommit), "and its readers wait");
  reader.rollback();
  log.done();
  await setImmediate();
  t.ok(partition.gate.isOpenFor(partition.tenant(1).lastCommit));
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
