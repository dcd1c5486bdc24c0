/** graphile-worker: migrations, jobs, retries; LISTEN wakes a worker. */
import { makeWorkerUtils, run, runOnce } from "graphile-worker";
import pg from "pg";
import { equal, step } from "./steps.mjs";

const pool = new pg.Pool({ max: 6 });
const options = { pgPool: pool, noHandleSignals: true, pollInterval: 1000 };
const quiet = { logger: new (await import("graphile-worker")).Logger(() => () => {}) };

await step("migrations", async () => {
  const utils = await makeWorkerUtils({ pgPool: pool, ...quiet });
  await utils.migrate();
  await utils.release();
});
await step("jobs that run once, a job that fails and stays", async () => {
  const utils = await makeWorkerUtils({ pgPool: pool, ...quiet });
  const seen = [];
  await utils.addJob("hello", { name: "Bobby" });
  await utils.addJob("bad", {}, { maxAttempts: 3, jobKey: "one" });
  const taskList = {
    hello: async ({ name }) => void seen.push(name),
    bad: async () => {
      throw new Error("on purpose");
    },
  };
  await runOnce({ ...options, ...quiet, taskList });
  equal(seen, ["Bobby"]);
  equal((await pool.query("SELECT key, attempts, last_error FROM graphile_worker.jobs")).rows, [
    { key: "one", attempts: 1, last_error: "on purpose" },
  ]);
  await utils.release();
});
await step("a worker that waits (LISTEN) and one that polls", async () => {
  let came;
  const seen = new Promise((resolve) => {
    came = resolve;
  });
  const runner = await run({
    ...options,
    ...quiet,
    concurrency: 2,
    taskList: { later: async (payload) => came(payload) },
  });
  await runner.addJob("later", { x: 1 });
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("no job came")), 8000).unref());
  equal(await Promise.race([seen, late]), { x: 1 });
  await runner.stop();
});
await pool.end();
process.exit();
