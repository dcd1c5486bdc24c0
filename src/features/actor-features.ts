/**
 * What the features do for a whole actor (actor/actor-features.ts): owns moves of tenants, backups and restores, live
 * replies, jobs and, in partition 0's actor, the directory.
 */

import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  type ActorFeatures,
  type ActorHost,
  DIRECTORY_PARTITION,
  type HeldRequest,
  type Running,
} from "../actor/actor-features.js";
import type { AllHandlers, Handlers } from "../actor/handler.js";
import type { Partition } from "../actor/partition.js";
import type { Request } from "../actor/request.js";
import { durablyCommitted } from "../actor/requests.js";
import { BackupFolder } from "../backup/backup-folder.js";
import { FolderMark } from "../backup/folder-mark.js";
import { WholeFolder } from "../backup/whole-folder.js";
import type { AuditEvent } from "../protocol/audit.js";
import type { BackupOrder } from "../protocol/backup-orders.js";
import type { TenantEndpointName } from "../protocol/endpoints.js";
import { DbError } from "../protocol/errors.js";
import type { ActorMetrics, ToActor } from "../protocol/messages.js";
import type { JobRecord, RestoreOrder } from "../protocol/placement.js";
import type { Tenant } from "../session/tenant.js";
import { endsUndone } from "../storage/ending-branches.js";
import { BackupAsks } from "./backup/backup-asks.js";
import { provideBackups } from "./backup/backup-functions.js";
import { backupHandlers } from "./backup/backup-routes.js";
import { Backups } from "./backup/backups.js";
import { Restores } from "./backup/restores.js";
import { endExpired } from "./branches/branch-life.js";
import { auditEventOf } from "./directory/audit-event.js";
import { DirectoryServices } from "./directory/directory-services.js";
import { HANDLERS, JOB_KINDS } from "./features.js";
import { FEED } from "./feed/feed.js";
import { LiveReplies } from "./feed/live-replies.js";
import { BackgroundRequests } from "./jobs/background-request.js";
import type { JobKind } from "./jobs/job-kind.js";
import { JOBS } from "./jobs/jobs.js";
import { Placement } from "./placement/placement.js";
import { WIRE_SESSIONS } from "./postgres/wire-sessions.js";

const JOB_STOPPED = "The job blocked other requests, so it was stopped.";

export function actorFeatures(host: ActorHost): ActorFeatures {
  return new FeaturesOfActor(host);
}

class FeaturesOfActor implements ActorFeatures {
  private readonly live: LiveReplies;
  /** Requests of jobs. */
  private readonly background: BackgroundRequests;
  private readonly placement: Placement;
  private readonly backups: Backups;
  private readonly backupAsks: BackupAsks;
  private readonly restores: Restores;
  private readonly backupFolder: BackupFolder;
  private readonly wholeFolder: WholeFolder;
  /** Absent: no other node uses the folder. */
  private readonly mark: FolderMark | null;
  /** Null: it is another actor's. */
  private directory: DirectoryServices | null = null;
  /** Partitions that other nodes are to own, or do. */
  private readonly handedOver = new Set<number>();

  constructor(private readonly host: ActorHost) {
    const { settings, partitions, scheduler, replies, marks } = host;
    const log: ActorHost["log"] = (level, message, fields) => host.log(level, message, fields);
    const running: ActorHost["running"] = (partition, tenant) => host.running(partition, tenant);
    const say: ActorHost["say"] = (message, transfer) => host.say(message, transfer);
    this.live = new LiveReplies({ replies, scheduler, armTurn: () => host.armTurn(), log });
    this.background = new BackgroundRequests(scheduler, marks, durablyCommitted);
    this.placement = new Placement({
      ...{ scheduler, partitions, running, say, log },
      takeAnswers: (tenant) => host.takeAnswers(tenant),
      restoreAnswers: (answers) => host.restoreAnswers(answers),
      isRestoring: (tenant) => this.restores.isRunning(tenant),
      forgetBackups: (tenantId, turn) => this.backups.forget(tenantId, turn),
    });
    const root = settings.config.backup.directory || join(settings.dataDirectory, "backups");
    this.backupFolder = new BackupFolder(root);
    this.wholeFolder = new WholeFolder(root);
    const folders = { tenant: this.backupFolder, whole: this.wholeFolder.tenants };
    const { cluster } = settings;
    const mark = cluster === undefined ? null : new FolderMark(root, cluster.node);
    this.mark = mark;
    this.backupAsks = new BackupAsks((message) => say(message));
    const isBetweenNodes = cluster !== undefined;
    this.backups = new Backups({
      ...{ scheduler, folders, log },
      isBetweenNodes,
      report: (report, sent) => say({ kind: "backup-report", report, sent }),
      ...(mark !== null && { shared: { mark, ask: (partition) => this.backupAsks.mark(partition) } }),
    });
    this.restores = new Restores({
      ...{ scheduler, folders, running, ...(mark !== null && { mark }) },
      isBetweenNodes,
      report: (report, sent) => say({ kind: "restore-report", report, sent }),
      failed: (message, fields) => log("error", message, fields),
    });
  }

  opened(partition: Partition): void {
    this.handedOver.delete(partition.number);
    partition.part(FEED).subscriptions.output = this.live;
    partition.part(JOBS).progress.output = this.live;
    provideBackups(partition, this.backups, this.backupAsks);
    this.restores.opened(partition);
  }

  damaged(partition: Partition): void {
    // Whoever follows it would wait for ever.
    partition.part(FEED).subscriptions.endAll(new DbError("partition_damaged"));
  }

  async openDirectory(): Promise<string | null> {
    const { host, backupFolder, wholeFolder, mark } = this;
    const partition = host.partitions.get(DIRECTORY_PARTITION);
    if (partition === undefined) return null;
    const { settings, scheduler, marks, deriveKey } = host;
    this.directory = await DirectoryServices.open({
      ...{ settings, scheduler, marks, partition, backupFolder, wholeFolder, mark, deriveKey },
      wrote: () => host.wrote(partition),
      say: (message) => host.say(message),
      log: (level, message, fields) => host.log(level, message, fields),
    });
    return this.directory.bootstrap(settings.adminPassword);
  }

  handlers(): Handlers {
    // An endpoint without a handler does not compile.
    const ofTenants: AllHandlers<TenantEndpointName> = {
      ...HANDLERS,
      ...backupHandlers(this.backups, this.backupFolder, this.restores),
    };
    return { ...ofTenants, ...this.directory?.handlers() };
  }

  begin(): void {
    for (const partition of this.host.partitions.values()) this.beginOne(partition);
  }

  beginOne(partition: Partition): void {
    this.placement.beginOne(partition);
    this.beginJobs(partition);
  }

  /** Jobs that were running before the restart continue. */
  private beginJobs(partition: Partition): void {
    const { host } = this;
    const jobOf = (record: JobRecord, signal: AbortSignal, title: string) => ({
      ...{ record, partition, signal },
      work: <T>(work: (request: Request) => Promise<T>) =>
        this.background.run(partition, record.tenant, record.owner, signal, work, title),
    });
    const runnable = ({ name, bounds, run, fail }: JobKind) => ({
      name,
      ...bounds(host.settings.config),
      run: async (record: JobRecord, signal: AbortSignal) => {
        const title = `${name} ${record.id}`;
        const job = jobOf(record, signal, title);
        const waitMs = host.stopped.waits(record.tenant, title);
        // One that did not give way would only do so again.
        if (waitMs > 0 && fail !== undefined) return fail(job, new DbError("statement_stopped", JOB_STOPPED));
        if (waitMs > 0) await setTimeout(waitMs, undefined, { signal });
        return run(job);
      },
      ...(fail !== undefined && {
        fail: (record: JobRecord, error: DbError) => fail(jobOf(record, new AbortController().signal, ""), error),
      }),
    });
    partition.part(JOBS).queue.begin(JOB_KINDS.map(runnable), ({ kind, id, tenant }, error) => {
      host.log("error", "a job failed", { kind, id, tenant, error: String(error) });
    });
  }

  hear(message: ToActor): void {
    switch (message.kind) {
      case "placement":
        if (this.handedOver.has(message.partition)) this.placement.refuse(message.message);
        else this.placement.hear(message.partition, message.message);
        break;
      case "report-unsettled":
        this.placement.reportAll();
        break;
      case "restore":
        this.restore(message.partition, message.order);
        break;
      case "backup-answer":
        this.backupAsks.heard(message.answer);
        this.host.armTurn();
        break;
      case "backup":
        this.backUp(message.partition, message.order);
        break;
      case "order-heard":
        this.backups.reportHeard(message.heard);
        this.restores.reportHeard(message.heard);
        break;
      default:
        this.directory?.hear(message);
    }
  }

  /** Undefined: another node is to own the partition, or does. From another node an order may come late. */
  private ownPartition(number: number): Partition | undefined {
    return this.handedOver.has(number) ? undefined : this.host.partitions.get(number);
  }

  private restore(number: number, order: RestoreOrder): void {
    const partition = this.ownPartition(number);
    if (partition === undefined) this.restores.refuse(number, order);
    else this.restores.start(partition, order);
  }

  private backUp(number: number, order: BackupOrder): void {
    const partition = this.ownPartition(number);
    if (order.do === "cancel") this.backups.cancel(order.ask);
    else if (partition === undefined) this.backups.refuse(number, order.ask);
    else this.backups.order(partition, order);
  }

  placeOf(tenantId: string) {
    if (this.directory === null) throw new DbError("partition_unavailable");
    return this.directory.placeOf(tenantId);
  }

  hold(partition: Partition, tenant: number, request: HeldRequest): void {
    this.placement.hold(partition, tenant, request);
  }

  restoring(tenant: number): DbError {
    return this.restores.refusal(tenant);
  }

  left(requestId: number): boolean {
    return this.live.left(requestId);
  }

  isTied(partition: Partition): boolean {
    if (this.backups.running > 0 || this.restores.isAt(partition) || this.placement.isAt(partition)) return true;
    return partition.number === DIRECTORY_PARTITION && this.directory?.isTied === true;
  }

  async leaving(partition: Partition): Promise<void> {
    this.handedOver.add(partition.number);
    const { queue, progress } = partition.part(JOBS);
    const jobs = queue.close();
    partition.part(FEED).subscriptions.partitionLeft();
    partition.part(WIRE_SESSIONS).partitionLeft();
    await jobs;
    // Jobs report how they end.
    progress.partitionLeft();
  }

  async leave(partition: Partition): Promise<void> {
    this.placement.leave(partition);
    if (partition.number !== DIRECTORY_PARTITION) return;
    const { directory } = this;
    this.directory = null;
    await directory?.close();
  }

  /**
   * The answer of a request to the directory waits until its entry is on disk, too. In a cluster the directory and
   * another partition of this actor may have different owners a moment later, so the gateway keeps entries of the
   * latter until they are on disk.
   */
  audited(request: Request, status: number, code: string | null): void {
    const event = auditEventOf(request, status, code, Date.now());
    const isOfDirectory = request.endpoint.home === "directory";
    const writes = this.directory !== null && (isOfDirectory || this.host.settings.cluster === undefined);
    if (!writes || !this.recorded(event)) this.host.say({ kind: "audit", events: [event] });
    else if (isOfDirectory) request.tenant.sawEverything();
  }

  /** A model may try again and again: the gateway counts equal refusals of a second together. */
  refused(request: Request, { status, code }: DbError): void {
    this.host.say({ kind: "refused", event: auditEventOf(request, status, code, Date.now()) });
  }

  /** False: the directory takes no writes now. */
  private recorded(event: AuditEvent): boolean {
    try {
      this.directory!.recordAudit([event]);
      return true;
    } catch (error) {
      this.host.log("warn", "an entry of the audit trail has to wait", { error: String(error) });
      return false;
    }
  }

  running(partition: Partition, tenant: number): readonly Running[] {
    return this.background.of(partition, tenant);
  }

  busy(): readonly Tenant[] {
    return this.background.tenants();
  }

  undone(partition: Partition, first: number, error: DbError): void {
    this.placement.undone(partition);
    this.restores.undone(partition, error);
    endsUndone(partition.shard.layers?.branches.values() ?? [], first);
    if (partition.number === DIRECTORY_PARTITION) this.directory?.undone(first);
  }

  sweep(): void {
    this.placement.sweep();
    this.backups.sweep();
    this.restores.sweep();
    if (!this.handedOver.has(DIRECTORY_PARTITION)) this.directory?.sweep();
    for (const [number, partition] of this.host.partitions)
      if (!this.handedOver.has(number)) endExpired(partition, Date.now());
  }

  heldIn(partition: Partition): number {
    return this.placement.heldIn(partition);
  }

  metrics(): Pick<ActorMetrics, "backupsRunning" | "schedules" | "postgres"> {
    const postgres = [...this.host.partitions.values()].map((partition) => partition.part(WIRE_SESSIONS).counted);
    return { backupsRunning: this.backups.running, schedules: this.directory?.scheduleMetrics ?? [], postgres };
  }

  async close(): Promise<void> {
    this.placement.close();
    await Promise.all([...this.host.partitions.values()].map((partition) => partition.part(JOBS).queue.close()));
    await Promise.all([this.backups.close(), this.restores.close(), this.directory?.close()]);
  }
}
