/**
 * Jobs that no client waits for: they outlive restarts, crashes and moves of their tenant, and end when they are
 * cancelled.
 */

import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import { Partition } from "../../../src/actor/partition.js";
import { loadConfig } from "../../../src/config/load-config.js";
import type { RunnableKind } from "../../../src/features/jobs/background-jobs.js";
import { deleteJob, loadJobs, putJob } from "../../../src/features/jobs/job-records.js";
import { JOBS } from "../../../src/features/jobs/jobs.js";
import type { JobRecord } from "../../../src/protocol/placement.js";
import type { LogEntry } from "../../../src/storage/commit-log.js";
import { rowPrefix } from "../../../src/storage/keys.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../../src/storage/memory-engine.js";
import { Shard } from "../../../src/storage/shard.js";
import { World } from "../placement/move-world.js";

const CONFIG = loadConfig({ env: {} });
const OWNER = { userId: "u1", username: "ada", tenantId: "t", roles: ["user"], readOnly: false };
const STEPS = 12;

function jobOf(tenant: number, id = "one"): JobRecord {
  return { tenant, kind: "count", id, owner: OWNER };
}

function counterKey({ tenant, id }: JobRecord): Buffer {
  return Buffer.concat([rowPrefix(tenant, 1), Buffer.from(id)]);
}

function counterOf(partition: Partition, job: JobRecord): string | null {
  const tx = partition.shard.begin({ readOnly: true });
  const value = tx.get(counterKey(job));
  tx.rollback();
  return value === undefined ? null : Buffer.from(value).toString();
}

/** Counts in a row of the tenant, a step a turn, from where it had got; "done" when it is over. */
function counting(partition: Partition, seen: { running: number; runningMax: number; runs: number }): RunnableKind {
  return {
    name: "count",
    runningMax: 2,
    waitingMax: 3,
    run: async (job, signal) => {
      seen.runs++;
      seen.runningMax = Math.max(seen.runningMax, ++seen.running);
      while (!signal.aborted) {
        const tx = partition.shard.begin();
        const count = Number(Buffer.from(tx.get(counterKey(job)) ?? "0").toString());
        if (count === STEPS) {
          tx.put(counterKey(job), Buffer.from("done"));
          deleteJob(tx, job);
        } else tx.put(counterKey(job), Buffer.from(String(count + 1)));
        tx.commit();
        partition.wroteSomething(job.tenant);
        if (count === STEPS) break;
        await turn();
      }
      seen.running--;
    },
  };
}

interface Opened {
  readonly partition: Partition;
  readonly log: MemoryCommitLog;
  readonly seen: { running: number; runningMax: number; runs: number };
  flush(): void;
  turns(until: () => boolean): Promise<void>;
}

async function open(entries: readonly LogEntry[] = []): Promise<Opened> {
  const log = new MemoryCommitLog();
  log.append(entries.map((entry) => ({ ...entry, operations: [...entry.operations] })));
  let opened: Partition | null = null;
  const shard = await Shard.open({
    engine: new MemoryEngine(),
    log,
    onDurable: (sequence) => opened?.gate.open(sequence),
  });
  const partition = new Partition(0, shard, CONFIG, () => undefined);
  opened = partition;
  const seen = { running: 0, runningMax: 0, runs: 0 };
  partition.part(JOBS).queue.begin([counting(partition, seen)], (_job, error) => {
    throw error;
  });
  const flush = (): void => partition.flush(() => undefined);
  const turns = async (until: () => boolean): Promise<void> => {
    for (let i = 0; i < 1000 && !until(); i++) {
      flush();
      await turn();
    }
    if (!until()) throw new Error("it did not come true");
  };
  return { partition, log, seen, flush, turns };
}

function make(partition: Partition, job: JobRecord): void {
  partition.part(JOBS).queue.admit(job.tenant, "count");
  const tx = partition.shard.begin();
  tx.put(counterKey(job), Buffer.from("0"));
  putJob(tx, job);
  tx.commit();
  partition.wroteSomething(job.tenant);
  partition.part(JOBS).queue.start(job);
}

t.test("a job runs once its record is on disk, and leaves none behind", async (t) => {
  const { partition, turns, seen } = await open();
  make(partition, jobOf(1));
  await turn();
  t.equal(seen.runs, 0, "nothing was flushed yet");
  await turns(() => counterOf(partition, jobOf(1)) === "done");
  t.same(loadJobs(partition.shard), []);
  t.equal(seen.runs, 1);
});

t.test("of one tenant so many run, others wait, and more are refused", async (t) => {
  const { partition, turns, seen } = await open();
  const jobs = ["a", "b", "c", "d", "e"].map((id) => jobOf(1, id));
  for (const job of jobs) make(partition, job);
  t.throws(() => partition.part(JOBS).queue.admit(1, "count"), { code: "rate_limited" });
  t.doesNotThrow(() => partition.part(JOBS).queue.admit(2, "count"), "another tenant");
  await turns(() => jobs.every((job) => counterOf(partition, job) === "done"));
  t.equal(seen.runningMax, 2);
});

t.test("a job that was cut off by a crash goes on where it was", async (t) => {
  const before = await open();
  make(before.partition, jobOf(1));
  await before.turns(() => Number(counterOf(before.partition, jobOf(1))) >= 5);
  // What is in the log is all that is left.
  const entries = [...before.log.replay(1)];
  void before.partition.part(JOBS).queue.close();
  const after = await open(entries);
  t.ok(Number(counterOf(after.partition, jobOf(1))) >= 5, "its steps are kept");
  await after.turns(() => counterOf(after.partition, jobOf(1)) === "done");
  t.same(loadJobs(after.partition.shard), []);
});

t.test("an actor that closes stops its jobs, which go on at the next start", async (t) => {
  const before = await open();
  make(before.partition, jobOf(1));
  await before.turns(() => Number(counterOf(before.partition, jobOf(1))) >= 3);
  await before.partition.part(JOBS).queue.close();
  t.equal(before.seen.running, 0);
  t.equal(loadJobs(before.partition.shard).length, 1, "the record stays");
  before.flush();
  const after = await open([...before.log.replay(1)]);
  await after.turns(() => counterOf(after.partition, jobOf(1)) === "done");
});

t.test("a job that is cancelled ends, whether it runs or waits, and makes room", async (t) => {
  const { partition, turns, seen } = await open();
  const jobs = ["a", "b", "c"].map((id) => jobOf(1, id));
  for (const job of jobs) make(partition, job);
  await turns(() => seen.running === 2);
  for (const job of [jobs[2]!, jobs[0]!]) {
    const tx = partition.shard.begin();
    deleteJob(tx, job);
    tx.commit();
    partition.wroteSomething(1);
    await partition.part(JOBS).queue.cancel(job);
  }
  await turns(() => counterOf(partition, jobs[1]!) === "done");
  t.not(counterOf(partition, jobs[0]!), "done");
  t.equal(counterOf(partition, jobs[2]!), "0", "it never ran");
  t.same(loadJobs(partition.shard), []);
});

t.test("a move takes its tenant's jobs along, whatever fails on the way", async (t) => {
  const world = (): Promise<World> =>
    World.open((partition) => [counting(partition, { running: 0, runningMax: 0, runs: 0 })]);
  const run = async (killed: number | null, after: number): Promise<number> => {
    const here = await world();
    here.directory.createTenant({ id: "nomad" });
    const { number: tenant, partition: at } = here.directory.placeOf("nomad");
    if (at !== 1) here.directory.relocateTenant("nomad", 1);
    const job = jobOf(tenant);
    const { partition: source } = here.actors[1]!;
    source.wroteSomething(tenant);
    make(source, job);
    here.moves.start("nomad", 2, 20);
    let isFaulty = killed === null;
    for (let step = 0; step < 2000; step++) {
      if (!isFaulty && here.delivered >= after) {
        isFaulty = true;
        const kept = here.kill(killed!, "all");
        here.ended(killed!);
        await here.restart(killed!, kept);
      }
      await here.step();
      const { partition } = here.directory.placeOf("nomad");
      const isOver = counterOf(here.actors[partition]!.partition, job) === "done";
      if (isFaulty && isOver && here.moves.get("nomad").finished_at !== null) break;
    }
    for (let step = 0; step < 40; step++) await here.step();
    const { partition: end } = here.directory.placeOf("nomad");
    const what = `killed ${killed} after ${after}`;
    t.equal(counterOf(here.actors[end]!.partition, job), "done", `the job is done, ${what}`);
    for (const { partition } of here.actors) t.same(loadJobs(partition.shard), [], `no record is left, ${what}`);
    return here.delivered;
  };
  const delivered = await run(null, 0);
  for (let after = 1; after < Math.min(delivered, 24); after++) {
    for (const killed of [1, 2]) await run(killed, after);
  }
});
