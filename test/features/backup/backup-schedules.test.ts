/**
 * Backups by the clock, on a clock of the test's: one that fails is tried again after 1, 5 and 15 minutes and then at
 * its next time; what was missed while the server was down, or cut short by its end, is made up once.
 */
import t from "tap";
import type { ScheduleRecord } from "../../../src/directory/records.js";
import { failureOf } from "../../../src/features/backup/backups.js";
import { Schedules, type SchedulesHost, type ScheduleWish } from "../../../src/features/backup/schedules.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 0, 5, 2, 30);
/** Daily at 3, so half an hour after START. */
const WISH: ScheduleWish = {
  ...{ cron: "0 3 * * *", timezone: "UTC", fullEvery: 1, keep: null, keepDays: null, passphrase: null, enabled: true },
};
const DUE = START + 30 * MINUTE;

/** What stays over a restart: the records on disk and the time; and a folder of backups that works or does not. */
class World {
  now = START;
  readonly saved = new Map<string, ScheduleRecord>();
  readonly lines: object[] = [];
  /** Times of the attempts, in minutes after the one that was due. */
  attempts: number[] = [];
  /** Null: the folder takes them. */
  failure: Error | null = null;
  /** The server ends before the attempt does. */
  hangs = false;
  private made = 0;

  async start(): Promise<Schedules> {
    const host = {
      directory: {
        listSchedules: () => [...this.saved.values()],
        saveSchedule: (schedule: ScheduleRecord) => this.saved.set(schedule.id, schedule),
        removeSchedule: (id: string) => this.saved.delete(id),
        placeOf: () => ({ number: 1, partition: 0 }),
      },
      orders: { make: () => this.attempt() },
      folder: { list: () => [] },
      secret: new Uint8Array(32),
      now: () => this.now,
      durable: async () => undefined,
      log: (level: string, message: string, fields: object) => this.lines.push({ level, message, ...fields }),
    };
    return Schedules.open(host as unknown as SchedulesHost);
  }

  private async attempt(): Promise<{ id: string }> {
    this.attempts.push((this.now - DUE) / MINUTE);
    if (this.hangs) return new Promise(() => undefined);
    if (this.failure !== null) throw this.failure;
    return { id: `backup-${++this.made}` };
  }

  get only(): ScheduleRecord {
    return [...this.saved.values()][0]!;
  }

  /** As the actor does it every now and then; an attempt that begins comes to its end. */
  async sweepUntil(schedules: Schedules, until: number, stepMs = 30_000): Promise<void> {
    for (; this.now <= until; this.now += stepMs) {
      schedules.sweep();
      const isOver = (): boolean => this.hangs || !schedules.isRunning(this.only.id);
      while (!isOver()) await new Promise(setImmediate);
    }
  }
}

const full = Object.assign(new Error("ENOSPC: no space left on device, write '/srv/backups'"), {
  ...{ code: "ENOSPC", syscall: "write" },
});
const readOnly = Object.assign(new Error("EROFS: read-only file system, mkdir '/srv/backups/acme'"), {
  ...{ code: "EROFS", syscall: "mkdir" },
});

for (const [failure, error] of [
  [full, { code: "disk_full" }],
  [readOnly, { code: "internal_error", message: /backup folder cannot be used \(EROFS\): see backup\.directory/ }],
] as const) {
  t.test(`${failure.code}: again after 1, 5 and 15 minutes, then at the next time`, async (t) => {
    const world = new World();
    const schedules = await world.start();
    const { id } = await schedules.create("acme", WISH);
    world.failure = failure;
    await world.sweepUntil(schedules, DUE + 12 * HOUR);
    t.same(world.attempts, [0, 1, 6, 21]);
    t.same(
      world.lines.map((line) => ({ ...line, error: undefined })),
      [1, 2, 3, 4].map((attempt) => ({
        ...{ level: "warn", message: "a scheduled backup failed", schedule: id, tenant: "acme", error: undefined },
        ...{ attempt, again: attempt < 4 },
      })),
    );
    t.match(schedules.metrics(), [{ schedule: id, tenant: "acme", completed: 0, failures: 4, lastSuccessSeconds: 0 }]);
    t.match(world.only, { due: null, nextAt: DUE + 24 * HOUR, last: { dueAt: DUE, backup: null, error } });
    t.notMatch(world.only.last?.error?.message, /srv/, "no paths");

    world.failure = null;
    world.attempts = [];
    await world.sweepUntil(schedules, DUE + 36 * HOUR);
    t.same(world.attempts, [24 * 60]);
    t.match(schedules.metrics(), [{ completed: 1, failures: 4, lastSuccessSeconds: (DUE + 24 * HOUR) / 1000 }]);
    t.match(world.only, { due: null, last: { backup: "backup-1", error: null } });
  });
}

t.test("one that comes about in a further attempt has no more of them", async (t) => {
  const world = new World();
  const schedules = await world.start();
  await schedules.create("acme", WISH);
  world.failure = full;
  await world.sweepUntil(schedules, DUE + 2 * MINUTE);
  world.failure = null;
  await world.sweepUntil(schedules, DUE + 12 * HOUR);
  t.same(world.attempts, [0, 1, 6]);
  t.match(world.only, { due: null, completed: 1, failures: 2, last: { dueAt: DUE, error: null } });
});

t.test("what waits for another attempt is tried after a restart, not before its time", async (t) => {
  const world = new World();
  const before = await world.start();
  await before.create("acme", WISH);
  world.failure = full;
  await world.sweepUntil(before, DUE + 2 * MINUTE);
  await before.close();
  await world.sweepUntil(await world.start(), DUE + 10 * MINUTE);
  t.same(world.attempts, [0, 1, 6]);
});

t.test("several that were missed while the server was down are made up once", async (t) => {
  const world = new World();
  const before = await world.start();
  await before.create("acme", WISH);
  await before.close();
  world.now = DUE + 75 * HOUR;
  const after = await world.start();
  await world.sweepUntil(after, DUE + 95 * HOUR);
  t.same(world.attempts, [75 * 60]);
  t.match(world.only, { completed: 1, nextAt: DUE + 96 * HOUR, last: { dueAt: DUE } });
  await world.sweepUntil(after, DUE + 97 * HOUR);
  t.same(world.attempts, [75 * 60, 96 * 60], "and the next one is in its time");
});

t.test("one that always ends the server with it is given up after its attempts", async (t) => {
  const world = new World();
  const before = await world.start();
  await before.create("acme", WISH);
  world.hangs = true;
  // Nothing is said of an end: the process is gone.
  for (let start = 0; start < 8; start++) {
    const schedules = start === 0 ? before : await world.start();
    await world.sweepUntil(schedules, DUE + (start + 1) * 20 * MINUTE);
  }
  t.equal(world.attempts.length, 4);
  t.match(world.only, { due: null, failures: 1, last: { error: { message: /server stopped during the last of 4/ } } });
  t.match(world.lines, [{ message: "a scheduled backup failed", attempt: 4, again: false }]);
});

t.test("a disabled one is not made, and is not made up when it is enabled again", async (t) => {
  const world = new World();
  const schedules = await world.start();
  schedules.setEnabled(await schedules.create("acme", WISH), false);
  await world.sweepUntil(schedules, DUE + HOUR);
  schedules.setEnabled(world.only, true);
  await world.sweepUntil(schedules, DUE + 2 * HOUR);
  t.same(world.attempts, []);
  t.equal(world.only.nextAt, DUE + 24 * HOUR);
});

t.test("an error that is none of the system's is told as it is", (t) => {
  t.same(failureOf(new TypeError("x is not a function")), {
    ...{ code: "internal_error", message: "TypeError: x is not a function" },
  });
  t.end();
});
