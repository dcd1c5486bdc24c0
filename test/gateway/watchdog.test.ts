/** When an actor is late, when it is ended, and when it is not: by the marks alone. */
import t, { type Test } from "tap";
import { Watchdog } from "../../src/gateway/watchdog.js";
import { ActorMarks, newActorMarks } from "../../src/protocol/actor-marks.js";
import { FakeClock } from "./fake-clock.js";
import { memoryLogger } from "./memory-logger.js";

function watched(
  t: Test,
  settings: { readonly lateMs?: number; readonly stopMs?: number; readonly thread?: number } = {},
) {
  const clock = new FakeClock();
  const { logger, lines } = memoryLogger();
  const told: string[] = [];
  const machine = { waitedMs: 0 };
  const dog = new Watchdog({
    ...{ clock, logger, lateMs: 250, stopMs: 5000, ...settings },
    prepare: () => told.push("prepare"),
    spare: () => told.push("spare"),
    stop: () => told.push("stop"),
    runQueueMs: (thread) => (thread === 0 ? null : machine.waitedMs),
    describe: (_, request) => ({ requestId: `of ${request}` }),
  });
  t.teardown(() => dog.close());
  const memory = newActorMarks();
  dog.watch(0, memory, ["", "scan", "sort"]);
  return { clock, lines, told, dog, marks: new ActorMarks(memory, settings.thread ?? 0), machine };
}

t.test("an actor that beats is not late, however long it has nothing to do", async (t) => {
  const { clock, told, dog, marks } = watched(t);
  for (let i = 0; i < 200; i++) {
    marks.beat();
    clock.advance(100);
    t.notOk(dog.isLate(0));
  }
  t.strictSame(told, []);
});

t.test("one that has not begun to beat is being opened", async (t) => {
  const { clock, told, dog } = watched(t);
  clock.advance(60_000);
  t.notOk(dog.isLate(0));
  t.strictSame(told, []);
});

t.test("late, told with what it is at, prepared for, ended", async (t) => {
  const { clock, lines, told, dog, marks } = watched(t);
  marks.beat();
  clock.advance(50);
  marks.began(7, 3);
  marks.statement("SELECT 'secret' FROM t -- 1");
  marks.operator[0] = 2;
  clock.advance(200);
  t.notOk(dog.isLate(0));
  clock.advance(100);
  t.ok(dog.isLate(0));
  const facts = { actor: 0, tenantNumber: 3, requestId: "of 7", statement: "SELECT ? FROM t  ", operator: "sort" };
  t.match(lines, [facts]);
  clock.advance(2_300);
  t.strictSame(told, ["prepare"]);
  clock.advance(2_500);
  t.strictSame(told, ["prepare", "stop"]);
  clock.advance(60_000);
  t.strictSame(told, ["prepare", "stop"], "once");
  t.match([dog.late, dog.stopped], [1, 1]);
});

t.test("a thread that gets no processor is not away", async (t) => {
  const { clock, told, dog, marks, machine } = watched(t, { thread: 99 });
  marks.beat();
  clock.advance(50);
  // It runs a tenth of the time.
  for (let i = 0; i < 400; i++) {
    machine.waitedMs += 45;
    clock.advance(50);
  }
  t.ok(dog.isLate(0));
  t.strictSame(told, [], "2 of 20 seconds");
  for (let i = 0; i < 640; i++) {
    machine.waitedMs += 45;
    clock.advance(50);
  }
  t.strictSame(told, ["prepare", "stop"]);
});

t.test("one that comes back", async (t) => {
  const { clock, told, dog, marks } = watched(t);
  marks.beat();
  clock.advance(3_000);
  t.ok(dog.isLate(0));
  marks.beat();
  clock.advance(50);
  t.notOk(dog.isLate(0));
  t.strictSame(told, ["prepare", "spare"]);
});

t.test("a disk that does not answer is no reason to end it", async (t) => {
  const { clock, told, dog, marks } = watched(t);
  marks.beat();
  marks.flushing();
  clock.advance(60_000);
  t.ok(dog.isLate(0));
  t.strictSame(told, ["prepare"]);
  marks.flushed();
  clock.advance(50);
  t.strictSame(told, ["prepare", "stop"]);
});

t.test("while the server shuts down it has less time, and without a bound it has all", async (t) => {
  const endless = watched(t, { stopMs: 0 });
  endless.marks.beat();
  endless.clock.advance(600_000);
  t.ok(endless.dog.isLate(0));
  t.strictSame(endless.told, []);
  endless.dog.closing();
  endless.clock.advance(50);
  t.strictSame(endless.told, ["stop"]);
});
