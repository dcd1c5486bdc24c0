/**
 * One actor: the single writer of its partitions, on a thread of its own. The life of a request here:
 *
 *  1. A buffer of frames arrives; `accept` (requests.ts) gives each request to the scheduler, which calls `begin` when it
 *     is its tenant's turn: at once, unless others are at work.
 *  2. Its body is decoded and checked (validate.ts); an Idempotency-Key is claimed (answer-once.ts).
 *  3. The endpoint's handler runs (handlers/). SQL goes through session.ts. Most handlers end at once; a long
 *     statement gives way after its slice and goes on in a later turn (scheduler.ts).
 *  4. The answer passes (answers.ts) the partition's gate (output-gate.ts): a reply that has seen a commit waits for its fsync.
 *  5. At the end of the turn (`turn`) every shard that was written to is flushed: one log write, one engine batch, one fsync
 *     for all commits of the turn; and all replies that may leave go back in one buffer.
 *
 * Beside that it opens the partitions, hears control messages, and closes. What only partition 0's actor does is in
 * directory-services.ts, what needs no request in upkeep.ts. workers/actor.ts makes it, gives it the port and owns the thread.
 */

import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { StartInference } from "../ai/inference-messages.js";
import { Models } from "../ai/models.js";
import { ClaimVerifier } from "../ai/nli/claim-verifier.js";
import type { DeriveKey } from "../directory/derive-key.js";
import { ActorMarks, newActorMarks } from "../protocol/actor-marks.js";
import { DbError } from "../protocol/errors.js";
import { ReplyWriter, readRequests } from "../protocol/frames.js";
import type { ActorMetrics, ActorSettings, FromActor, LogLevel, ToActor } from "../protocol/messages.js";
import type { JobRecord } from "../protocol/placement.js";
import type { ThreadMetrics } from "../protocol/thread-metrics.js";
import type { SpanRecord } from "../protocol/tracing.js";
import { markOperatorsIn, OPERATOR_NAMES } from "../query/exec/operator-marks.js";
import { SegmentCache } from "../query/exec/segments/segment-cache.js";
import { SpillArea } from "../query/exec/spill/spill-area.js";
import { registerAgentFunctions } from "./agent/agent-functions.js";
import { registerAgentTools } from "./agent/request-tools.js";
import { auditEventOf } from "./audit-event.js";
import { registerAutomlFunctions } from "./automl/sql-functions.js";
import { BackgroundRequests } from "./background/background-request.js";
import type { JobKind } from "./background/job-kind.js";
import { JOB_KINDS } from "./background/job-kinds.js";
import { BackupFolder } from "./backup/backup-folder.js";
import { provideBackups, registerBackupFunctions } from "./backup/backup-functions.js";
import { Backups } from "./backup/backups.js";
import { RestoreAsks } from "./backup/restore-asks.js";
import { Restores } from "./backup/restores.js";
import { WholeFolder } from "./backup/whole-folder.js";
import { claimVerifierOptions } from "./claim-verifier-options.js";
import { DIRECTORY_PARTITION, DirectoryServices } from "./directory-services.js";
import { LiveReplies } from "./feed/live-replies.js";
import { registerFolderFunctions } from "./files/folder-functions.js";
import { backupHandlers } from "./handlers/backups.js";
import { Idempotency } from "./idempotency.js";
import type { LongTasks } from "./long-tasks.js";
import { modelsOptions } from "./models-options.js";
import { type OpenShard, openPartition, type PartitionEvents, type SharedByPartitions } from "./open-partition.js";
import type { Partition } from "./partition.js";
import { Placement } from "./placement/placement.js";
import type { Request } from "./request.js";
import { durablyCommitted, Requests } from "./requests.js";
import { compileRoutes, type Route } from "./routes.js";
import { Scheduler, type SchedulerOptions } from "./scheduler.js";
import { SlowStatements } from "./slow-statements.js";
import { TracingScheduler } from "./slow-steps.js";
import { StoppedStatements } from "./stopped-statements.js";
import { TenantProviders } from "./tenant-providers.js";
import { Trace } from "./trace.js";
import { Upkeep } from "./upkeep.js";

/** What the thread gives its actor. */
export interface ActorSurroundings {
  frames(buffer: ArrayBuffer): void;
  control(message: FromActor, transfer?: readonly ArrayBuffer[]): void;
  /** Runs scrypt on a task thread. */
  readonly deriveKey: DeriveKey;
  readonly startInference: StartInference;
  /** Absent: there are no task threads. */
  readonly tasks?: LongTasks;
  /** Links the vectors that wait in a saved graph, on a task thread, which gets the parts; absent: the actor does it. */
  readonly linkGraph?: (parts: readonly Uint8Array[]) => Promise<Uint8Array>;
  /** The actor cannot go on: its thread must end, and be started again from the log. */
  failed(error: Error): void;
  log(level: "error" | "warn" | "info" | "debug", message: string, fields: object): void;
  setLogLevel(level: LogLevel): void;
  /** Of the thread; absent: it is not the actor's own. */
  readonly threadMetrics?: () => ThreadMetrics;
  /** Opens shards elsewhere than on disk, for simulations. */
  readonly openShard?: OpenShard;
}

const JOB_STOPPED = "The job held up everybody else, so it was stopped.";
/** Milliseconds between two beats. */
const BEAT_MS = 50;

registerAgentTools();
registerAutomlFunctions();
registerFolderFunctions();
registerAgentFunctions();
registerBackupFunctions();

export class Actor {
  private readonly partitions = new Map<number, Partition>();
  private readonly scheduler: Scheduler;
  private readonly replies = new ReplyWriter();
  private readonly live: LiveReplies;
  private readonly idempotency: Idempotency;
  private readonly requests: Requests;
  /** For all partitions together, as is `spill`. */
  readonly segments: SegmentCache;
  readonly spill: SpillArea | null;
  readonly models: Models;
  readonly claims: ClaimVerifier;
  readonly providers: TenantProviders;
  readonly indexes: SharedByPartitions["indexes"];
  readonly tasks: LongTasks | null;
  /** Requests of jobs. */
  private readonly background: BackgroundRequests;
  private readonly slowStatements: SlowStatements;
  private readonly marks: ActorMarks;
  private readonly stopped = new StoppedStatements();
  private beats: NodeJS.Timeout | null = null;
  private readonly unflushed = new Set<Partition>();
  /** Null: it is another actor's. */
  private directory: DirectoryServices | null = null;
  private readonly placement: Placement;
  private readonly backups: Backups;
  private readonly restoreAsks: RestoreAsks;
  private readonly restores: Restores;
  private readonly backupFolder: BackupFolder;
  private readonly wholeFolder: WholeFolder;
  private turnArmed = false;
  /** Requests ran in this turn already, when their frames arrived. */
  private ranOnArrival = false;
  /** Something waits for the scheduler's next run. */
  private workWaits = false;
  private closing: (() => void) | null = null;
  private readonly upkeep: Upkeep;

  private constructor(
    private readonly settings: ActorSettings,
    private readonly output: ActorSurroundings,
  ) {
    const { columnSegmentBytes, spillBytesMax } = settings.config.storage;
    this.segments = new SegmentCache(columnSegmentBytes);
    const directory = join(settings.dataDirectory, `spill-${settings.actor}`);
    this.spill = spillBytesMax > 0 ? new SpillArea(directory, spillBytesMax) : null;
    const { requestsRunningPerTenantMax, requestsWaitingPerTenantMax } = settings.config.limits;
    const scheduling: SchedulerOptions = {
      wake: () => {
        this.workWaits = true;
        this.armTurn();
      },
      runningPerTenantMax: requestsRunningPerTenantMax,
      waitingPerTenantMax: requestsWaitingPerTenantMax,
    };
    const { logLevel } = settings.config.server;
    this.scheduler =
      logLevel === "debug" || logLevel === "trace"
        ? new TracingScheduler(scheduling, (step) => output.log("debug", "a step did not give way in time", step))
        : new Scheduler(scheduling);
    this.marks = new ActorMarks(settings.marks ?? newActorMarks());
    if (settings.marks !== undefined) markOperatorsIn(this.marks.operator);
    this.stopped.set(settings.stopped ?? []);
    this.background = new BackgroundRequests(this.scheduler, this.marks, durablyCommitted);
    const { slowMs, slowValues } = settings.config.query;
    this.slowStatements = new SlowStatements({
      slowMs,
      values: slowValues,
      log: (message, fields) => output.log("warn", message, fields),
    });
    this.idempotency = new Idempotency(settings.config.idempotency.windowHours * 3_600_000);
    this.models = new Models(
      modelsOptions(settings.config, {
        warn: (message, fields) => output.log("warn", message, fields),
        startInference: output.startInference,
        toLibrary: (message) => output.control({ kind: "library", message }),
      }),
    );
    this.providers = new TenantProviders(settings.config, this.models, settings.secret);
    const warn = (message: string, fields: object): void => output.log("warn", message, fields);
    this.claims = new ClaimVerifier(claimVerifierOptions(settings.config, this.models, settings.claimBundles, warn));
    this.indexes = this.makeIndexes();
    this.tasks = output.tasks ?? null;
    this.placement = this.makePlacement();
    const { scheduler } = this;
    const root = settings.config.backup.directory || join(settings.dataDirectory, "backups");
    this.backupFolder = new BackupFolder(root);
    this.wholeFolder = new WholeFolder(root);
    const folders = { tenant: this.backupFolder, whole: this.wholeFolder.tenants };
    this.backups = new Backups({
      ...{ scheduler, folders, log: output.log },
      report: (report) => output.control({ kind: "backup-report", report }),
    });
    this.restoreAsks = new RestoreAsks((message) => output.control(message));
    this.restores = new Restores({
      ...{ scheduler, folders, running: (partition, tenant) => this.runningOf(partition, tenant) },
      report: (report) => output.control({ kind: "restore-report", report }),
      failed: (message, fields) => output.log("error", message, fields),
    });
    this.live = this.makeLive();
    this.requests = this.makeRequests();
    this.upkeep = this.makeUpkeep();
  }

  private makeLive(): LiveReplies {
    return new LiveReplies({
      ...{ replies: this.replies, scheduler: this.scheduler },
      armTurn: () => this.armTurn(),
      log: (level, message, fields) => this.output.log(level, message, fields),
    });
  }

  private makeRequests(): Requests {
    const { partitions, scheduler, replies, live, idempotency, marks, stopped } = this;
    return new Requests({
      ...{ partitions, scheduler, replies, live, idempotency, marks, stopped },
      armTurn: () => this.armTurn(),
      isClosing: () => this.closing !== null,
      hold: (partition, tenant, request) => this.placement.hold(partition, tenant, request),
      restoring: (tenant) => this.restores.refusal(tenant),
      audited: (request, status, code) => this.noteAudited(request, status, code),
      log: (level, message, fields) => this.output.log(level, message, fields),
    });
  }

  private makeUpkeep(): Upkeep {
    return new Upkeep({
      ...{ partitions: this.partitions, scheduler: this.scheduler },
      busy: () => new Set([...this.requests.tenants(), ...this.background.tenants()]),
      sweepAnswers: (tenant) => this.idempotency.sweep(tenant),
      swept: () => {
        this.placement.sweep();
        this.directory?.sweep();
      },
      isClosing: () => this.closing !== null,
      log: (level, message, fields) => this.output.log(level, message, fields),
    });
  }

  private makeIndexes(): SharedByPartitions["indexes"] {
    const { scheduler, output } = this;
    return {
      memory: { bytes: 0, bytesMax: this.settings.config.storage.indexMemoryBytes },
      turnsOf: (tenant) => {
        const work = { usedMs: 0 };
        return { shouldYield: () => scheduler.shouldYield(), yieldTurn: () => scheduler.yieldTurn(tenant, work) };
      },
      elsewhere: output.linkGraph ?? null,
      warn: (message, { tenantNumber, indexId }) =>
        output.log("warn", message, { tenant: tenantNumber, index: indexId }),
    };
  }

  private makePlacement(): Placement {
    const { output } = this;
    return new Placement({
      scheduler: this.scheduler,
      partitions: this.partitions,
      running: (partition, tenant) => this.runningOf(partition, tenant),
      takeAnswers: (tenant) => this.idempotency.take(tenant),
      restoreAnswers: (answers) => this.idempotency.restore(answers),
      say: (message, transfer) => output.control(message, transfer),
      log: (level, message, fields) => output.log(level, message, fields),
    });
  }

  /** What is at work for the tenant, to be ended before it can be moved or restored. */
  private runningOf(partition: Partition, tenant: number): { end(error: DbError): void }[] {
    return [
      ...this.requests.of(partition, tenant),
      ...this.background.of(partition, tenant),
      ...this.upkeep.of(partition, tenant),
    ];
  }

  /** Opens the partitions and, in partition 0's actor, the directory; announces `ready`. */
  static async open(settings: ActorSettings, output: ActorSurroundings): Promise<Actor> {
    const actor = new Actor(settings, output);
    for (const number of settings.partitions) await actor.openOne(number);
    const adminPassword = await actor.openDirectory();
    actor.requests.serve(actor.routes());
    actor.beginBeats();
    output.control({ kind: "ready", adminPassword, operators: OPERATOR_NAMES });
    actor.placement.begin();
    void actor.claims.warmUp();
    for (const partition of actor.partitions.values()) {
      actor.openSavedIndexes(partition);
      actor.beginJobs(partition);
    }
    return actor;
  }

  /** A damaged partition does not keep the others from being served; without the directory's nobody could sign in. */
  private async openOne(number: number): Promise<void> {
    const events: PartitionEvents = {
      wroteSomething: () => this.wrote(this.partitions.get(number)!),
      flushing: () => this.marks.flushing(),
      flushed: () => this.marks.flushed(),
      durable: (sequence) => this.durable(number, sequence),
      undone: (first, error) => this.undone(this.partitions.get(number)!, first, error),
      failed: (error) => this.partitionFailed(number, error),
    };
    try {
      const partition = await openPartition(this.settings, number, events, this, this.output.openShard);
      partition.subscriptions.output = this.live;
      partition.slowStatements = this.slowStatements;
      partition.stopped = this.stopped;
      partition.installationSecret = this.settings.secret;
      partition.progress.output = this.live;
      this.partitions.set(number, partition);
      provideBackups(partition, this.backups, this.restoreAsks);
      this.restores.opened(partition);
    } catch (error) {
      if (!isDamage(error) || number === DIRECTORY_PARTITION) throw error;
      this.output.control({ kind: "partition-damaged", partition: number, message: error.message });
    }
  }

  /** A damaged file would end the actor again and again, and with it what its other partitions do. */
  private partitionFailed(number: number, error: DbError): void {
    const partition = this.partitions.get(number);
    if (!isDamage(error) || number === DIRECTORY_PARTITION || partition === undefined) {
      this.output.failed(error);
      return;
    }
    const message = error.cause instanceof Error ? error.cause.message : error.message;
    this.output.control({ kind: "partition-damaged", partition: number, message });
    partition.gate.refuse(partition.shard.durableSequence + 1, new DbError("partition_damaged"));
    // Nothing will ever change there again: whoever follows it would wait for ever.
    partition.subscriptions.endAll(new DbError("partition_damaged"));
    this.armTurn();
  }

  /** Nobody waits for them: searches read records until they are there. */
  private openSavedIndexes(partition: Partition): void {
    partition.openSavedIndexes().catch((error: unknown) => {
      this.output.log("warn", "saved indexes were not opened", { partition: partition.number, error: String(error) });
    });
  }

  /** Jobs that were running before the restart continue. */
  private beginJobs(partition: Partition): void {
    const { config } = this.settings;
    const jobOf = (record: JobRecord, signal: AbortSignal, title: string) => ({
      ...{ record, partition, signal },
      work: <T>(work: (request: Request) => Promise<T>) =>
        this.background.run(partition, record.tenant, record.owner, signal, work, title),
    });
    const runnable = ({ name, bounds, run, fail }: JobKind) => ({
      name,
      ...bounds(config),
      run: async (record: JobRecord, signal: AbortSignal) => {
        const title = `${name} ${record.id}`;
        const job = jobOf(record, signal, title);
        const waitMs = this.stopped.waits(record.tenant, title);
        // One that did not give way would only do so again.
        if (waitMs > 0 && fail !== undefined) return fail(job, new DbError("statement_stopped", JOB_STOPPED));
        if (waitMs > 0) await setTimeout(waitMs, undefined, { signal });
        return run(job);
      },
      ...(fail !== undefined && {
        fail: (record: JobRecord, error: DbError) => fail(jobOf(record, new AbortController().signal, ""), error),
      }),
    });
    partition.jobs.begin(JOB_KINDS.map(runnable), ({ kind, id, tenant }, error) => {
      this.output.log("error", "a job failed", { kind, id, tenant, error: String(error) });
    });
  }

  /** The first administrator's password where it was made up here. */
  private async openDirectory(): Promise<string | null> {
    const partition = this.partitions.get(DIRECTORY_PARTITION);
    if (partition === undefined) return null;
    const { settings, scheduler, marks, backupFolder, wholeFolder, output } = this;
    this.directory = await DirectoryServices.open({
      ...{ settings, scheduler, marks, partition, backupFolder, wholeFolder },
      deriveKey: output.deriveKey,
      wrote: () => this.wrote(partition),
      say: (message) => output.control(message),
      log: (level, message, fields) => output.log(level, message, fields),
    });
    return this.directory.bootstrap(settings.adminPassword);
  }

  private routes(): Route[] {
    return compileRoutes({ ...backupHandlers(this.backups, this.backupFolder), ...this.directory?.handlers() });
  }

  /** Says now and then that the loop comes round: whoever does not let it is found by that. */
  private beginBeats(): void {
    if (this.settings.marks === undefined) return;
    this.marks.beat();
    this.beats = setInterval(() => this.marks.beat(), BEAT_MS).unref();
  }

  receive(message: ArrayBuffer | ToActor): void {
    this.marks.nobody();
    if (message instanceof ArrayBuffer) {
      readRequests(message, (frame) => this.requests.accept(frame));
      // At once, unless this turn has had its share already; what is left is for the next ones.
      if (!this.ranOnArrival) this.work();
      this.ranOnArrival = true;
      this.armTurn();
      return;
    }
    switch (message.kind) {
      case "refuse-writes":
        for (const partition of this.partitions.values()) partition.shard.refusal = message.refusal;
        break;
      case "log-level":
        this.output.setLogLevel(message.level);
        break;
      case "stopped-statements":
        this.stopped.set(message.stopped);
        break;
      case "identity-ended":
        for (const partition of this.partitions.values()) partition.identityEnded(message.change);
        break;
      case "metrics":
        this.output.control({ kind: "metrics", id: message.id, metrics: this.metrics() });
        break;
      case "library":
        this.models.library?.hear(message.message);
        this.armTurn();
        break;
      case "placement":
        this.placement.hear(message.partition, message.message);
        break;
      case "restore":
        this.restores.start(this.partitions.get(message.partition)!, message.order);
        break;
      case "restore-answer":
        this.restoreAsks.heard(message.answer);
        this.armTurn();
        break;
      case "backup":
        this.backups.order(this.partitions.get(message.partition)!, message.order);
        break;
      case "report-unsettled":
        this.placement.reportAll();
        break;
      case "trace": {
        const send = (spans: readonly SpanRecord[]): void => this.output.control({ kind: "spans", spans });
        this.requests.traced(message.id, new Trace(message.context, this.settings.actor, send));
        break;
      }
      case "close":
        void this.close();
        break;
      default:
        this.directory?.hear(message);
    }
  }

  /** The answer of a request to the directory waits until its entry is on disk, too. */
  private noteAudited(request: Request, status: number, code: string | null): void {
    const event = auditEventOf(request, status, code, Date.now());
    if (this.directory === null) {
      this.output.control({ kind: "audit", events: [event] });
      return;
    }
    try {
      this.directory.recordAudit([event]);
      if (request.endpoint.home === "directory") request.tenant.sawEverything();
    } catch (error) {
      this.output.log("error", "an entry of the audit trail is lost", { ...event, error: String(error) });
    }
  }

  private wrote(partition: Partition): void {
    this.unflushed.add(partition);
    this.armTurn();
  }

  private durable(number: number, sequence: number): void {
    this.partitions.get(number)?.onDisk(sequence);
    this.armTurn();
  }

  private armTurn(): void {
    if (this.turnArmed) return;
    this.turnArmed = true;
    setImmediate(this.turn);
  }

  /** One turn of the loop: some work, unless it was done when it arrived, and then what it leaves behind. */
  private readonly turn = (): void => {
    this.marks.nobody();
    this.turnArmed = false;
    if (!this.ranOnArrival) this.work();
    this.ranOnArrival = false;
    this.requests.turnEnded();
    for (const partition of this.unflushed) {
      partition.flush(this.charge);
      if (partition.shard.hasBacklog) void partition.applyBacklog(this.scheduler);
    }
    this.unflushed.clear();
    if (!this.replies.empty) this.output.frames(this.replies.take());
    this.closing?.();
    if (this.workWaits) this.armTurn();
  };

  private work(): void {
    this.workWaits = false;
    if (this.scheduler.run()) this.workWaits = true;
  }

  private readonly charge = (tenant: number, ms: number): void => this.scheduler.charge(tenant, ms);

  private undone(partition: Partition, first: number, error: DbError): void {
    partition.undo(first, error);
    this.placement.undone(partition);
    this.restores.undone(partition, error);
    if (partition.number === DIRECTORY_PARTITION) this.directory?.undone(first);
    this.armTurn();
  }

  private metrics(): ActorMetrics {
    const partitions = [...this.partitions.values()];
    return {
      actor: this.settings.actor,
      requests: this.requests.count,
      running: this.requests.runningCount,
      waiting: this.scheduler.waiting,
      ...this.scheduler.metrics,
      heapBytes: process.memoryUsage().heapUsed,
      eventLoopUtilization: performance.eventLoopUtilization().utilization,
      slowStatements: this.slowStatements.count,
      statementsRefused: this.stopped.refused,
      segmentBytes: this.segments.bytes,
      segmentTables: this.segments.tables,
      segmentsEvicted: this.segments.evicted,
      spillBytes: this.spill?.bytes ?? 0,
      spillBytesWritten: this.spill?.bytesWritten ?? 0,
      backupsRunning: this.backups.running,
      thread: this.output.threadMetrics?.() ?? null,
      modelUsage: [...this.models.usage.values()],
      inference: this.models.laneMetrics,
      schedules: this.directory?.scheduleMetrics ?? [],
      partitions: partitions.map((one) => ({ ...one.metrics, requestsHeld: this.placement.heldIn(one) })),
    };
  }

  /** Lets what runs finish, sends what waits at the gates, then closes the shards. New requests are refused meanwhile. */
  private async close(): Promise<void> {
    this.upkeep.stop();
    this.placement.close();
    for (const partition of this.partitions.values()) partition.derived.endWork();
    await Promise.all([...this.partitions.values()].map(({ jobs }) => jobs.close()));
    await Promise.all([this.backups.close(), this.restores.close(), this.directory?.close()]);
    await new Promise<void>((resolve) => {
      this.closing = () => {
        const waiting = [...this.partitions.values()].some((partition) => partition.gate.waiting > 0);
        if (this.requests.runningCount === 0 && this.scheduler.waiting === 0 && !waiting && this.unflushed.size === 0)
          resolve();
      };
      this.armTurn();
    });
    await this.upkeep.ended();
    for (const partition of this.partitions.values()) await partition.close();
    await this.models.close();
    await this.providers.close();
    if (this.beats !== null) clearInterval(this.beats);
    this.output.control({ kind: "closed" });
  }
}

function isDamage(error: unknown): error is DbError {
  return error instanceof DbError && error.code === "partition_damaged";
}
