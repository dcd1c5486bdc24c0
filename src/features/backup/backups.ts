/**
 * Backups of the tenants of an actor: running ones, recent failures, and finished ones (backup-folder.ts). A tenant's
 * administrators ask for them, or the directory's actor orders them (backup-orders.ts). One runs at a time per tenant
 * and store. A backup that a crash cut short is reported as failed; the next one removes its leftovers. Owned by the
 * actor.
 */

import type { Partition } from "../../actor/partition.js";
import type { Scheduler } from "../../actor/scheduler.js";
import { type BackupFolder, bytesOfId, type Manifest, newBackupId } from "../../backup/backup-folder.js";
import type { FolderMark } from "../../backup/folder-mark.js";
import { opensBackup, type Verified, verifyBackups } from "../../backup/read-backups.js";
import type { BackupOrder, BackupReport, BackupStore, OrderHeard, ReportSent } from "../../protocol/backup-orders.js";
import { DbError } from "../../protocol/errors.js";
import type { Turns } from "../../protocol/turns.js";
import { backupKey } from "../../storage/backup-file.js";
import { LogLacks } from "../../storage/commit-log.js";
import { type BackupView, cutShort, viewOf } from "./backup-view.js";
import { OrderReports } from "./order-reports.js";
import { continues, lacksBranches, writeBackup } from "./write-backup.js";

export type BackupFolders = Readonly<Record<BackupStore, BackupFolder>>;
type CreateOrder = Extract<BackupOrder, { readonly do: "create" }>;

export interface BackupsHost {
  readonly scheduler: Pick<Scheduler, "shouldYield" | "yieldTurn">;
  readonly folders: BackupFolders;
  report(report: BackupReport, sent: ReportSent): void;
  /** In a cluster: another node may have the directory. */
  readonly isBetweenNodes?: boolean;
  /** Of the folder that all nodes share; absent: one process uses it. */
  readonly shared?: {
    readonly mark: Pick<FolderMark, "requireSame">;
    /** What it must say, as the directory's node tells. */
    ask(partition: number): Promise<string>;
  };
  log(level: "error" | "warn" | "info", message: string, fields: object): void;
}

export interface BackupOptions {
  readonly incremental: boolean;
  readonly passphrase: string | null;
  readonly name: string | null;
}

type Running = { -readonly [K in keyof BackupView]: BackupView[K] };

/** What is being made, or failed last. */
interface Making {
  readonly view: Running;
  cancelled: boolean;
  /** Rejects when it fails. */
  made: Promise<Manifest>;
}

/** How a backup is to be made. */
interface Wish extends Pick<CreateOrder, "tenantId" | "tenant" | "store" | "passphrase" | "base" | "schedule"> {
  readonly verifies: boolean;
  readonly name: string | null;
  readonly progress: (view: BackupView) => void;
}

interface Base {
  readonly base: Manifest | null;
  readonly note: string | null;
}

export class Backups {
  /** By store and tenant's id. */
  private readonly latest = new Map<string, Making>();
  private readonly ordered = new Map<string, { cancelled: boolean; making: Making | null }>();
  private readonly reports: OrderReports<BackupReport>;
  private closing = false;

  constructor(private readonly host: BackupsHost) {
    this.reports = new OrderReports(host);
  }

  /** Backups that are being made. */
  get running(): number {
    return [...this.latest.values()].filter(({ view }) => view.finished_at === null).length;
  }

  /** Throws conflict while one of the tenant's is being made, folder_not_shared. */
  async start(partition: Partition, tenantId: string, tenant: number, options: BackupOptions): Promise<BackupView> {
    const { incremental, passphrase, name } = options;
    const base = incremental ? "newest" : "none";
    const { shared } = this.host;
    shared?.mark.requireSame(await shared.ask(partition.number));
    const wish = { tenantId, tenant, store: "tenant", passphrase, base, name } as const;
    const asked = { schedule: null, verifies: false, progress: () => undefined };
    const making = await this.make(partition, { ...wish, ...asked });
    return { ...making.view };
  }

  /** Waits for the tenant's running backup, if any; its result is reported. */
  order(partition: Partition, order: Exclude<BackupOrder, { readonly do: "cancel" }>): void {
    const { ask } = order;
    let told = { entries: 0, bytes: 0 };
    const report = ({ state, ...rest }: Pick<BackupReport, "state" | "backup" | "error">): void =>
      this.reports.tell(ask, partition.number, { ask, ...told, state, ...rest }, hasEnded(state));
    if (order.do === "look") {
      report(this.seen(order.mark));
      return;
    }
    report({ state: "running", backup: null, error: null });
    const progress = ({ status, entries, bytes }: BackupView): void => {
      told = { entries, bytes };
      if (status === "running" || status === "verifying") report({ state: status, backup: null, error: null });
    };
    this.carryOut(partition, order, progress).then(
      ({ id, kind, base, entries, bytes, micros, note }) => {
        told = { entries, bytes };
        report({ state: "completed", backup: { id, kind, base, entries, bytes, micros, note }, error: null });
      },
      (error: unknown) => report({ state: "failed", backup: null, error: failureOf(error) }),
    );
  }

  private seen(mark: string): Pick<BackupReport, "state" | "backup" | "error"> {
    try {
      this.requireMark(mark);
      return { state: "completed", backup: null, error: null };
    } catch (error) {
      return { state: "failed", backup: null, error: failureOf(error) };
    }
  }

  private requireMark(mark: string | undefined): void {
    if (mark !== undefined) this.host.shared?.mark.requireSame(mark);
  }

  /** An order, if it is still under way. */
  cancel(ask: string): void {
    const ordered = this.ordered.get(ask);
    if (ordered === undefined) return;
    ordered.cancelled = true;
    if (ordered.making !== null) ordered.making.cancelled = true;
  }

  /** The directory's actor has a report on an order. */
  reportHeard(heard: OrderHeard): void {
    this.reports.heard(heard);
    if (!heard.isWanted) this.cancel(heard.order);
  }

  /** Called every half second. */
  sweep(): void {
    for (const ask of this.reports.sweep()) this.cancel(ask);
  }

  /** The partition is another node's, or is about to be. */
  refuse(partition: number, ask: string): void {
    const error = failureOf(
      new DbError("partition_unavailable", "The partition gets another owner. Back it up again."),
    );
    this.reports.tell(ask, partition, { ask, entries: 0, bytes: 0, state: "failed", backup: null, error }, true);
  }

  private async carryOut(partition: Partition, order: CreateOrder, progress: Wish["progress"]): Promise<Manifest> {
    const ordered: { cancelled: boolean; making: Making | null } = { cancelled: false, making: null };
    this.ordered.set(order.ask, ordered);
    try {
      this.requireMark(order.mark);
      for (;;) {
        const other = this.latest.get(nameOf(order.store, order.tenantId));
        if (other === undefined || other.view.finished_at !== null) break;
        await other.made.catch(() => undefined);
      }
      if (ordered.cancelled) throw new DbError("cancelled", "The backup was cancelled.");
      ordered.making = await this.make(partition, { ...order, name: null, progress });
      ordered.making.cancelled ||= ordered.cancelled;
      return await ordered.making.made;
    } finally {
      this.ordered.delete(order.ask);
    }
  }

  private async make(partition: Partition, wish: Wish): Promise<Making> {
    const { tenantId, store, passphrase, schedule } = wish;
    if (this.closing) throw new DbError("shutting_down");
    const name = nameOf(store, tenantId);
    if (this.latest.get(name)?.view.finished_at === null) {
      throw new DbError("conflict", "A backup of the tenant is already running.");
    }
    const id = newBackupId();
    const view: Running = {
      ...{
        id,
        name: wish.name,
        status: "running",
        kind: "full",
        base: null,
        encrypted: passphrase !== null,
        entries: 0,
        bytes: 0,
      },
      ...{ started_at: new Date().toISOString(), finished_at: null, holds_until: null, digest: null, schedule },
      ...{ verified_at: null, imported: false, note: null, error: null },
    };
    const making: Making = { view, cancelled: false, made: Promise.reject(new DbError("cancelled")) };
    making.made.catch(() => undefined);
    this.latest.set(name, making);
    try {
      await this.discardUnfinished(store, tenantId);
      const chosen = await this.baseOf(partition, wish);
      if (making.cancelled) throw new DbError("cancelled", "The backup was cancelled.");
      const kind = chosen.base === null ? "full" : "incremental";
      Object.assign(view, { kind, base: chosen.base?.id ?? null, note: chosen.note });
      making.made = this.write(partition, wish, making, chosen);
    } catch (error) {
      this.latest.delete(name);
      throw error;
    }
    making.made.then(
      () => void (this.latest.get(name) === making && this.latest.delete(name)),
      (error: unknown) => this.failed(making, wish, error),
    );
    return making;
  }

  /** Removes leftovers of crashes. No backup of the tenant is being made in that store. */
  private async discardUnfinished(store: BackupStore, tenantId: string): Promise<void> {
    const folder = this.host.folders[store];
    for (const { id } of folder.unfinished(tenantId)) await folder.discard(tenantId, id);
  }

  private async write(partition: Partition, wish: Wish, making: Making, chosen: Base): Promise<Manifest> {
    const { tenantId, tenant, passphrase, name, schedule, verifies, progress } = wish;
    const { view } = making;
    const folder = this.host.folders[wish.store];
    const backup = bytesOfId(view.id);
    const key = passphrase === null ? null : await backupKey(passphrase, backup);
    const work = { usedMs: 0, account: partition.account };
    const yieldTurn = async (): Promise<void> => {
      await this.host.scheduler.yieldTurn(tenant, work);
      if (this.closing) throw new DbError("shutting_down");
      if (making.cancelled) throw new DbError("cancelled", "The backup was cancelled.");
      if (partition.places.get(tenant) !== undefined)
        throw new DbError("conflict", "The tenant was moved or is being restored; make the backup again.");
    };
    const turns: Turns = { shouldYield: () => this.host.scheduler.shouldYield(), yieldTurn };
    const made = (from: Base): Promise<Manifest> =>
      writeBackup({
        ...{ id: view.id, tenantId, tenant, partition, folder, seal: { backup, key }, name, schedule, turns, ...from },
        progress: (entries, bytes) => progress(Object.assign(view, { entries, bytes })),
      });
    const manifest = await made(chosen).catch((error: unknown) => {
      if (!(error instanceof LogLacks) || chosen.base === null) throw error;
      if (typeof wish.base === "object" && "continues" in wish.base) throw doesNotContinue(chosen.base);
      const full = { base: null, note: NOT_CONTINUED };
      Object.assign(view, { kind: "full", ...full, entries: 0, bytes: 0 });
      return made(full);
    });
    if (!verifies) return manifest;
    progress(Object.assign(view, { status: "verifying" }));
    try {
      await this.verified(folder, [manifest], passphrase, yieldTurn);
    } catch (error) {
      await folder.discard(tenantId, view.id);
      throw error;
    }
    return manifest;
  }

  private failed({ view }: Making, { tenantId }: Wish, error: unknown): void {
    const failure = failureOf(error);
    Object.assign(view, { status: "failed", finished_at: new Date().toISOString(), error: failure });
    this.host.log("warn", "a backup failed", { tenant: tenantId, backup: view.id, error: String(error) });
  }

  /** The newest backup that the log still continues. Without one, a full backup is made, which says why. */
  private async baseOf(
    partition: Partition,
    { tenantId, tenant, store, base, passphrase, schedule }: Wish,
  ): Promise<Base> {
    if (base === "none") return { base: null, note: null };
    const folder = this.host.folders[store];
    const source = { dataOf: (one: Manifest) => folder.dataOf(one), passphrase };
    if (typeof base === "object" && "continues" in base) {
      const manifest = folder.get(tenantId, base.continues);
      if (continues(partition, manifest)) {
        const note = lacksBranches(partition, tenant, manifest) ? WITHOUT_BRANCHES : null;
        if (await opensBackup(manifest, source)) return { base: manifest, note };
        const message = "passphrase: it is not the one that the backup was made with";
        throw new DbError("invalid_request", message, { field: "passphrase" });
      }
      throw doesNotContinue(manifest);
    }
    const isChosen = (one: Manifest): boolean =>
      base === "newest" ? (one.schedule ?? null) === schedule : base.newestOf.includes(one.id);
    const newest = folder.list(tenantId).find((one) => !one.imported && isChosen(one));
    if (newest === undefined) return { base: null, note: "This is a full backup because there was none to continue." };
    if (!continues(partition, newest)) {
      return { base: null, note: NOT_CONTINUED };
    }
    if (!(await opensBackup(newest, source))) {
      return { base: null, note: "This is a full backup because the last one is encrypted differently." };
    }
    if (lacksBranches(partition, tenant, newest)) {
      return { base: null, note: "This is a full backup because the last one holds no branches." };
    }
    return { base: newest, note: null };
  }

  /** Newest first. */
  list(tenantId: string): BackupView[] {
    const { tenant: folder } = this.host.folders;
    const latest = this.latest.get(nameOf("tenant", tenantId))?.view;
    const whole = folder.list(tenantId).filter(({ id }) => id !== latest?.id);
    const unfinished = folder.unfinished(tenantId).filter(({ id }) => id !== latest?.id);
    return [...(latest === undefined ? [] : [{ ...latest }]), ...unfinished.map(cutShort), ...whole.map(viewOf)];
  }

  /** Throws not_found. */
  get(tenantId: string, id: string): BackupView {
    const { tenant: folder } = this.host.folders;
    const latest = this.latest.get(nameOf("tenant", tenantId))?.view;
    if (latest?.id === id) return { ...latest };
    const unfinished = folder.unfinished(tenantId).find((one) => one.id === id);
    return unfinished === undefined ? viewOf(folder.get(tenantId, id)) : cutShort(unfinished);
  }

  /** The one of that id, or the newest whole one of that name. Throws not_found. */
  named(tenantId: string, name: string): BackupView {
    const found = this.host.folders.tenant.list(tenantId).find((one) => one.name === name);
    return this.get(tenantId, found?.id ?? name);
  }

  /** One that is being made is given up first. */
  async remove(tenantId: string, id: string): Promise<void> {
    const name = nameOf("tenant", tenantId);
    const latest = this.latest.get(name);
    if (latest?.view.id !== id) {
      const { tenant: folder } = this.host.folders;
      const isUnfinished = folder.unfinished(tenantId).some((one) => one.id === id);
      await (isUnfinished ? folder.discard(tenantId, id) : folder.remove(tenantId, id));
      return;
    }
    latest.cancelled = true;
    // A cancellation at the last moment finds the backup complete.
    const isMade = await latest.made.then(
      () => true,
      () => false,
    );
    if (isMade) await this.host.folders.tenant.remove(tenantId, id);
    else if (this.latest.get(name) === latest) this.latest.delete(name);
  }

  /**
   * The tenant was deleted: its own backups go. Those of the installation stay, and no backup of another tenant of that
   * id continues them.
   */
  async forget(tenantId: string, turn: () => Promise<void>): Promise<void> {
    for (const store of ["tenant", "whole"] as const) {
      const name = nameOf(store, tenantId);
      const latest = this.latest.get(name);
      if (latest === undefined) continue;
      latest.cancelled = true;
      await latest.made.catch(() => undefined);
      this.latest.delete(name);
    }
    await this.host.folders.tenant.removeAll(tenantId);
    await this.host.folders.whole.disown(tenantId, turn);
  }

  /**
   * Reads the backup and those that it continues. Throws backup_damaged, and invalid_request for a wrong passphrase.
   */
  verify(tenantId: string, id: string, passphrase: string | null, turn: () => Promise<void>): Promise<Verified> {
    const folder = this.host.folders.tenant;
    return this.verified(folder, folder.chainOf(folder.get(tenantId, id)), passphrase, turn);
  }

  private async verified(
    folder: BackupFolder,
    chain: readonly Manifest[],
    passphrase: string | null,
    turn: () => Promise<void>,
  ): Promise<Verified> {
    const found = await verifyBackups(chain, { dataOf: (one) => folder.dataOf(one), passphrase }, turn);
    for (const manifest of chain) folder.markVerified(manifest);
    return found;
  }

  async close(): Promise<void> {
    this.closing = true;
    await Promise.all([...this.latest.values()].map(({ made }) => made.catch(() => undefined)));
  }
}

const NOT_CONTINUED =
  "This is a full backup because the commit log does not have everything since the last one any more.";

const WITHOUT_BRANCHES =
  "This backup holds no branches because the one that it continues, of an earlier release, holds none.";

function doesNotContinue(last: Manifest): DbError {
  const message = `until: the commit log does not continue backup "${last.id}", whose last moment is ${timeOf(last)}.`;
  return new DbError("conflict", message, { field: "until" });
}

function hasEnded(state: BackupReport["state"]): boolean {
  return state === "completed" || state === "failed";
}

function nameOf(store: BackupStore, tenantId: string): string {
  return `${store}/${tenantId}`;
}

function timeOf({ micros }: Manifest): string {
  return new Date(micros / 1000).toISOString();
}

/** For who asked: without the paths that the system's errors name, which are for the log. */
export function failureOf(error: unknown): { code: string; message: string } {
  const { code, message } = error instanceof DbError ? error : ofSystem(error as NodeJS.ErrnoException);
  return { code, message };
}

function ofSystem(error: NodeJS.ErrnoException): DbError {
  if (error.code === "ENOSPC" || error.code === "EDQUOT") return new DbError("disk_full");
  if (error.syscall === undefined) return new DbError("internal_error", String(error));
  return new DbError("internal_error", `The backup folder cannot be used (${error.code}): see backup.directory.`);
}
