/** Turns go round the tenants, so one with many statements does not starve one with few. */
import t from "tap";
import { Scheduler } from "../../src/actor/scheduler.js";

t.test("tenants take turns", async (t) => {
  const scheduler = new Scheduler();
  const order: string[] = [];
  const statement = async (tenant: number, name: string, turns: number): Promise<void> => {
    for (let turn = 1; turn <= turns; turn++) {
      await scheduler.yieldTurn(tenant);
      order.push(`${name}${turn}`);
    }
  };
  const all = Promise.all([statement(1, "a", 2), statement(1, "b", 2), statement(1, "c", 2), statement(2, "x", 2)]);
  t.equal(scheduler.waiting, 4);
  await all;
  t.equal(scheduler.waiting, 0);
  t.same(order.slice(0, 4), ["a1", "x1", "b1", "x2"], "tenant 2 gets every other turn");
  t.equal(order.length, 8);
});

t.test("the loop runs between turns", async (t) => {
  const scheduler = new Scheduler();
  let served = 0;
  const timer = setInterval(() => served++, 0);
  for (let turn = 0; turn < 50; turn++) {
    await scheduler.yieldTurn(1);
    const until = performance.now() + 1;
    while (performance.now() < until);
  }
  clearInterval(timer);
  t.ok(served > 5, "other events are served while a statement runs");
});

t.test("a slice ends after a few milliseconds", async (t) => {
  const scheduler = new Scheduler();
  scheduler.startSlice();
  t.notOk(scheduler.shouldYield());
  const until = performance.now() + 6;
  while (performance.now() < until);
  t.ok(scheduler.shouldYield());
  scheduler.startSlice();
  t.notOk(scheduler.shouldYield());
});
