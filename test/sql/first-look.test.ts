/**
 * The first look at pg_proc in a process, which reads the tables of PostgreSQL's catalog: others get their turns. In a
 * thread of its own, where nobody has looked before.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import t from "tap";
import type { Look } from "./first-look-thread.js";

t.test("the first look at pg_proc gives way, and two at once see the same", async (t) => {
  const worker = new Worker(new URL("./first-look-thread.js", import.meta.url));
  const [{ count, inside, again, rounds }] = (await once(worker, "message")) as [Look];
  await worker.terminate();
  t.ok(Number(count) > 2000, `${count} functions`);
  t.equal(inside, count);
  t.equal(again, count);
  t.ok(rounds > 10, `${rounds} rounds`);
});
