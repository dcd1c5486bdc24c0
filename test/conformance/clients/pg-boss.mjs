/** pg-boss: its schema, jobs that are sent, fetched, done, tried again, scheduled. */
import PgBoss from "pg-boss";
import { equal, step } from "./steps.mjs";

const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, max: 4 });
const problems = [];
boss.on("error", (error) => problems.push(`${error.code ?? ""} ${error.message}`));

await step("start makes the schema", () => boss.start());
await step("send, work, complete", async () => {
  await boss.createQueue("mail");
  const id = await boss.send("mail", { to: "a" });
  const seen = await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`no job came; ${problems}`)), 15_000).unref();
    boss.work("mail", { pollingIntervalSeconds: 0.5 }, async ([job]) => resolve(job)).catch(reject);
  });
  equal([seen.id, seen.data], [id, { to: "a" }]);
});
await step("fetch, fail and try again, priorities, dead letters", async () => {
  await boss.createQueue("dead");
  await boss.createQueue("tried", { name: "tried", retryLimit: 1, deadLetter: "dead" });
  await boss.insert([
    { name: "tried", data: { n: 1 } },
    { name: "tried", data: { n: 2 }, priority: 5 },
  ]);
  const [first] = await boss.fetch("tried");
  equal(first.data, { n: 2 });
  await boss.fail("tried", first.id, { why: "x" });
  equal((await boss.getJobById("tried", first.id)).state, "retry");
  equal(await boss.getQueueSize("tried"), 2);
});
await step("schedule, singletons, publish and subscribe", async () => {
  await boss.schedule("mail", "0 3 * * *", { to: "b" });
  equal((await boss.getSchedules()).length, 1);
  await boss.subscribe("event", "mail");
  await boss.publish("event", { x: 1 });
  equal(typeof (await boss.send("mail", {}, { singletonKey: "k" })), "string");
});
await step("maintenance, stop, no error on the way", async () => {
  await boss.maintain();
  await boss.stop({ graceful: true, timeout: 3000 });
  equal(problems, []);
});
