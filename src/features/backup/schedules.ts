/**
 * Scheduled backups, of tenants and of the whole installation. A schedule is a record of the directory. Its next time,
 * and what is due, are on disk before the work begins. So what a crash cuts short is done after the start, and however
 * many times were missed, it is done once. Each backup is read again after it is written. One that fails is tried
 * again after growing pauses, then at its next time. Owned by the directory's actor, whose sweep drives it.
 */
import { randomBytes } from "node:crypto";
import type { BackupFolder } from "../../backup/backup-folder.js";
import type { WholeFolder } from "../../backup/whole-folder.js";
import type { Directory } from "../../directory/directory.js";
import type { ScheduleRecord } from "../../directory/records.js";
import { DbError } from "../../protocol/errors.js";
import {
  BACKUP_SCHEDULES_MAX,
  SCHEDULED_BACKUP_ATTEMPTS,
  SCHEDULED_BACKUP_PAUSES_MINUTES,
  SCHEDULED_BACKUPS_AT_ONCE,
} from "../../protocol/limits.js";
import type { ScheduleMetrics } from "../../protocol/messages.js";
import type { BackupOrders } from "./backup-orders.js";
import { failureOf } from "./backups.js";
import { expired, isFullDue } from "./retention.js";
import { sealPassphrase, unsealPassphrase } from "./sealed-passphrase.js";
import type { WholeBackups } from "./whole-backups.js";

export interface SchedulesHost {
  readonly directory: Directory;
  readonly orders: BackupOrders;
  readonly whole: WholeBackups;
  readonly folder: BackupFolder;
  readonly wholeFolder: WholeFolder;
  readonly secret: Uint8Array;
  readonly now: () => number;
  durable(): Promise<void>;
  log(level: "error" | "warn" | "info", message: string, fields: object): void;
}

/** The settings that a client gives when it makes or changes a schedule; the passphrase is in the clear. */
export type ScheduleWish = Pick<
  ScheduleRecord,
  "cron" | "timezone" | "fullEvery" | "keep" | "keepDays" | "passphrase" | "enabled"
>;

type Due = NonNullable<ScheduleRecord["due"]>;

/** Milliseconds after a time, of the next one; null: there is none. */
type NextRun = (cron: string, timezone: string, afterMs: number) => number | null;

export class Schedules {
  /** As they are on disk. */
  private readonly all = new Map<string, ScheduleRecord>();
  private readonly running = new Map<string, { readonly controller: AbortController; readonly ended: Promise<void> }>();
  private nextRun: NextRun | null = null;
  private closing = false;

  private constructor(private readonly host: SchedulesHost) {}

  static async open(host: SchedulesHost): Promise<Schedules> {
    const schedules = new Schedules(host);
    await schedules.reload();
    return schedules;
  }

  /** Takes what the directory has: at the beginning, and after its records were replaced. */
  async reload(): Promise<void> {
    this.all.clear();
    for (const schedule of this.host.directory.listSchedules()) this.all.set(schedule.id, schedule);
    if (this.all.size > 0) await this.loadCron();
  }

  /** `tenantId` null: of the whole installation. Throws invalid_request, conflict, tenant_not_found. */
  async create(tenantId: string | null, wish: ScheduleWish): Promise<ScheduleRecord> {
    const nextRun = await this.loadCron();
    // It may have been deleted meanwhile.
    if (tenantId !== null) this.host.directory.placeOf(tenantId);
    const { cron, timezone, fullEvery, keep, keepDays, passphrase, enabled } = wish;
    const now = this.host.now();
    const nextAt = nextRun(cron, timezone, now);
    if (nextAt === null) {
      throw new DbError("invalid_request", `cron: "${cron}" names no time that is to come`, { field: "cron" });
    }
    if (this.list((one) => one.tenantId === tenantId).length >= BACKUP_SCHEDULES_MAX) {
      throw new DbError(
        "conflict",
        `There are already ${BACKUP_SCHEDULES_MAX} schedules, which is the limit. Delete one first.`,
      );
    }
    const id = `sch_${randomBytes(16).toString("hex")}`;
    const sealed = passphrase === null ? null : sealPassphrase(passphrase, id, this.host.secret);
    const schedule: ScheduleRecord = {
      ...{ id, tenantId, cron, timezone, fullEvery, keep, keepDays, passphrase: sealed, enabled, createdAt: now },
      ...{ nextAt: enabled ? nextAt : null, due: null, last: null, lastSuccessAt: null, completed: 0, failures: 0 },
    };
    this.save(schedule);
    return schedule;
  }

  /** By creation. */
  list(isWanted: (schedule: ScheduleRecord) => boolean): ScheduleRecord[] {
    return [...this.all.values()].filter(isWanted).sort((a, b) => a.createdAt - b.createdAt);
  }

  /** Throws not_found. */
  get(id: string, isVisible: (schedule: ScheduleRecord) => boolean): ScheduleRecord {
    const schedule = this.all.get(id);
    if (schedule === undefined || !isVisible(schedule)) {
      throw new DbError("not_found", `Schedule "${id}" does not exist.`);
    }
    return schedule;
  }

  isRunning(id: string): boolean {
    return this.running.has(id);
  }

  get isBusy(): boolean {
    return this.running.size > 0;
  }

  setEnabled(schedule: ScheduleRecord, enabled: boolean): ScheduleRecord {
    const nextAt = enabled ? this.next(schedule) : null;
    return this.save({ ...schedule, enabled, nextAt, due: enabled ? schedule.due : null });
  }

  /** Makes one now, beside its times. */
  runNow(schedule: ScheduleRecord): ScheduleRecord {
    const now = this.host.now();
    if (schedule.due !== null) return this.save({ ...schedule, due: { ...schedule.due, notBefore: now } });
    return this.save({ ...schedule, due: { at: now, attempts: 0, notBefore: now } });
  }

  /** Its backups stay; one that is being made is given up. */
  async remove({ id }: ScheduleRecord): Promise<void> {
    this.all.delete(id);
    this.host.directory.removeSchedule(id);
    const running = this.running.get(id);
    running?.controller.abort();
    await running?.ended;
  }

  /** The tenant is deleted, and the records of its schedules with it. */
  forget(tenantId: string): void {
    for (const { id } of this.list((one) => one.tenantId === tenantId)) {
      this.all.delete(id);
      this.running.get(id)?.controller.abort();
    }
  }

  /** Called every now and then. */
  sweep(): void {
    if (this.closing || this.all.size === 0 || this.nextRun === null) return;
    const now = this.host.now();
    for (let schedule of this.all.values()) {
      if (schedule.due === null && schedule.enabled && schedule.nextAt !== null && schedule.nextAt <= now) {
        const due = { at: schedule.nextAt, attempts: 0, notBefore: now };
        schedule = this.save({ ...schedule, due, nextAt: this.next(schedule) });
      }
      if (
        schedule.due !== null &&
        schedule.due.attempts >= SCHEDULED_BACKUP_ATTEMPTS &&
        !this.running.has(schedule.id)
      ) {
        schedule = this.giveUp(schedule, schedule.due);
      }
      const isFree = !this.running.has(schedule.id) && this.running.size < SCHEDULED_BACKUPS_AT_ONCE;
      if (schedule.due !== null && schedule.due.notBefore <= now && isFree) this.run(schedule);
    }
  }

  /** The last attempt did not come to its end: the server ended with it. */
  private giveUp(schedule: ScheduleRecord, due: Due): ScheduleRecord {
    const message = `The server stopped during the last of ${SCHEDULED_BACKUP_ATTEMPTS} attempts.`;
    const last = {
      dueAt: due.at,
      finishedAt: this.host.now(),
      backup: null,
      error: { code: "internal_error", message },
    };
    const { id, tenantId, failures } = schedule;
    const fields = { schedule: id, tenant: tenantId, attempt: due.attempts, again: false, error: message };
    this.host.log("warn", "a scheduled backup failed", fields);
    return this.save({ ...schedule, due: null, last, failures: failures + 1 });
  }

  metrics(): ScheduleMetrics[] {
    return [...this.all.values()].map(({ id, tenantId, lastSuccessAt, nextAt, completed, failures }) => ({
      ...{ schedule: id, tenant: tenantId, completed, failures },
      lastSuccessSeconds: (lastSuccessAt ?? 0) / 1000,
      nextSeconds: (nextAt ?? 0) / 1000,
    }));
  }

  async close(): Promise<void> {
    this.closing = true;
    for (const { controller } of this.running.values()) controller.abort();
    await Promise.all([...this.running.values()].map(({ ended }) => ended));
  }

  private run(schedule: ScheduleRecord): void {
    const controller = new AbortController();
    const ended = this.attempt(schedule, controller.signal)
      .catch((error: unknown) => {
        this.host.log("error", "a schedule of backups failed", { schedule: schedule.id, error: String(error) });
      })
      .finally(() => this.running.delete(schedule.id));
    this.running.set(schedule.id, { controller, ended });
  }

  private async attempt(schedule: ScheduleRecord, signal: AbortSignal): Promise<void> {
    const due = { ...schedule.due!, attempts: schedule.due!.attempts + 1 };
    this.save({ ...schedule, due });
    // A crash from here on counts as an attempt, so nothing crashes for ever.
    await this.host.durable();
    const { id } = schedule;
    let backup: string | null = null;
    let error: { code: string; message: string } | null = null;
    try {
      backup = schedule.tenantId === null ? await this.makeWhole(schedule, signal) : await this.make(schedule, signal);
    } catch (thrown) {
      error = failureOf(thrown);
    }
    const current = this.all.get(id);
    if (current === undefined) return;
    if (this.closing && error !== null) {
      this.save({ ...current, due: { ...due, attempts: due.attempts - 1 } });
      return;
    }
    const now = this.host.now();
    const last = { dueAt: due.at, finishedAt: now, backup, error };
    if (error === null) {
      const { completed } = current;
      this.save({ ...current, due: null, last, lastSuccessAt: now, completed: completed + 1 });
      await this.removeExpired(current);
      return;
    }
    const again = due.attempts < SCHEDULED_BACKUP_ATTEMPTS;
    const pause = (SCHEDULED_BACKUP_PAUSES_MINUTES[due.attempts - 1] ?? 0) * 60_000;
    this.save({
      ...current,
      due: again ? { ...due, notBefore: now + pause } : null,
      last,
      failures: current.failures + 1,
    });
    this.host.log("warn", "a scheduled backup failed", {
      ...{ schedule: id, tenant: schedule.tenantId, attempt: due.attempts, again, error: error.message },
    });
  }

  private passphraseOf({ id, passphrase }: ScheduleRecord): string | null {
    if (passphrase === null) return null;
    const plain = unsealPassphrase(passphrase, id, this.host.secret);
    if (plain !== null) return plain;
    throw new DbError(
      "conflict",
      "The schedule's passphrase cannot be read because the key file has changed. Delete the schedule and create it again.",
    );
  }

  private async make(schedule: ScheduleRecord, signal: AbortSignal): Promise<string> {
    const tenantId = schedule.tenantId!;
    const { number, partition } = this.host.directory.placeOf(tenantId);
    const made = this.host.folder.list(tenantId).filter((one) => one.schedule === schedule.id);
    const kinds = made.map(({ kind }) => kind);
    const backup = await this.host.orders.make(
      partition,
      {
        ...{ tenant: number, tenantId, store: "tenant", passphrase: this.passphraseOf(schedule) },
        ...{ base: isFullDue(kinds, schedule.fullEvery) ? "none" : "newest", schedule: schedule.id, verifies: true },
      },
      signal,
    );
    return backup.id;
  }

  private async makeWhole(schedule: ScheduleRecord, signal: AbortSignal): Promise<string> {
    const made = this.host.wholeFolder.list().filter((one) => one.schedule === schedule.id);
    const incremental = !isFullDue(
      made.map(({ kind }) => kind),
      schedule.fullEvery,
    );
    const passphrase = this.passphraseOf(schedule);
    return (await this.host.whole.make({ incremental, passphrase, schedule: schedule.id, verifies: true }, signal)).id;
  }

  private async removeExpired(schedule: ScheduleRecord): Promise<void> {
    const { folder, wholeFolder } = this.host;
    const finishedAt = (one: { readonly finishedAt: string }): number => Date.parse(one.finishedAt);
    const { id, tenantId } = schedule;
    if (tenantId !== null) {
      const own = folder.list(tenantId).filter((one) => one.schedule === id);
      const backups = own.map((one) => ({
        id: one.id,
        finishedAt: finishedAt(one),
        needs: one.base === null ? [] : [one.base],
      }));
      for (const one of expired(backups, schedule, this.host.now()))
        await this.removeOne(() => folder.remove(tenantId, one.id));
      return;
    }
    const own = wholeFolder.list().filter((one) => one.schedule === id);
    const setOf = new Map(own.flatMap((one) => one.tenants.map((tenant) => [tenant.id, one.id] as const)));
    const backups = own.map((one) => {
      const needs = one.tenants.map(({ base }) => setOf.get(base ?? "")).filter((set) => set !== undefined);
      return { id: one.id, finishedAt: finishedAt(one), needs };
    });
    for (const one of expired(backups, schedule, this.host.now()))
      await this.removeOne(() => wholeFolder.remove(one.id));
  }

  /** One that somebody's own backup continues stays. */
  private async removeOne(remove: () => Promise<void>): Promise<void> {
    await remove().catch((error: unknown) => {
      if (!(error instanceof DbError)) throw error;
    });
  }

  private next({ cron, timezone }: ScheduleRecord): number | null {
    return this.nextRun!(cron, timezone, this.host.now());
  }

  private save(schedule: ScheduleRecord): ScheduleRecord {
    this.all.set(schedule.id, schedule);
    this.host.directory.saveSchedule(schedule);
    // A write that is undone has everything read again (reload).
    this.host.durable().catch(() => undefined);
    return schedule;
  }

  /** Installations without schedules do not load it. */
  private async loadCron(): Promise<NextRun> {
    if (this.nextRun !== null) return this.nextRun;
    const { Cron } = await import("croner");
    this.nextRun = (cron, timezone, afterMs) => {
      try {
        return new Cron(cron, { timezone }).nextRun(new Date(afterMs))?.getTime() ?? null;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        throw isTimeZone(timezone) ? noSchedule(cron) : noTimeZone(timezone);
      }
    };
    return this.nextRun;
  }
}

const noSchedule = (cron: string): DbError =>
  new DbError("invalid_request", `cron: "${cron}" is no schedule.`, {
    field: "cron",
    hint: 'Five fields: minute, hour, day of the month, month, day of the week; "0 3 * * *" is every day at 3:00.',
  });

const noTimeZone = (timezone: string): DbError =>
  new DbError("invalid_request", `timezone: "${timezone}" is no time zone.`, {
    field: "timezone",
    hint: 'Send a name such as "Europe/Lisbon" or "UTC".',
  });

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
