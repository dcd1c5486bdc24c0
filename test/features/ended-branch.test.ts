/** Work in a branch that ends meanwhile: nothing is written there, and nobody is told that it was. */
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import { Partition } from "../../src/actor/partition.js";
import type { Request } from "../../src/actor/request.js";
import { loadConfig } from "../../src/config/load-config.js";
import { endBranch, endKeys, inBranch, requireEndable } from "../../src/features/branches/branch-life.js";
import { changeBranch } from "../../src/features/branches/make-branch.js";
import { loadJobs, putJob } from "../../src/features/jobs/job-records.js";
import { JOBS } from "../../src/features/jobs/jobs.js";
import { DbError } from "../../src/protocol/errors.js";
import type { Branch } from "../../src/storage/branch-list.js";
import { endsUndone, forked, isEnding } from "../../src/storage/ending-branches.js";
import { branchKey } from "../../src/storage/history-keys.js";
import { rowPrefix } from "../../src/storage/keys.js";
import { LayeredEngine } from "../../src/storage/layered-engine.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import { open } from "../conformance/sql-adapter.js";
import { applyBacklog } from "../storage/apply-backlog.js";

const NUMBER = 2 ** 30;

t.test("a commit in a branch that is gone", async (t) => {
  const { tenant } = await open();
  const partition = tenant.partition as Partition;
  const tx = partition.shard.begin();
  tx.put(rowPrefix(NUMBER, 1), Buffer.from("x"));
  t.throws(() => partition.tenant(NUMBER).commit(tx), { code: "not_found", message: /^The branch has ended/ });
  t.equal(partition.shard.metrics.openTransactions, 0);
  const reading = partition.shard.begin({ readOnly: true });
  t.equal(reading.get(rowPrefix(NUMBER, 1)), undefined);
  partition.tenant(NUMBER).commit(reading);
});

t.test("whatever comes of the work, the end of its branch is told", async (t) => {
  const branch = { name: "b", endedBy: null } as Branch;
  let there: Branch | null = branch;
  const partition = { shard: { layers: { branchOf: () => there } } } as unknown as Partition;
  t.equal(await inBranch(partition, NUMBER, branch, async () => 1), 1);
  await t.rejects(
    inBranch(partition, NUMBER, branch, () => Promise.reject(new Error("own"))),
    { message: "own" },
  );
  const leave = async () => {
    there = { ...branch };
  };
  await t.rejects(inBranch(partition, NUMBER, branch, leave), { code: "not_found" }, "another of its number");
  there = branch;
  const fail = async () => {
    branch.endedBy = 7;
    throw new TypeError("nothing is there");
  };
  await t.rejects(inBranch(partition, NUMBER, branch, fail), { code: "not_found" });
  await t.rejects(inBranch(partition, NUMBER, null, fail), { code: "not_found" });
  endsUndone([branch], 8);
  t.ok(isEnding(branch), "an earlier commit ends it");
  endsUndone([branch], 7);
  t.equal(await inBranch(partition, NUMBER, branch, async () => 2), 2, "the log did not take its end");
});

t.test("a branch does not end before the engine knows who was forked from it", async (t) => {
  const branch = { name: "b", readers: 0, forkedBy: 0, endedBy: null } as Branch;
  const layers = { branchOf: () => branch, branches: { forksOf: () => new Set() } };
  const shard = { layers, committedSequence: 7, appliedSequence: 6 } as unknown as Partition["shard"];
  requireEndable({ shard }, NUMBER);
  forked(shard, NUMBER);
  t.throws(() => requireEndable({ shard }, NUMBER), { code: "conflict", message: /is forking the branch "b"/ });
  endsUndone([branch], 8);
  t.throws(() => requireEndable({ shard }, NUMBER), { code: "conflict" }, "an earlier commit forks it");
  endsUndone([branch], 7);
  requireEndable({ shard }, NUMBER);
  forked(shard, NUMBER);
  requireEndable({ shard: { ...shard, appliedSequence: 7 } as Partition["shard"] }, NUMBER);
});

t.test("a key that cannot be destroyed yet is told of in the server's log", async (t) => {
  const { tenant } = await open();
  const { shard, shared } = tenant.partition as Partition;
  const sealed = Object.create(shard, {
    options: {
      value: {
        ...shard.options,
        keys: {
          destroy() {
            throw new Error("no space left on device");
          },
        },
      },
    },
  });
  const told: unknown[] = [];
  const warn = (...said: unknown[]): void => void told.push(said);
  await endKeys({ shard: sealed, shared: { ...shared, warn } }, NUMBER);
  t.match(told, [[/not destroyed before the next start: Error: no space left/, { tenant: NUMBER }]]);
});

t.test("all of a branch's jobs end with it, however many there are", async (t) => {
  const layers = new LayeredEngine(new MemoryEngine());
  const shard = await Shard.open({ engine: layers, layers, log: new MemoryCommitLog() });
  const partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  partition.part(JOBS).queue.begin([], () => undefined);
  const owner = { userId: "1", username: "ann", tenantId: "acme", roles: ["admin"], readOnly: false };
  const record = { origin: 7, root: 7, name: "b", createdAt: "then", createdBy: "ann", expiresAtMs: null, start: null };
  const tx = shard.begin();
  tx.put(branchKey(NUMBER), Buffer.from(JSON.stringify(record)));
  for (let job = 0; job < 1_001; job++) putJob(tx, { tenant: NUMBER, kind: "automl", id: `${job}`, owner });
  putJob(tx, { tenant: 7, kind: "automl", id: "own", owner });
  tx.commit();
  shard.flush();
  await applyBacklog(shard);
  t.equal(loadJobs(shard, NUMBER).length, 1_001);
  const root = partition.tenant(7);
  const { commit } = root;
  root.commit = (failing) => {
    failing.rollback();
    throw new DbError("disk_full", "no space left on device");
  };
  t.throws(() => endBranch(partition, NUMBER), { message: /no space/ });
  t.equal(loadJobs(shard, NUMBER).length, 1_001, "a branch that cannot end yet keeps them");
  root.commit = commit;
  endBranch(partition, NUMBER);
  t.strictSame(loadJobs(shard, NUMBER), []);
  t.equal(loadJobs(shard, 7).length, 1, "the tenant's own stay");
  await shard.close();
});

t.test("of two changes of a branch at once, neither undoes the other", async (t) => {
  const layers = new LayeredEngine(new MemoryEngine());
  const shard = await Shard.open({ engine: layers, layers, log: new MemoryCommitLog() });
  const partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  const record = { origin: 1, root: 1, name: "b", start: null, expiresAtMs: null, quotaBytes: null };
  const tx = shard.begin();
  tx.put(branchKey(NUMBER), Buffer.from(JSON.stringify(record)));
  tx.commit();
  shard.flush();
  await applyBacklog(shard);
  const durable = async (): Promise<void> => {
    await turn(); // meanwhile the other change comes
    shard.flush();
    await applyBacklog(shard);
  };
  const request = { partition, tenant: partition.tenant(1), durable, yieldTurn: durable } as unknown as Request;
  const { start } = layers.branchOf(NUMBER)!;
  const first = changeBranch(request, NUMBER, { quota_bytes: 1e9 });
  await Promise.all([first, changeBranch(request, NUMBER, { ttl_seconds: 3600 })]);
  t.match(layers.branchOf(NUMBER), { quotaBytes: 1e9, expiresAtMs: Number, start, name: "b" });
});
