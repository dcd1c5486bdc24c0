/**
 * Backups of the whole installation: the directory's records, and one backup of every tenant, each as of its own
 * moment (the manifest tells which). One is made at a time. What a crash cuts short leaves no manifest and is removed
 * with the next one. Owned by the directory's actor.
 */

import { newBackupId } from "../../backup/backup-folder.js";
import { type Verified, verifyBackups } from "../../backup/read-backups.js";
import type { WholeFolder, WholeManifest } from "../../backup/whole-folder.js";
import type { Directory } from "../../directory/directory.js";
import type { TenantRecord } from "../../directory/records.js";
import type { MadeBackup } from "../../protocol/backup-orders.js";
import { DbError, type ErrorCode } from "../../protocol/errors.js";
import { WHOLE_BACKUP_TENANTS_AT_ONCE } from "../../protocol/limits.js";
import { VERSION } from "../../protocol/version.js";
import type { BackupOrders } from "./backup-orders.js";
import { failureOf } from "./backups.js";
import { type PatienceClock, patiently } from "./patience.js";

export interface WholeBackupsHost {
  readonly directory: Pick<Directory, "wholeRecords" | "placeOf">;
  readonly orders: Pick<BackupOrders, "make" | "requireShared" | "isBetweenNodes">;
  readonly folder: WholeFolder;
  readonly turn: () => Promise<void>;
  /** Rejects where another node may have the directory. */
  stillHere(): Promise<void>;
  /** Absent: the process's. */
  readonly clock?: PatienceClock;
  log(level: "error" | "warn" | "info", message: string, fields: object): void;
}

/** As clients see it. */
export interface WholeBackupView {
  readonly id: string;
  readonly status: "running" | "completed" | "failed";
  readonly kind: "full" | "incremental";
  readonly encrypted: boolean;
  readonly tenants_total: number;
  readonly tenants_done: number;
  readonly entries: number;
  readonly bytes: number;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly schedule: string | null;
  readonly verified_at: string | null;
  /** Of those that are done: the moment that each is of. */
  readonly tenants: readonly { readonly tenant: string; readonly holds_until: string; readonly bytes: number }[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface WholeBackupWish {
  readonly incremental: boolean;
  readonly passphrase: string | null;
  readonly schedule: string | null;
  readonly verifies: boolean;
}

type Made = WholeManifest["tenants"][number];
type Running = { -readonly [K in keyof WholeBackupView]: WholeBackupView[K] };

/** Of a tenant that is being moved or restored. */
const PASSING: ReadonlySet<ErrorCode> = new Set(["conflict", "partition_unavailable"]);
const TRIES = 5;
/** Errors that say by themselves what is to be done. */
const TOLD: ReadonlySet<ErrorCode> = new Set(["folder_not_shared", "partition_unavailable"]);

const CUT_SHORT =
  "The node with the directory stopped before the backup was complete. Make another backup; that removes the rest of this one, and so does deleting it.";

export class WholeBackups {
  private latest: {
    readonly view: Running;
    readonly controller: AbortController;
    made: Promise<WholeManifest>;
  } | null = null;

  constructor(private readonly host: WholeBackupsHost) {}

  get isRunning(): boolean {
    return this.latest?.view.finished_at === null;
  }

  /** Throws folder_not_shared when a node that owns a tenant's partition sees other backups. */
  async requireShared(): Promise<void> {
    const { directory, orders } = this.host;
    if (!orders.isBetweenNodes) return;
    await orders.requireShared(new Set(directory.wholeRecords().tenants.map(({ partition }) => partition)));
  }

  /** Throws conflict while one is being made. */
  start(wish: WholeBackupWish): WholeBackupView {
    const { view, made } = this.begin(wish);
    made.catch(() => undefined);
    return { ...view };
  }

  /** Resolves when it is whole and on disk; `signal` gives it up. */
  make(wish: WholeBackupWish, signal: AbortSignal): Promise<WholeManifest> {
    const { controller, made } = this.begin(wish);
    signal.addEventListener("abort", () => controller.abort());
    return made;
  }

  private begin(wish: WholeBackupWish) {
    if (this.latest?.view.finished_at === null) {
      throw new DbError("conflict", "A backup of the installation is already running.");
    }
    const controller = new AbortController();
    const view: Running = {
      ...{ id: newBackupId(), status: "running", kind: wish.incremental ? "incremental" : "full" },
      ...{ encrypted: wish.passphrase !== null, tenants_total: 0, tenants_done: 0, entries: 0, bytes: 0 },
      ...{ started_at: new Date().toISOString(), finished_at: null, schedule: wish.schedule, verified_at: null },
      ...{ tenants: [], error: null },
    };
    const made = this.makeOfAll(view, wish, controller.signal);
    const latest = { view, controller, made };
    this.latest = latest;
    made.then(
      () => {
        if (this.latest === latest) this.latest = null;
      },
      (error: unknown) => {
        const failure = failureOf(error);
        Object.assign(view, { status: "failed", finished_at: new Date().toISOString(), error: failure });
        this.host.log("warn", "a backup of the installation failed", { backup: view.id, error: String(error) });
      },
    );
    return latest;
  }

  private async makeOfAll(view: Running, wish: WholeBackupWish, signal: AbortSignal): Promise<WholeManifest> {
    const { folder, directory } = this.host;
    const made: Made[] = [];
    try {
      await folder.removeLeftovers(() => this.host.stillHere());
      const records = directory.wholeRecords();
      view.tenants_total = records.tenants.length;
      const saved = await folder.saveRecords(view.id, records, wish.passphrase);
      await this.makeAll(records.tenants, view, wish, signal, made);
      const finishedAt = new Date().toISOString();
      const kind = made.some((one) => one.kind === "incremental") ? "incremental" : "full";
      const manifest: WholeManifest = {
        ...{ id: view.id, kind, format: 1, engine: VERSION, encrypted: view.encrypted, tenants: made, records: saved },
        ...{ startedAt: view.started_at, finishedAt },
        ...(wish.schedule === null ? {} : { schedule: wish.schedule }),
        ...(wish.verifies ? { verifiedAt: finishedAt } : {}),
      };
      if (wish.verifies) await folder.readRecords(manifest, wish.passphrase);
      if (signal.aborted) throw new DbError("cancelled", "The backup was cancelled.");
      await this.save(manifest);
      return manifest;
    } catch (error) {
      await folder.discard(view.id, made);
      throw error;
    }
  }

  /** A deposed owner of the directory leaves no manifest, since the next one may have removed parts of the backup. */
  private async save(manifest: WholeManifest): Promise<void> {
    const { folder } = this.host;
    await folder.requireParts(manifest.tenants, this.host.turn);
    await this.host.stillHere();
    folder.save(manifest);
    await this.host.stillHere();
  }

  /** Some at a time; the first that fails ends them all, and is the one that is told. */
  private async makeAll(
    tenants: readonly TenantRecord[],
    view: Running,
    wish: WholeBackupWish,
    signal: AbortSignal,
    made: Made[],
  ): Promise<void> {
    const waiting = [...tenants];
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const earlier = wish.incremental ? this.earlierParts(wish.schedule) : null;
    const next = async (): Promise<void> => {
      for (let tenant = waiting.shift(); tenant !== undefined; tenant = waiting.shift()) {
        const backup = await this.makeOne(tenant, wish, earlier, either);
        made.push({ tenant: tenant.id, ...backup });
        view.tenants_done++;
        view.entries += backup.entries;
        view.bytes += backup.bytes;
        view.tenants = made.map(tenantView);
      }
    };
    // The first reason stays.
    const stopAll = (error: unknown) => failed.abort(error);
    await Promise.all(Array.from({ length: WHOLE_BACKUP_TENANTS_AT_ONCE }, () => next().catch(stopAll)));
    failed.signal.throwIfAborted();
  }

  /** Made by the owner of the tenant's partition; where that dies meanwhile, by the next one. */
  private async makeOne(
    tenant: TenantRecord,
    wish: WholeBackupWish,
    earlier: ReadonlyMap<string, readonly string[]> | null,
    signal: AbortSignal,
  ): Promise<MadeBackup> {
    const { orders, directory, clock } = this.host;
    const { passphrase, schedule, verifies } = wish;
    const base = earlier === null ? "none" : { newestOf: earlier.get(tenant.id) ?? [] };
    const patience = { passing: PASSING, tries: TRIES, isBetweenNodes: orders.isBetweenNodes, clock };
    try {
      return await patiently({ ...patience, isOver: () => signal.aborted }, () => {
        const { number, partition } = directory.placeOf(tenant.id);
        const order = { tenant: number, tenantId: tenant.id, passphrase, schedule, verifies };
        return orders.make(partition, { ...order, base, store: "whole" }, signal);
      });
    } catch (error) {
      const { code, message } = failureOf(error);
      if (signal.aborted) throw error;
      throw new DbError(
        TOLD.has(code as ErrorCode) ? (code as ErrorCode) : "conflict",
        `Tenant "${tenant.id}": ${message}`,
      );
    }
  }

  /** By tenant. A part that no backup holds is left over, and will be removed: nothing may continue it. */
  private earlierParts(schedule: string | null): Map<string, string[]> {
    const parts = new Map<string, string[]>();
    for (const { tenants, schedule: by = null } of this.host.folder.list()) {
      if (by !== schedule) continue;
      for (const { tenant, id } of tenants) parts.set(tenant, [...(parts.get(tenant) ?? []), id]);
    }
    return parts;
  }

  /** Newest first. */
  list(): WholeBackupView[] {
    const latest = this.latest?.view;
    const made = this.host.folder.list().filter(({ id }) => id !== latest?.id);
    const cut = this.host.folder.unfinished().filter(({ id }) => id !== latest?.id);
    return [...(latest === undefined ? [] : [{ ...latest }]), ...cut.map(cutShort), ...made.map(viewOf)];
  }

  /** Throws not_found. */
  get(id: string): WholeBackupView {
    if (this.latest?.view.id === id) return { ...this.latest.view };
    const { folder } = this.host;
    const startedAt = folder.cutShortSince(id);
    return startedAt === null ? viewOf(folder.get(id)) : cutShort({ id, startedAt });
  }

  /** One that is being made is given up. */
  async remove(id: string): Promise<void> {
    const latest = this.latest;
    if (latest?.view.id !== id) {
      const { folder } = this.host;
      await (folder.cutShortSince(id) === null ? folder.remove(id) : folder.discard(id, []));
      return;
    }
    latest.controller.abort();
    const isMade = await latest.made.then(
      () => true,
      () => false,
    );
    if (isMade) await this.host.folder.remove(id);
    else if (this.latest === latest) this.latest = null;
  }

  /** Reads all of it, and of what it continues. Errors as verifyBackups. */
  async verify(id: string, passphrase: string | null): Promise<Verified> {
    const { folder, turn } = this.host;
    const manifest = folder.get(id);
    await folder.readRecords(manifest, passphrase);
    let { files, entries, bytes } = { files: 1, entries: manifest.records.count, bytes: manifest.records.bytes };
    const source = { dataOf: folder.tenants.dataOf.bind(folder.tenants), passphrase };
    for (const one of manifest.tenants) {
      const chain = folder.tenants.chainOf(folder.tenants.get(one.tenant, one.id));
      const found = await verifyBackups(chain, source, turn);
      files += found.files;
      entries += found.entries;
      bytes += found.bytes;
    }
    folder.save({ ...manifest, verifiedAt: new Date().toISOString() });
    return { files, entries, bytes };
  }

  async close(): Promise<void> {
    this.latest?.controller.abort();
    await this.latest?.made.catch(() => undefined);
  }
}

function tenantView({ tenant, micros, bytes }: Made) {
  return { tenant, holds_until: new Date(micros / 1000).toISOString(), bytes };
}

function viewOf(manifest: WholeManifest): WholeBackupView {
  const { id, kind, encrypted, tenants, records, startedAt, finishedAt, schedule = null, verifiedAt = null } = manifest;
  const sum = (of: (one: Made) => number): number => tenants.reduce((all, one) => all + of(one), 0);
  return {
    ...{ id, status: "completed", kind, encrypted, tenants_total: tenants.length, tenants_done: tenants.length },
    ...{ entries: sum((one) => one.entries) + records.count, bytes: sum((one) => one.bytes) + records.bytes },
    ...{ started_at: startedAt, finished_at: finishedAt, schedule, verified_at: verifiedAt },
    ...{ tenants: tenants.map(tenantView), error: null },
  };
}

/** Of a backup that the end of its server cut short. */
function cutShort({ id, startedAt }: { readonly id: string; readonly startedAt: string }): WholeBackupView {
  return {
    ...{ id, status: "failed", kind: "full", encrypted: false },
    ...{ tenants_total: 0, tenants_done: 0, entries: 0, bytes: 0 },
    ...{ started_at: startedAt, finished_at: startedAt, schedule: null, verified_at: null, tenants: [] },
    error: { code: "cancelled", message: CUT_SHORT },
  };
}
