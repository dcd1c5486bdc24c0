/**
 * Replaces a tenant's content with a backup's, in the actor of the tenant's partition:
 *
 *   checking    every block of the backup and of those that it continues is read, before anything is touched
 *   restoring   the tenant is no longer served; its content is removed, and the backup's entries are written
 *   verifying   the content's digest is compared with the one that the backup was made with
 *
 * From the first removal on, a record of the tenant's place says so: after a crash the tenant stays refused, with a
 * hint on what to do, until it is restored again. Owned by the actor; orders come from the directory's actor
 * (restore-orders.ts).
 */

import type { Partition } from "../../actor/partition.js";
import type { Scheduler } from "../../actor/scheduler.js";
import type { Manifest } from "../../backup/backup-folder.js";
import type { FolderMark } from "../../backup/folder-mark.js";
import { type BackedUp, operationsOf, verifyBackups } from "../../backup/read-backups.js";
import type { OrderHeard, ReportSent } from "../../protocol/backup-orders.js";
import { DbError } from "../../protocol/errors.js";
import type { RestoreOrder, RestoreReport, RestoreState } from "../../protocol/placement.js";
import { isOfBranch, keyOfTenant } from "../../storage/backup-entries.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { FORMAT_VERSION } from "../../storage/format.js";
import { prefixRange, tenantPrefix } from "../../storage/keys.js";
import { JOBS } from "../jobs/jobs.js";
import { removeTenant } from "../placement/remove-tenant.js";
import { type Silencer, silenceTenant } from "../placement/silence-tenant.js";
import { writeEntries } from "../placement/write-entries.js";
import type { BackupFolders } from "./backups.js";
import { OrderReports } from "./order-reports.js";
import { RestoredBranches } from "./restored-branches.js";
import { tenantDigest } from "./tenant-digest.js";

export interface RestoresHost extends Silencer {
  readonly scheduler: Pick<Scheduler, "yieldTurn">;
  readonly folders: BackupFolders;
  report(report: RestoreReport, sent: ReportSent): void;
  /** In a cluster: another node may have the directory. */
  readonly isBetweenNodes?: boolean;
  /** Of the folder that all nodes share; absent: one process uses it. */
  readonly mark?: Pick<FolderMark, "requireSame">;
  failed(message: string, fields: object): void;
}

interface Running {
  readonly partition: Partition;
  /** Some of its commits may have been undone: why. */
  undone: DbError | null;
  done: Promise<void>;
}

const CUT_SHORT =
  "The restore was interrupted when the server stopped. An administrator must restore the tenant again (POST /admin/tenants/{tenant}/restore).";

const UNWANTED =
  "The node with the directory did not confirm the restore in time, so nothing was changed. Restore the tenant again.";

export class Restores {
  /** By the tenant's number. */
  private readonly running = new Map<number, Running>();
  /** Those that were found so when their partition was opened. */
  private readonly cutShort = new Map<number, { readonly partition: number; readonly report: RestoreReport }>();
  private readonly reports: OrderReports<RestoreReport>;
  private closing = false;

  constructor(private readonly host: RestoresHost) {
    this.reports = new OrderReports(host);
  }

  /** The directory's actor has a report. */
  reportHeard(heard: OrderHeard): void {
    this.reports.heard(heard);
  }

  /** Called every half second. */
  sweep(): void {
    this.reports.sweep();
  }

  private tell(partition: number, report: RestoreReport): void {
    const hasEnded = report.state === "completed" || report.state === "failed";
    this.reports.tell(report.restore, partition, report, hasEnded);
  }

  /** The partition was opened: tells of restores that the end of its server cut short. */
  opened(partition: Partition): void {
    for (const [tenant, place] of partition.places.entries()) {
      if (place.kind !== "restoring" || this.running.has(tenant)) continue;
      const { restore, backup = "" } = place;
      const error = { code: "partition_unavailable", message: CUT_SHORT } as const;
      const report = { tenant, restore, state: "failed", entries: 0, verified: null, error, cutShort: backup } as const;
      this.cutShort.set(tenant, { partition: partition.number, report });
      this.host.failed("a tenant's restore was cut short; restore it again: until then it is not served", {
        tenant,
        backup,
      });
      this.tell(partition.number, report);
    }
  }

  /** The error for requests of a tenant that is being restored. */
  refusal(tenant: number): DbError {
    const isRunning = this.running.has(tenant);
    const cut = isRunning ? undefined : this.cutShort.get(tenant);
    // Again: whoever keeps the reports may not have been there.
    if (cut !== undefined) this.tell(cut.partition, cut.report);
    const message = isRunning ? "The tenant is being restored from a backup; retry later." : CUT_SHORT;
    return new DbError("partition_unavailable", message, { retry_after_seconds: 5 });
  }

  isRunning(tenant: number): boolean {
    return this.running.has(tenant);
  }

  start(partition: Partition, order: RestoreOrder): void {
    const { tenant, restore } = order;
    const report = (
      state: RestoreState,
      entries: number,
      verified: boolean | null = null,
      error: DbError | null = null,
    ) =>
      this.tell(partition.number, {
        ...{ tenant, restore, state, entries, verified },
        error: error && { code: error.code, message: error.message },
      });
    if (this.closing || this.running.has(tenant)) {
      report("failed", 0, null, new DbError("conflict", "The tenant is already being restored."));
      return;
    }
    const running: Running = { partition, undone: null, done: Promise.resolve() };
    this.running.set(tenant, running);
    this.cutShort.delete(tenant);
    running.done = this.run(running, order, report)
      .catch((error: unknown) => {
        if (!(error instanceof DbError))
          this.host.failed("a tenant could not be restored", { tenant, error: String(error) });
        report("failed", 0, null, error instanceof DbError ? error : new DbError("internal_error", String(error)));
      })
      .finally(() => this.running.delete(tenant));
  }

  /** The partition is another node's, or is about to be. */
  refuse(partition: number, { tenant, restore }: RestoreOrder): void {
    const message = "The partition gets another owner. Restore the tenant again.";
    const error = { code: "partition_unavailable", message } as const;
    this.tell(partition, { tenant, restore, state: "failed", entries: 0, verified: null, error });
  }

  /**
   * The disk refused commits of the partition, which are undone. Those of a restore that runs there may be among them:
   * it ends, and its tenant stays refused until it is restored again.
   */
  undone(partition: Partition, error: DbError): void {
    for (const running of this.running.values()) if (running.partition === partition) running.undone ??= error;
  }

  isAt(partition: Partition): boolean {
    return [...this.running.values()].some((running) => running.partition === partition);
  }

  async close(): Promise<void> {
    this.closing = true;
    this.reports.close();
    await Promise.all([...this.running.values()].map(({ done }) => done));
  }

  private async run(
    running: Running,
    order: RestoreOrder,
    report: (state: RestoreState, entries: number, verified?: boolean | null) => void,
  ): Promise<void> {
    const { partition } = running;
    const { tenant } = order;
    const isWhole = (): void => {
      if (running.undone !== null) throw running.undone;
    };
    const work = { usedMs: 0, account: partition.account };
    const turn = async (): Promise<void> => {
      await this.host.scheduler.yieldTurn(tenant, work);
      if (this.closing) throw new DbError("shutting_down");
      isWhole();
    };
    report("checking", 0);
    if (order.mark !== undefined) this.host.mark?.requireSame(order.mark);
    const folder = this.host.folders[order.store];
    const manifest = folder.get(order.from, order.backup);
    const chain = folder.chainOf(manifest);
    const source = { dataOf: (one: Manifest) => folder.dataOf(one), passphrase: order.passphrase };
    checkFormats(chain);
    if (order.untilMicros !== null && order.untilMicros < chain[0]!.micros) {
      const first = new Date(chain[0]!.micros / 1000).toISOString();
      throw new DbError("invalid_request", `until: the backups begin at ${first}`, { field: "until" });
    }
    if (!order.isChecked) await verifyBackups(chain, source, turn);
    const place = partition.places.get(tenant);
    // Another tenant had the number in an installation that was emptied since, and a backup of then is restored.
    const isOver = place?.kind === "deleted" && place.clean && order.isNew === true;
    if (place !== undefined && place.kind !== "restoring" && !isOver) {
      const message = place.kind === "deleted" ? "was deleted" : "is being moved. Restore it after the move";
      throw new DbError("conflict", `The tenant ${message}.`);
    }
    if (!order.replaces && place === undefined && !isEmpty(partition, tenant)) {
      throw new DbError("conflict", 'The tenant already has content. Send "replace": true to remove it first.', {
        field: "replace",
      });
    }
    if (!(await this.reports.isStillWanted(order.restore))) throw new DbError("partition_unavailable", UNWANTED);
    report("restoring", 0);
    try {
      await this.silence(partition, order);
    } catch (error) {
      if (place === undefined) serveAgain(partition, tenant);
      throw error;
    }
    await removeTenant(partition, tenant, this.host.scheduler, () => this.closing || running.undone !== null);
    const branches = new RestoredBranches(partition, tenant, turn);
    await branches.removeLeft(order.isNew === true);
    const entries = await this.write(partition, order, operationsOf(chain, source, order.untilMicros), branches, turn);
    await engineHasAll(partition.shard, turn);
    await partition.durable();
    isWhole();
    const verified = await this.verify(partition, order, manifest, turn, () => report("verifying", entries));
    isWhole();
    const tx = await branches.finished(Math.min(order.untilMicros ?? manifest.micros, manifest.micros));
    partition.forget(tenant);
    // One commit: after a crash all of the restore has ended, or it is done again and makes its branches again.
    partition.places.clearWith(tenant, tx);
    branches.forget();
    partition.part(JOBS).queue.resume(tenant);
    await partition.durable();
    report("completed", entries, verified);
  }

  /** Answers how many entries there were. */
  private async write(
    partition: Partition,
    { tenant, restore }: RestoreOrder,
    changes: AsyncIterable<BackedUp>,
    branches: RestoredBranches,
    turn: () => Promise<void>,
  ): Promise<number> {
    let entries = 0;
    for await (const { operations, step } of changes) {
      if (step !== null) await branches.take(step, operations);
      else {
        const own = operations
          .filter(({ key }) => !isOfBranch(key))
          .map(({ key, value }) => ({ key: keyOfTenant(tenant, key), value }));
        await writeEntries(partition, tenant, own, turn);
      }
      entries += operations.length;
      this.tell(partition.number, { tenant, restore, state: "restoring", entries, verified: null, error: null });
    }
    return entries;
  }

  /** Nothing of the tenant runs any more, and nothing new begins. */
  private async silence(partition: Partition, { tenant, restore, backup }: RestoreOrder): Promise<void> {
    await partition.part(JOBS).queue.pause(tenant);
    partition.places.set(tenant, { kind: "restoring", restore, backup });
    await silenceTenant(partition, tenant, this.host, {
      request: new DbError("partition_unavailable", "The request was ended: the tenant is being restored."),
      transaction: "the tenant was restored from a backup",
    });
  }

  /** Null: the backup has no digest, or the content is of another moment. Throws backup_damaged when it is another. */
  private async verify(
    partition: Partition,
    { tenant, untilMicros }: RestoreOrder,
    { digest, micros, id }: Manifest,
    turn: () => Promise<void>,
    begins: () => void,
  ): Promise<boolean | null> {
    if (digest === null || (untilMicros !== null && untilMicros < micros)) return null;
    begins();
    const tx = partition.shard.begin({ readOnly: true });
    try {
      const found = await tenantDigest(tx, tenant, turn);
      if (found.sha256 === digest.sha256) return true;
    } finally {
      tx.rollback();
    }
    throw new DbError(
      "backup_damaged",
      `The restored content differs from the content that backup "${id}" was made of. Restore another backup.`,
    );
  }
}

/** Earlier formats hold the same entries: so far storage/format-upgrade.ts only changes directories. */
function checkFormats(chain: readonly Manifest[]): void {
  const newest = Math.max(...chain.map(({ storageFormat = 1 }) => storageFormat));
  if (newest <= FORMAT_VERSION) return;
  const message = `The backup was made by a newer release: its data has format ${newest}, this server reads up to ${FORMAT_VERSION}.`;
  throw new DbError("conflict", message);
}

/** Nothing of the tenant was touched yet: its requests and jobs go on. */
function serveAgain(partition: Partition, tenant: number): void {
  partition.places.clear(tenant);
  partition.part(JOBS).queue.resume(tenant);
}

export function isEmpty({ shard }: Pick<Partition, "shard">, tenant: number): boolean {
  const tx = shard.begin({ readOnly: true });
  try {
    const cursor = tx.scan(prefixRange(tenantPrefix(tenant)));
    const { keys } = cursor.next(1);
    cursor.close();
    return keys.length === 0;
  } finally {
    tx.rollback();
  }
}
