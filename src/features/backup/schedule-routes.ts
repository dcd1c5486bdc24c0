/** /v1/backup-schedules and /admin/backups: answered in the directory's actor. */

import { requireSystem } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { pageOf } from "../../bodies/paging.js";
import type { Input } from "../../bodies/validate.js";
import type { ScheduleRecord } from "../../directory/records.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { SYSTEM_TENANT } from "../../protocol/identity.js";
import { LIST_PAGE_DEFAULT } from "../../protocol/limits.js";
import type { Schedules } from "./schedules.js";
import type { WholeBackups } from "./whole-backups.js";
import type { WholeRestores } from "./whole-restores.js";

export function scheduleHandlers(schedules: Schedules) {
  const viewOf = (schedule: ScheduleRecord) => scheduleView(schedule, schedules.isRunning(schedule.id));
  const find = (request: Request, { params }: Input) => schedules.get(params.id!, isVisibleTo(request));
  return {
    "backups.schedules.create": async (request, { body }) => {
      const { cron, timezone = "UTC", full_every = 1, keep = null, keep_days = null } = body;
      const { passphrase = null, enabled = true, installation = false } = body;
      if (installation) requireSystem(request);
      const wish = { cron, timezone, fullEvery: full_every, keep, keepDays: keep_days, passphrase, enabled };
      return { plain: viewOf(await schedules.create(installation ? null : request.head.tenantId, wish)) };
    },
    "backups.schedules.list": (request, { query }) => {
      const { page, total } = pageIn(schedules.list(isVisibleTo(request)), query);
      return { plain: { schedules: page.map(viewOf), total } };
    },
    "backups.schedules.get": (request, input) => ({ plain: viewOf(find(request, input)) }),
    "backups.schedules.update": (request, input) => ({
      plain: viewOf(schedules.setEnabled(find(request, input), input.body.enabled)),
    }),
    "backups.schedules.delete": async (request, input) => {
      await schedules.remove(find(request, input));
      return { plain: null };
    },
    "backups.schedules.run": (request, input) => ({ plain: viewOf(schedules.runNow(find(request, input))) }),
  } satisfies Handlers;
}

export function wholeBackupHandlers(backups: WholeBackups, restores: WholeRestores) {
  return {
    "admin.backups.create": async (_request, { body }) => {
      await backups.requireShared();
      const { incremental = false, passphrase = null } = body;
      return { plain: backups.start({ incremental, passphrase, schedule: null, verifies: false }) };
    },
    "admin.backups.list": (_request, { query }) => {
      const { page, total } = pageIn(backups.list(), query);
      return { plain: { backups: page, total } };
    },
    "admin.backups.get": (_request, { params }) => ({ plain: backups.get(params.id!) }),
    "admin.backups.delete": async (_request, { params }) => {
      await backups.remove(params.id!);
      return { plain: null };
    },
    "admin.backups.verify": async (_request, { params, body }) => ({
      plain: await backups.verify(params.id!, body.passphrase ?? null),
    }),
    "admin.backups.restore": (_request, { params, body }) => {
      const { passphrase = null, tenants = null, replace = false } = body;
      return { plain: restores.start({ backup: params.id!, tenants, replace }, passphrase) };
    },
    "admin.backups.restore.get": (_request, { params }) => ({ plain: restores.get(params.id!) }),
  } satisfies Handlers;
}

function isVisibleTo({ head }: Request): (schedule: ScheduleRecord) => boolean {
  return ({ tenantId }) => (tenantId ?? SYSTEM_TENANT) === head.tenantId;
}

function pageIn<T>(all: readonly T[], query: Input["query"]): { page: readonly T[]; total: number } {
  const { limit = LIST_PAGE_DEFAULT, offset = 0 } = pageOf(query);
  return { page: all.slice(offset, offset + limit), total: all.length };
}

function scheduleView(schedule: ScheduleRecord, running: boolean): ResponseOf<"backups.schedules.get"> {
  const { id, tenantId, cron, timezone, fullEvery, keep, keepDays, passphrase, enabled, due, last } = schedule;
  const { createdAt, nextAt, lastSuccessAt, completed, failures } = schedule;
  const waits = due !== null && due.attempts > 0 && !running;
  return {
    ...{ id, installation: tenantId === null, cron, timezone, full_every: fullEvery, keep, keep_days: keepDays },
    ...{ encrypted: passphrase !== null, enabled, running, created_at: isoOf(createdAt), next_at: timeOf(nextAt) },
    retry_at: waits ? timeOf(due.notBefore) : null,
    last: last && {
      ...{ due_at: isoOf(last.dueAt), finished_at: isoOf(last.finishedAt), backup: last.backup, error: last.error },
    },
    ...{ last_success_at: timeOf(lastSuccessAt), completed, failures },
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : isoOf(ms);
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
