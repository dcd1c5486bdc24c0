/** Long computations run on threads of their own, bounded in number and queue. */
import { spawnSync } from "node:child_process";
import { scryptSync } from "node:crypto";
import t from "tap";
import { niceIncrementOf, taskPool } from "../../workers/task-pool.js";

const cost = { logN: 10, r: 8, p: 1 };
const job = (password: string) => ({ password, salt: Buffer.from("salt and salt"), cost, length: 32 });

t.test("a task gives what the function gives", async (t) => {
  const pool = taskPool({ name: "tests", threads: 1, waitingMax: 8 });
  t.teardown(() => pool.close());
  const key = await pool.run("deriveKey", job("pass"));
  t.equal(
    Buffer.from(key).toString("hex"),
    scryptSync("pass", "salt and salt", 32, { N: 1024, r: 8, p: 1 }).toString("hex"),
  );
});

t.test("more than may wait are refused, and those that wait are served", async (t) => {
  const pool = taskPool({ name: "tests", threads: 1, waitingMax: 2 });
  t.teardown(() => pool.close());
  const results = await Promise.allSettled(
    Array.from({ length: 12 }, (_, i) => pool.run("deriveKey", job(`pass ${i}`))),
  );
  const refused = results.filter((result) => result.status === "rejected");
  t.ok(refused.length > 0 && refused.length < 12, `${refused.length} of 12 refused`);
  for (const { reason } of refused) t.match(reason, { code: "overloaded" });
});

t.test("threads of lower priority start whatever priority the process has", async (t) => {
  if (spawnSync("nice", ["-n", "-5", "true"], { encoding: "utf8" }).stderr !== "") {
    t.equal(niceIncrementOf(4, -5), 5, "this user may not raise priorities; -1 is stepped over");
    return;
  }
  const pools = new URL("../../workers/task-pool.js", import.meta.url).href;
  const program = `
    const { taskPool } = await import(${JSON.stringify(pools)});
    const pool = taskPool({ name: "tests", threads: 1, waitingMax: 8, niceIncrement: 4 });
    await pool.run("deriveKey", { password: "pass", salt: Buffer.alloc(8), cost: ${JSON.stringify(cost)}, length: 32 });
    await pool.close();`;
  // -5 and 4 are -1, by which nice(2) also tells failures.
  const args = ["-n", "-5", process.execPath, "--input-type=module", "-e", program];
  const { status, stderr } = spawnSync("nice", args, { encoding: "utf8" });
  t.equal(status, 0, stderr);
});
