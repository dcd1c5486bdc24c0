/**
 * What the actor of partition 0 does besides serving it: the directory of accounts, the audit trail, and decisions for
 * all actors: moves of tenants, restores, backups of the installation, questions for everybody's metrics. The other
 * actors report to it by messages through the gateway. Made and owned by actor.ts.
 */

import { setTimeout } from "node:timers/promises";
import { DIRECTORY_TENANT } from "../../actor/actor-features.js";
import type { AllHandlers } from "../../actor/handler.js";
import type { Partition } from "../../actor/partition.js";
import type { Scheduler, Work } from "../../actor/scheduler.js";
import type { BackupFolder } from "../../backup/backup-folder.js";
import type { FolderMark } from "../../backup/folder-mark.js";
import type { WholeFolder } from "../../backup/whole-folder.js";
import { AuditTrail } from "../../directory/audit-trail.js";
import type { DeriveKey } from "../../directory/derive-key.js";
import { Directory } from "../../directory/directory.js";
import type { ActorMarks } from "../../protocol/actor-marks.js";
import type { AuditBatch, AuditEvent } from "../../protocol/audit.js";
import type { BackupAnswer, BackupAsk } from "../../protocol/backup-orders.js";
import type { DirectoryEndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Identity } from "../../protocol/identity.js";
import type {
  ActorMetrics,
  ActorSettings,
  FromActor,
  IdentityQuery,
  IdentityRefusal,
  ToActor,
} from "../../protocol/messages.js";
import type { PartitionLoad } from "../../protocol/placement.js";
import { BackupOrders, errorOf, type OrdersHost } from "../backup/backup-orders.js";
import { restoreHandlers } from "../backup/backup-routes.js";
import { failureOf } from "../backup/backups.js";
import { type InstallationBackups, openInstallationBackups } from "../backup/installation-backups.js";
import { SILENCE_BETWEEN_NODES_MS } from "../backup/order-reports.js";
import { RestoreOrders } from "../backup/restore-orders.js";
import { isEmpty } from "../backup/restores.js";
import { scheduleHandlers, wholeBackupHandlers } from "../backup/schedule-routes.js";
import { type RestoreContext, startRestore } from "../backup/start-restore.js";
import { placementHandlers } from "../placement/placement-routes.js";
import { TenantDeletions } from "../placement/tenant-deletions.js";
import { TenantMoves } from "../placement/tenant-moves.js";
import { directoryHandlers } from "./account-routes.js";
import { auditHandlers } from "./audit-routes.js";
import { BackchannelLogouts } from "./backchannel-logout.js";
import { BearerTokens } from "./bearer-tokens.js";
import { issuerFetch } from "./issuer-fetch.js";
import { Issuers } from "./issuers.js";
import { oidcHandlers } from "./oidc-routes.js";
import { OidcSignIns } from "./oidc-sign-in.js";
import { operatorHandlers } from "./operator-routes.js";

export interface DirectoryHost {
  readonly settings: ActorSettings;
  readonly partition: Partition;
  readonly scheduler: Scheduler;
  readonly marks: ActorMarks;
  readonly backupFolder: BackupFolder;
  readonly wholeFolder: WholeFolder;
  /** Null: no other node uses the folder. */
  readonly mark: FolderMark | null;
  readonly deriveKey: DeriveKey;
  /** The partition has commits that the end of the turn must write. */
  wrote(): void;
  say(message: FromActor): void;
  log(level: "error" | "warn" | "info" | "debug", message: string, fields: object): void;
}

export class DirectoryServices {
  readonly audit: AuditTrail;
  private readonly directory: Directory;
  private readonly bearers: BearerTokens;
  private readonly signIns: OidcSignIns;
  private readonly logouts: BackchannelLogouts;
  private readonly moves: TenantMoves;
  private readonly deletions: TenantDeletions;
  private readonly restoreOrders: RestoreOrders;
  private readonly backupOrders: BackupOrders;
  /** There once it is open. */
  private installation!: InstallationBackups;
  /** Questions for the metrics of all actors, by id. */
  private readonly actorsAsked = new Map<number, (actors: readonly ActorMetrics[]) => void>();
  private nextQuestion = 0;

  private constructor(private readonly host: DirectoryHost) {
    const { partition } = host;
    const say = (message: FromActor): void => host.say(message);
    const { config, secret, partitionCount } = host.settings;
    this.directory = new Directory({
      begin: (readOnly) => {
        if (!readOnly) host.marks.directoryCommits();
        return partition.shard.begin({ readOnly });
      },
      now: Date.now,
      deriveKey: host.deriveKey,
      secret,
      sealsFactors: config.secrets.keyFile !== "",
      config: config.auth,
      newUserRate: config.rateLimit,
      partitions: partitionCount,
      onIdentityChanged: (change) => say({ kind: "identity-changed", change }),
    });
    const { tenantPrivateHosts, keysSeconds, keysSecondsMax } = config.auth.oidc;
    const fetch = issuerFetch(tenantPrivateHosts);
    const times = { now: Date.now, keysMs: keysSeconds * 1000, keysMsMax: keysSecondsMax * 1000 };
    const issuers = new Issuers({
      ...{ fetch, ...times, wait: (ms) => setTimeout(ms, undefined, { ref: false }) },
      warn: (message, fields) => host.log("warn", message, fields),
    });
    this.bearers = new BearerTokens(this.directory, issuers, Date.now);
    this.signIns = new OidcSignIns({ directory: this.directory, issuers, fetch, secret, now: Date.now });
    this.logouts = new BackchannelLogouts({ directory: this.directory, issuers, now: Date.now });
    this.audit = new AuditTrail((readOnly) => partition.shard.begin({ readOnly }), config.audit.entriesMax);
    this.moves = new TenantMoves({
      directory: this.directory,
      partitions: partitionCount,
      actors: config.actors.count,
      now: Date.now,
      say,
      durable: () => this.durable(),
      // A node may be lost with what it was told.
      ...(host.settings.cluster !== undefined && { silenceMs: SILENCE_BETWEEN_NODES_MS }),
    });
    const ordersHost: OrdersHost = {
      say: (message) =>
        void this.stillHere().then(
          () => say(message),
          () => undefined,
        ),
      mark: () => (host.mark === null ? {} : { mark: host.mark.made() }),
      now: Date.now,
      silenceMs: host.settings.cluster === undefined ? null : SILENCE_BETWEEN_NODES_MS,
    };
    this.restoreOrders = new RestoreOrders(ordersHost);
    this.backupOrders = new BackupOrders(ordersHost);
    const work: Work = { usedMs: 0, account: partition.account };
    this.deletions = new TenantDeletions({
      ...{ directory: this.directory, now: Date.now, say, durable: () => this.durable() },
      turn: () => host.scheduler.yieldTurn(DIRECTORY_TENANT, work),
      requireAtRest: (tenantId, number) => this.requireAtRest(tenantId, number),
      forget: (tenantId, number) => {
        this.installation.schedules.forget(tenantId);
        this.restoreOrders.forget(number);
        return this.moves.forget(number);
      },
    });
  }

  /** Throws conflict while something is under way that needs the tenant. */
  private requireAtRest(tenantId: string, number: number): void {
    this.moves.requireAtRest(tenantId, number);
    this.restoreOrders.requireAtRest(tenantId, number);
    this.restoreOrders.requireUnread(tenantId);
    const { backups, restores } = this.installation;
    if (!backups.isRunning && !restores.isRunning) return;
    throw new DbError("conflict", "The installation is being backed up or restored. Delete the tenant after that.");
  }

  /** `bootstrap` comes next. */
  static async open(host: DirectoryHost): Promise<DirectoryServices> {
    const services = new DirectoryServices(host);
    services.installation = await services.openInstallationBackups();
    return services;
  }

  private openInstallationBackups(): Promise<InstallationBackups> {
    const { partition, scheduler, settings, backupFolder, wholeFolder, log } = this.host;
    const work: Work = { usedMs: 0, account: partition.account };
    return openInstallationBackups({
      ...{ directory: this.directory, orders: this.backupOrders, restoreOrders: this.restoreOrders, now: Date.now },
      ...{ folder: backupFolder, wholeFolder, secret: settings.secret },
      turn: () => scheduler.yieldTurn(DIRECTORY_TENANT, work),
      isEmpty: (number, tenant) => (number === partition.number ? isEmpty(partition, tenant) : null),
      durable: () => this.durable(),
      stillHere: () => this.stillHere(),
      log,
    });
  }

  /** Resolves when it is known that no other node has had the directory by now; rejects where one may. */
  private stillHere(): Promise<void> {
    return new Promise((resolve, reject) => this.host.partition.gate.pass(0, resolve, reject));
  }

  /** Makes the first administrator of a new installation; answers the password when it was made up here. */
  async bootstrap(adminPassword: string | null): Promise<string | null> {
    const { partition } = this.host;
    const made = await this.directory.bootstrap(adminPassword === null ? {} : { adminPassword });
    // The password is not told before it is on disk.
    partition.shard.flush();
    await partition.durable();
    return made?.password ?? null;
  }

  handlers(): AllHandlers<DirectoryEndpointName> {
    const { directory, moves, deletions, installation } = this;
    const { settings } = this.host;
    const { partitionCount: partitions } = settings;
    const actors = settings.config.actors.count;
    const metrics = () => this.askActors();
    const isCluster = settings.cluster !== undefined;
    return {
      // Of other nodes' partitions nothing is known here, and with loads of some those would seem to be down.
      ...directoryHandlers(directory, async () => (isCluster ? [] : loadsOf(await metrics()))),
      ...auditHandlers(this.audit, directory),
      ...restoreHandlers(this.restoreContext()),
      ...scheduleHandlers(installation.schedules),
      ...wholeBackupHandlers(installation.backups, installation.restores),
      ...operatorHandlers((level) => this.host.say({ kind: "log-level", level })),
      ...oidcHandlers(directory, this.signIns, this.logouts),
      ...placementHandlers({ directory, moves, deletions, actors, partitions, metrics, isCluster }),
    };
  }

  private restoreContext(): RestoreContext {
    const { directory, restoreOrders: restores, backupOrders: backups } = this;
    return { directory, restores, backups, folder: this.host.backupFolder };
  }

  /** The tenant's actor has checked the caller's rights. */
  private asked({ id, partition, ...asked }: BackupAsk): void {
    const answer = (told: BackupAnswer): void => this.host.say({ kind: "backup-answer", partition, answer: told });
    try {
      if (asked.wants === "mark") {
        answer({ id, mark: this.host.mark?.made() ?? "" });
        return;
      }
      const wanted = { ...asked, from: asked.tenantId, replaces: true };
      answer({ id, view: startRestore(this.restoreContext(), wanted) });
    } catch (error) {
      const { code, message } = errorOf(failureOf(error));
      answer({ id, error: { code, message } });
    }
  }

  /** Messages of other kinds are for every actor, and nothing to it. */
  hear(message: ToActor): void {
    switch (message.kind) {
      case "find-identity":
        this.tellIdentity(message);
        break;
      case "key-usage":
        this.directory.recordKeyUsage(message.usage);
        this.host.wrote();
        break;
      case "audit":
        this.keepAudit(message.batch);
        break;
      case "actors":
        this.actorsAsked.get(message.id)?.(message.actors);
        this.actorsAsked.delete(message.id);
        break;
      case "backup-ask":
        this.asked(message.ask);
        break;
      case "restore-report":
        this.restoreOrders.heard(message.report, message.sent);
        break;
      case "backup-report":
        this.backupOrders.heard(message.report, message.sent);
        break;
      case "move-report":
        if (message.report.did === "deleted") this.deletions.heard(message.report);
        else this.moves.heard(message.report);
        break;
      case "unsettled":
        this.moves.unsettled(message.partition, message.tenants);
        this.deletions.unsettled(message.partition, message.tenants);
        break;
      case "actor-ended":
        this.actorEnded(message.actor);
        break;
      case "partition-ended":
        this.moves.partitionEnded(message.partition);
        this.backupOrders.ended((partition) => partition === message.partition);
        break;
    }
  }

  /** They are on disk soon; an answer that must wait for that looks at what was committed. */
  recordAudit(events: readonly AuditEvent[]): void {
    this.audit.append(events);
    this.host.wrote();
  }

  /** What is not told to be kept comes again. */
  private keepAudit(batch: AuditBatch): void {
    const { partition } = this.host;
    let upTo: number | null;
    try {
      upTo = this.audit.receive(batch, Date.now());
    } catch (error) {
      this.host.log("warn", "entries of the audit trail have to wait", { error: String(error) });
      return;
    }
    if (upTo === null) return;
    this.host.wrote();
    partition.gate.pass(
      partition.shard.committedSequence,
      () => this.host.say({ kind: "audit-kept", outbox: batch.outbox, upTo }),
      () => undefined,
    );
  }

  /** In a cluster it is told by the owner of the directory only. */
  private tellIdentity({ id, by, value }: IdentityQuery): void {
    if (by === "token") void this.tellBearer(id, value);
    else this.tell(id, this.findIdentity(by, value));
  }

  private tell(id: number, identity: Identity | null, refusal?: IdentityRefusal): void {
    const why = refusal === undefined ? {} : { refusal };
    this.host.partition.gate.pass(
      0,
      () => this.host.say({ kind: "identity", id, identity, ...why }),
      () => undefined,
    );
  }

  /** A user who is seen for the first time is on disk before anybody acts for it. */
  private async tellBearer(id: number, token: string): Promise<void> {
    try {
      const { identity, isNew } = await this.bearers.identityOf(token);
      if (isNew) await this.durable();
      this.tell(id, identity);
    } catch (error) {
      const known = error instanceof DbError ? error : new DbError("internal_error");
      if (!(error instanceof DbError)) this.host.log("error", "a token could not be judged", { err: error as Error });
      this.tell(id, null, { code: known.code, message: known.message });
    }
  }

  private findIdentity(by: "user" | "key", value: string): Identity | null {
    return by === "user" ? this.directory.identityOfUser(value) : this.directory.identityOfKeyHash(value);
  }

  private actorEnded(actor: number): void {
    this.moves.actorEnded(actor);
    const { cluster, config } = this.host.settings;
    // In a cluster the partitions that ended are named (`partition-ended`).
    if (cluster !== undefined) return;
    const isOf = (partition: number): boolean => partition % config.actors.count === actor;
    this.restoreOrders.ended(isOf);
    this.backupOrders.ended(isOf);
  }

  private askActors(): Promise<readonly ActorMetrics[]> {
    const id = this.nextQuestion++;
    this.host.say({ kind: "ask-actors", id });
    return new Promise((resolve) => this.actorsAsked.set(id, resolve));
  }

  private durable(): Promise<void> {
    this.host.wrote();
    return this.host.partition.durable();
  }

  /** The disk refused the partition's commits from `first` on. */
  undone(first: number): void {
    void this.installation.schedules.reload();
    this.deletions.reload();
    // Changes of accounts may have been announced that never came to be.
    this.host.say({ kind: "identity-changed", change: { kind: "all", version: first - 1 } });
  }

  get scheduleMetrics(): ActorMetrics["schedules"] {
    return this.installation.schedules.metrics();
  }

  sweep(): void {
    this.moves.sweep();
    this.deletions.sweep();
    this.restoreOrders.sweep();
    this.backupOrders.sweep();
    this.installation.schedules.sweep();
  }

  /** Throws tenant_not_found. */
  placeOf(tenantId: string): ReturnType<Directory["placeOf"]> {
    return this.directory.placeOf(tenantId);
  }

  /** Something is under way that another owner could not go on with. */
  get isTied(): boolean {
    return this.moves.isMoving || this.restoreOrders.isBusy || this.installation.isBusy();
  }

  close(): Promise<void> {
    return this.installation.close();
  }
}

/** An actor's load counts for each of its partitions. */
function loadsOf(actors: readonly ActorMetrics[]): PartitionLoad[] {
  return actors.flatMap(({ partitions }) => {
    const actorLoad = partitions.reduce((sum, { load }) => sum + load, 0);
    return partitions.map(({ partition, storedBytes }) => ({ partition, actorLoad, storedBytes }));
  });
}
