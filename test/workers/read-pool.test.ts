/** Statements whose segments threads of their own read, as in a server. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import type { IndexMergeJob } from "../../src/query/exec/index-threads.js";
import type { ReadJob } from "../../src/query/exec/threads/read-threads.js";
import { LoadRun } from "../../src/storage/load-run.js";
import { readPool } from "../../workers/read-pool.js";
import { Read } from "../query/read-side.js";

const READS = [
  "SELECT count(*), sum(x), min(k), max(n) FROM g",
  "SELECT k, count(*), sum(x), sum(y), avg(n), max(k) FROM g GROUP BY k",
  "SELECT a, k, n FROM g WHERE k LIKE '%1%' ORDER BY n DESC LIMIT 5",
  "SELECT DISTINCT k FROM g",
];

t.test("threads start with the first long read, and give what the statement gives by itself", async (t) => {
  const pool = readPool(2);
  const read = await Read.open(t);
  t.teardown(() => pool.end());
  read.others = pool.threads;
  await read.run("CREATE TABLE g (a int PRIMARY KEY, k text, n numeric(9,2), x float8, y float8)");
  await read.run(
    "INSERT INTO g SELECT i, 'kind ' || i * 7 % 23, i / 8.0, i / 4.0, i / 3.0 FROM generate_series(1, 600) i",
  );
  await read.makeColumns();
  const expected: string[] = [];
  for (const sql of READS) expected.push(await read.alone(sql));
  t.equal(await read.run(READS[1]!), expected[1], "while they start, the statement reads by itself");
  while (!pool.threads.areReady()) await sleep(5);
  for (const [i, sql] of READS.entries()) {
    t.equal(await read.run(sql), expected[i], sql);
    t.match(await read.run(`EXPLAIN ANALYZE ${sql}`), /threads=[12]/, sql);
  }
  await pool.end();
  for (const [i, sql] of READS.entries()) t.equal(await read.run(sql), expected[i], `without threads: ${sql}`);
});

t.test("jobs of all scans have their turn, and what is withdrawn is never begun", async (t) => {
  const pool = readPool(1);
  t.teardown(() => pool.end());
  const job = (stop: Int32Array<SharedArrayBuffer>) => ({ segments: [], stop }) as unknown as ReadJob;
  const [a, b] = [0, 0].map(() => new Int32Array(new SharedArrayBuffer(4)));
  const ended: string[] = [];
  const ask = (name: string, stop: Int32Array<SharedArrayBuffer>) => {
    const reading = pool.threads.read(job(stop));
    // The job is not whole: its end is all that matters.
    const end = reading.answer.then(
      () => ended.push(name),
      () => ended.push(name),
    );
    return { ...reading, end };
  };
  const asked = [ask("a1", a!), ask("a2", a!), ask("a3", a!), ask("b1", b!)];
  t.notOk(asked[0]!.withdraw(), "the thread has it");
  t.ok(asked[1]!.withdraw());
  t.notOk(asked[1]!.withdraw(), "once");
  await Promise.all(asked.map(({ end }) => end));
  t.same(ended, ["a2", "a1", "a3", "b1"]);
  ended.length = 0;
  const more = [ask("a1", a!), ask("a2", a!), ask("a3", a!), ask("b1", b!), ask("b2", b!)];
  await Promise.all(more.map(({ end }) => end));
  t.same(ended, ["a1", "a2", "b1", "a3", "b2"], "one of each in turn");
  const full = Array.from({ length: 10 }, (_, i) => ask(`c${i}`, a!));
  await t.rejects(full[9]!.answer, { code: "overloaded" });
  await Promise.all(full.map(({ end }) => end));
});

t.test("the threads make indexes too, and a read that has no thread meanwhile stays in the queue", async (t) => {
  const pool = readPool(1);
  t.teardown(() => pool.end());
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const prefix = Buffer.from("p");
  const job = (): IndexMergeJob => {
    const parts = [0, 1].map((first) => {
      const run = new LoadRun(prefix);
      for (let i = first; i < 10; i += 2) run.add(Buffer.from(`p${i}`), Buffer.from(`${i}`));
      return run.pack();
    });
    return { prefix, parts, stop };
  };
  const builds = [pool.indexes.merge(job()), pool.indexes.merge(job())];
  await t.rejects(pool.indexes.merge(job()), { code: "overloaded" }, "as many wait as there are threads");
  const read = () => pool.threads.read({ segments: [], stop } as unknown as ReadJob);
  const [withdrawn, left] = [read(), read()];
  const refused = t.rejects(withdrawn.answer, { message: "the job was withdrawn" });
  // The job is not whole: that it ends is all that matters.
  const ended = left.answer.catch(() => undefined);
  t.ok(withdrawn.withdraw(), "no thread is free for it");
  for (const packed of await Promise.all(builds)) {
    const run = new LoadRun(prefix);
    run.takeOver(packed!);
    const keys = Array.from({ length: run.size }, (_, i) => Buffer.from(run.operationAt(i).key).toString());
    t.same(keys, ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"]);
  }
  await ended;
  t.notOk(left.withdraw(), "it was begun after the builds");
  await refused;
});
