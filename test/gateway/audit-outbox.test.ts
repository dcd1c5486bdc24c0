/** Entries of the audit trail that wait for the directory, with a clock in hand. */
import t from "tap";
import { AuditOutbox } from "../../src/gateway/audit-outbox.js";
import type { AuditBatch, AuditEvent } from "../../src/protocol/audit.js";
import type { ToActor } from "../../src/protocol/messages.js";
import { FakeClock } from "./fake-clock.js";
import { memoryLogger } from "./memory-logger.js";

function events(from: number, count = 1): AuditEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ atMs: 1, action: "users.create", outcome: "ok", status: 200, code: null, tenant: "acme", username: null },
    ...{ keyId: null, address: null, target: [], requestId: String(from + index), count: 1 },
  }));
}

class Setting {
  readonly clock = new FakeClock();
  readonly directory = { alive: true, post: (message: ToActor) => void this.batches.push(batchOf(message)) };
  batches: AuditBatch[] = [];
  private readonly memory = memoryLogger();
  readonly lines = this.memory.lines;
  readonly outbox = new AuditOutbox({
    ...{ clock: this.clock, logger: this.memory.logger },
    directory: () => this.directory,
  });

  /** Numbers of events that were sent since the last time. */
  sent(): string[][] {
    const all = this.batches.map((batch) => batch.events.map(({ requestId }) => requestId));
    this.batches = [];
    return all;
  }

  kept(upTo: number, outbox = this.name): boolean {
    return this.outbox.kept({ kind: "audit-kept", outbox, upTo });
  }

  name = "";

  noteName(): void {
    this.name = this.batches[0]!.outbox;
  }
}

function batchOf(message: ToActor): AuditBatch {
  if (message.kind !== "audit") throw new Error(message.kind);
  return message.batch;
}

t.test("events are sent at once, and again until they are known to be kept", async (t) => {
  const setting = new Setting();
  const { outbox, clock } = setting;
  outbox.add(events(1));
  outbox.add(events(2));
  setting.noteName();
  t.same(setting.sent(), [["1"], ["2"]]);
  clock.advance(1999);
  t.same(setting.sent(), []);
  clock.advance(1);
  t.same(setting.sent(), [["1", "2"]]);
  t.equal(setting.kept(1, "another's"), false);
  t.equal(setting.kept(1), true);
  clock.advance(2000);
  t.same(setting.sent(), [], "some were kept, so the rest may be on its way");
  clock.advance(2000);
  t.same(setting.sent(), [["2"]]);
  setting.kept(2);
  clock.advance(10_000);
  t.same(setting.sent(), []);
});

t.test("while the directory has no owner they wait", async (t) => {
  const setting = new Setting();
  const { outbox, clock, directory } = setting;
  directory.alive = false;
  outbox.add(events(1));
  clock.advance(5000);
  t.same(setting.sent(), []);
  directory.alive = true;
  outbox.sendAgain();
  t.same(setting.sent(), [["1"]]);
});

t.test("few are under way at a time, and the oldest of too many go to the log", async (t) => {
  const setting = new Setting();
  const { outbox, directory, lines } = setting;
  directory.alive = false;
  outbox.add(events(1, 10_002));
  t.same(
    lines.map(({ level, requestId }) => ({ level, requestId })),
    [
      { level: 50, requestId: "1" },
      { level: 50, requestId: "2" },
    ],
  );
  directory.alive = true;
  outbox.sendAgain();
  setting.noteName();
  t.match(setting.batches[0], { first: 3, base: 3 });
  t.equal(setting.sent().flat().length, 500);
  setting.kept(102);
  t.match(setting.batches[0], { first: 503, base: 103 });
  t.equal(setting.sent().flat().length, 100);
});

t.test("the end of the process waits for them, and logs what is left", async (t) => {
  const setting = new Setting();
  const { outbox, clock, lines } = setting;
  outbox.add(events(1));
  setting.noteName();
  let isDrained = false;
  const drained = outbox.drained(2000).then(() => {
    isDrained = true;
  });
  await new Promise(setImmediate);
  t.equal(isDrained, false);
  setting.kept(1);
  await drained;
  outbox.add(events(2));
  const late = outbox.drained(2000);
  clock.advance(2000);
  await late;
  outbox.close();
  outbox.add(events(3));
  t.same(
    lines.map(({ requestId }) => requestId),
    ["2", "3"],
  );
});
