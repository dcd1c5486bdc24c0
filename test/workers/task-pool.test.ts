/** Long computations run on threads of their own, bounded in number and queue. */
import { scryptSync } from "node:crypto";
import t from "tap";
import { taskPool } from "../../workers/task-pool.js";

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
