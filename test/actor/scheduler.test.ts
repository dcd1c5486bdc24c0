/** Tenants share the thread by time; nobody starves; what is short goes first. On a clock that only work moves. */
import t from "tap";
import { Scheduler, type SchedulerOptions, type Work } from "../../src/actor/scheduler.js";
import { TurnCpu } from "../../src/actor/turn-cpu.js";
import { SCHEDULER_BUCKETS_MS } from "../../src/protocol/messages.js";
import { threadCpuMs } from "../../src/session/thread-cpu.js";

/** A scheduler on a clock of its own, with work that takes the time it is told to. */
class Bench {
  clock = 0;
  woken = 0;
  readonly order: string[] = [];
  /** Time used by tenant. */
  readonly used = new Map<number, number>();
  readonly scheduler: Scheduler;

  constructor(options: Partial<SchedulerOptions> = {}) {
    this.scheduler = new Scheduler({ now: () => this.clock, wake: () => this.woken++, ...options });
  }

  spend(tenant: number, ms: number): void {
    this.clock += ms;
    this.used.set(tenant, (this.used.get(tenant) ?? 0) + ms);
  }

  /** A request that ends at once. */
  short(tenant: number, name: string, ms: number): void {
    this.scheduler.submit(tenant, { usedMs: 0 }, () => {
      this.order.push(name);
      this.spend(tenant, ms);
      return true;
    });
  }

  /** A request of many steps that gives way when it should. */
  long(tenant: number, name: string, stepMs: number, steps: number): void {
    const work: Work = { usedMs: 0 };
    const run = async (): Promise<void> => {
      for (let step = 0; step < steps; step++) {
        this.order.push(name);
        this.spend(tenant, stepMs);
        if (this.scheduler.shouldYield()) await this.scheduler.yieldTurn(tenant, work);
      }
      this.scheduler.ended(tenant, work);
    };
    this.scheduler.submit(tenant, work, () => {
      void run();
      return false;
    });
  }

  /** So many turns of the loop; between two of them promises settle, and `arrive` may bring something. */
  async turns(count: number, arrive: (turn: number) => void = () => {}): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      arrive(turn);
      this.scheduler.run();
      for (let i = 0; i < 5; i++) await Promise.resolve();
    }
  }
}

t.test("tenants get equal time, whatever the number and the length of their steps", async (t) => {
  const bench = new Bench();
  for (let i = 0; i < 10; i++) bench.long(1, "a", 0.3, 1e6);
  bench.long(2, "b", 0.7, 1e6);
  // Steps that cannot give way in time are made good by fewer turns.
  bench.long(3, "c", 12, 1e6);
  await bench.turns(5000);
  const [a, b, c] = [bench.used.get(1)!, bench.used.get(2)!, bench.used.get(3)!];
  const total = a + b + c;
  for (const [name, used] of Object.entries({ a, b, c })) {
    t.ok(Math.abs(used / total - 1 / 3) < 0.02, `${name} has ${((100 * used) / total).toFixed(1)} % of the time`);
  }
});

t.test("a quiet tenant does not wait for another's hundred requests", async (t) => {
  const bench = new Bench();
  for (let i = 0; i < 100; i++) bench.short(1, "hot", 0.1);
  bench.short(2, "quiet", 0.1);
  await bench.turns(2);
  t.ok([10, 11].includes(bench.order.indexOf("quiet")), "it has its turn after one quantum of the other");
  await bench.turns(20, (turn) => {
    if (turn === 1) bench.short(2, "late", 0.1);
  });
  t.ok(bench.order.lastIndexOf("late") < 40, "and later ones before what has waited for longer");
  t.equal(bench.order.length, 102, "all were served");
});

t.test("a tenant that comes and goes gains nothing over one that stays", async (t) => {
  const bench = new Bench();
  bench.long(1, "stays", 0.5, 1e6);
  let open = 0;
  await bench.turns(4000, () => {
    if (open > 0) return;
    open++;
    bench.scheduler.submit(2, { usedMs: 0 }, () => {
      bench.spend(2, 3);
      open--;
      return true;
    });
  });
  const share = bench.used.get(2)! / (bench.used.get(1)! + bench.used.get(2)!);
  t.ok(share < 0.55, `it has ${(100 * share).toFixed(1)} %`);
});

t.test("short requests of a tenant go before its reports, which do not starve", async (t) => {
  const bench = new Bench();
  bench.long(1, "report", 1.5, 1e6);
  await bench.turns(50);
  bench.order.length = 0;
  bench.short(1, "read", 0.1);
  await bench.turns(1);
  t.equal(bench.order[0], "read");
  bench.order.length = 0;
  await bench.turns(1000, () => {
    while (bench.scheduler.waiting < 50) bench.short(1, "read", 0.1);
  });
  const reports = bench.order.filter((name) => name === "report").length;
  t.ok(reports > 200, `the report had ${reports} slices`);
  t.ok(bench.order.length - reports > 2000, "and the reads most of the time");
});

t.test("requests that ended do not wait for a report's slice before they are answered", async (t) => {
  const bench = new Bench();
  bench.long(1, "report", 0.5, 1e6);
  await bench.turns(2);
  for (let turn = 0; turn < 50; turn++) {
    const before = bench.order.length;
    bench.short(2, "read", 0.1);
    bench.short(3, "read", 0.1);
    await bench.turns(1);
    const ran = new Set(bench.order.slice(before));
    t.ok(!(ran.has("read") && ran.has("report")), "one turn of the loop runs either");
  }
  t.ok(bench.used.get(1)! > 0.5 * bench.clock, "the report goes on in the turns between");
});

t.test("new statements go before those that have used much", async (t) => {
  const bench = new Bench();
  for (let i = 0; i < 5; i++) bench.long(1, "old", 1.5, 1e6);
  await bench.turns(200);
  bench.order.length = 0;
  bench.long(1, "young", 1.5, 4);
  await bench.turns(8);
  t.equal(bench.order.filter((name) => name === "young").length, 4, "it is done before the others are round");
});

t.test("so many requests of a tenant run at once, and so many wait", async (t) => {
  const bench = new Bench({ runningPerTenantMax: 2, waitingPerTenantMax: 3 });
  const ends: (() => void)[] = [];
  const submit = (tenant: number): void => {
    const work: Work = { usedMs: 0 };
    bench.scheduler.submit(tenant, work, () => {
      ends.push(() => bench.scheduler.ended(tenant, work));
      return false;
    });
  };
  for (let i = 0; i < 2; i++) submit(1);
  await bench.turns(3);
  t.equal(ends.length, 2);
  for (let i = 0; i < 3; i++) submit(1);
  t.throws(() => submit(1), { code: "rate_limited", details: { retry_after_seconds: 1 } });
  t.equal(bench.scheduler.run(), false, "there is nothing that may begin");
  submit(2);
  await bench.turns(2);
  t.equal(ends.length, 3, "another tenant is not held up");
  bench.woken = 0;
  ends[0]!();
  t.equal(bench.woken, 1);
  await bench.turns(2);
  t.equal(ends.length, 4, "the next one begins when one has ended");
});

t.test("what the thread has read itself runs at once, for a slice between two turns", async (t) => {
  const bench = new Bench();
  const arrives = (name: string, ms: number): void => bench.scheduler.serveArrival(() => bench.short(1, name, ms));
  arrives("a", 0.4);
  arrives("b", 0.7);
  t.same(bench.order, ["a", "b"]);
  t.equal(bench.woken, 0, "nothing is left for a turn");
  arrives("c", 0.1);
  t.same(bench.order, ["a", "b"], "they have had their slice");
  t.equal(bench.woken, 1);
  await bench.turns(1);
  arrives("d", 0.1);
  t.same(bench.order, ["a", "b", "c", "d"]);
  t.equal(bench.woken, 1);
});

t.test("a statement that gives way when it has arrived goes on in turns", async (t) => {
  const bench = new Bench();
  bench.scheduler.serveArrival(() => bench.long(1, "report", 1.2, 2));
  t.same(bench.order, ["report"]);
  t.equal(bench.woken, 1);
  bench.scheduler.serveArrival(() => bench.short(2, "short", 0.1));
  t.same(bench.order, ["report"]);
  await bench.turns(3);
  t.same(bench.order, ["report", "short", "report"]);
  t.equal(bench.scheduler.waiting, 0);
});

t.test("counts", async (t) => {
  const overran: [number, number][] = [];
  let cpu = 0;
  const bench = new Bench({
    overran: (tenant, ms) => overran.push([tenant, ms]),
    cpuMs: () => cpu++,
  });
  bench.short(1, "a", 0.2);
  bench.short(7, "b", 30);
  await bench.turns(2);
  const { sliceOverruns, longestSliceSeconds, slices, waits, firstWaits, sliceCpu } = bench.scheduler.metrics;
  t.equal(sliceOverruns, 1);
  t.equal(longestSliceSeconds, 0.03);
  t.same(overran, [[7, 30]]);
  t.equal(
    slices.counts.reduce((sum, count) => sum + count, 0),
    2,
  );
  t.ok(Math.abs(slices.sumSeconds - 0.0302) < 1e-9);
  t.ok(Math.abs(waits.sumSeconds - 0.0002) < 1e-9, "the second one waited for the first");
  t.same(firstWaits, waits, "both waited to begin");
  t.equal(sliceCpu.sumSeconds, 0.001, "one of them is in the sample");
});

t.test("a slice ends after a millisecond, and has ended when nothing runs", async (t) => {
  const bench = new Bench();
  t.ok(bench.scheduler.shouldYield());
  bench.scheduler.submit(1, { usedMs: 0 }, () => {
    t.notOk(bench.scheduler.shouldYield());
    bench.clock += 1.5;
    t.ok(bench.scheduler.shouldYield());
    return true;
  });
  bench.scheduler.run();
});

t.test("a busy loop of short turns is not taken for one of long turns", { skip: threadCpuMs() === null }, async (t) => {
  const turns = new TurnCpu();
  t.teardown(() => turns.close());
  turns.begin();
  for (let turn = 0; turn < 60; turn++) {
    for (const began = threadCpuMs()!; threadCpuMs()! - began < 1; );
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { counts } = turns.metrics.turnCpu;
  const all = counts.reduce((sum, count) => sum + count, 0);
  const long = counts.reduce((sum, count, i) => ((SCHEDULER_BUCKETS_MS[i - 1] ?? 0) < 5 ? sum : sum + count), 0);
  t.ok(all >= 4, "it was looked at several times");
  t.ok(2 * long < all, `${long} of ${all} looks found a turn of more than 5 ms`);
});
