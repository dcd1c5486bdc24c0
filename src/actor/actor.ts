/**
 * One actor: the single writer of its partitions, on a thread of its own. The life of a request here:
 *
 *  1. A buffer of frames arrives; `accept` gives each request to the scheduler, which calls `begin` when it is its
 *     tenant's turn: at once, unless others are at work.
 *  2. Its body is decoded and checked (validate.ts); an Idempotency-Key is claimed (answer-once.ts).
 *  3. The endpoint's handler runs (handlers/). SQL goes through session.ts. Most handlers end at once; a long
 *     statement gives way after its slice and goes on in a later turn (scheduler.ts).
 *  4. The answer passes (answers.ts) the partition's gate (output-gate.ts): a reply that has seen a commit waits for its fsync.
 *  5. At the end of the turn (`turn`) every shard that was written to is flushed: one log write, one engine batch, one fsync
 *     for all commits of the turn; and all replies that may leave go back in one buffer.
 *
 * workers/actor.ts makes it, gives it the port and owns the thread.
 */

import { join } from "node:path";
import type { StartInference } from "../ai/inference-messages.js";
import { Models } from "../ai/models.js";
import { ClaimVerifier } from "../ai/nli/claim-verifier.js";
import type { DeriveKey } from "../directory/derive-key.js";
import { DbError } from "../protocol/errors.js";
import {
  LIVE,
  PIECE_CODE,
  REPLY_LIVE,
  REPLY_MOVED,
  REQUEST_LAST_PIECE,
  REQUEST_STREAMED,
  ReplyWriter,
  type RequestFrame,
  readRequests,
  TAKEN_CODE,
} from "../protocol/frames.js";
import type { ActorMetrics, ActorSettings, FromActor, LogLevel, ToActor } from "../protocol/messages.js";
import type { JobRecord } from "../protocol/placement.js";
import type { ThreadMetrics } from "../protocol/thread-metrics.js";
import type { SpanRecord } from "../protocol/tracing.js";
import { SegmentCache } from "../query/exec/segments/segment-cache.js";
import { SpillArea } from "../query/exec/spill/spill-area.js";
import { registerAgentTools } from "./agent/request-tools.js";
import { answerOnce } from "./answer-once.js";
import { Answers } from "./answers.js";
import { auditEventOf } from "./audit-event.js";
import { registerAutomlFunctions } from "./automl/sql-functions.js";
import { BackgroundRequests } from "./background/background-request.js";
import type { JobKind } from "./background/job-kind.js";
import { JOB_KINDS } from "./background/job-kinds.js";
import { BackupFolder } from "./backup/backup-folder.js";
import { Backups } from "./backup/backups.js";
import { Restores } from "./backup/restores.js";
import { WholeFolder } from "./backup/whole-folder.js";
import { BodySource } from "./body-source.js";
import { claimVerifierOptions } from "./claim-verifier-options.js";
import { DIRECTORY_PARTITION, DIRECTORY_TENANT, DirectoryServices } from "./directory-services.js";
import type { LiveOutput, Subscriber } from "./feed/contract.js";
import { registerFolderFunctions } from "./files/folder-functions.js";
import { backupHandlers } from "./handlers/backups.js";
import { Idempotency } from "./idempotency.js";
import type { LongTasks } from "./long-tasks.js";
import { modelsOptions } from "./models-options.js";
import { type OpenShard, openPartition, type PartitionEvents, type SharedByPartitions } from "./open-partition.js";
import type { Partition } from "./partition.js";
import { type HeldRequest, Placement } from "./placement/placement.js";
import { removeRetired } from "./remove-retired.js";
import { renewStatistics } from "./renew-statistics.js";
import { type Answer, errorJson } from "./reply.js";
import { ReplySink } from "./reply-sink.js";
import { Request, type RequestChannel } from "./request.js";
import { compileRoutes, type Route } from "./routes.js";
import { Scheduler, type SchedulerOptions, type Work } from "./scheduler.js";
import { SlowStatements } from "./slow-statements.js";
import { TracingScheduler } from "./slow-steps.js";
import type { Tenant } from "./tenant.js";
import { TenantProviders } from "./tenant-providers.js";
import { Trace } from "./trace.js";

const SWEEP_INTERVAL_MS = 500;
const ANSWERS_SWEEP_INTERVAL_MS = 60_000;

const NOTHING = new Uint8Array(0);

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

registerAgentTools();
registerAutomlFunctions();
registerFolderFunctions();

export class Actor {
  private readonly partitions = new Map<number, Partition>();
  /** By their endpoints' codes; those of other actors are not there. */
  private readonly routes: (Route | undefined)[] = [];
  private readonly scheduler: Scheduler;
  private readonly replies = new ReplyWriter();
  private readonly answers: Answers;
  private readonly idempotency: Idempotency;
  /** For all partitions together, as is `spill`. */
  readonly segments: SegmentCache;
  readonly spill: SpillArea | null;
  readonly models: Models;
  readonly claims: ClaimVerifier;
  readonly providers: TenantProviders;
  readonly indexes: SharedByPartitions["indexes"];
  readonly tasks: LongTasks | null;
  /** Requests that did not end at once, by id. */
  private readonly running = new Map<number, Request>();
  /** Requests of jobs. */
  private readonly background: BackgroundRequests;
  /** Streamed bodies of requests that have not ended, by id. */
  private readonly bodies = new Map<number, BodySource>();
  /** Subscriptions that have outlived their requests, by id. */
  private readonly subscribers = new Map<number, Subscriber>();
  private readonly slowStatements: SlowStatements;
  private nextChannel = 1;
  private readonly unflushed = new Set<Partition>();
  /** Null: it is another actor's. */
  private directory: DirectoryServices | null = null;
  private readonly placement: Placement;
  private readonly backups: Backups;
  private readonly restores: Restores;
  private readonly backupFolder: BackupFolder;
  private readonly wholeFolder: WholeFolder;
  private turnArmed = false;
  /** Requests ran in this turn already, when their frames arrived. */
  private ranOnArrival = false;
  /** Something waits for the scheduler's next run. */
  private workWaits = false;
  /** Of requests whose turn has not come, by id. */
  private readonly traces = new Map<number, Trace>();
  /** Ids of requests that were cancelled before they began. */
  private readonly cancelledEarly = new Set<number>();
  private closing: (() => void) | null = null;
  private requests = 0;
  private answersSweptMs = Date.now();
  /** Statistics being made anew between the requests. */
  private renewal: Promise<void> | null = null;
  private renewing: Tenant | null = null;
  private readonly sweeper: NodeJS.Timeout;
  private readonly channel: RequestChannel = {
    taken: (id, bytes) => {
      this.replies.taken(id, bytes);
      this.armTurn();
    },
    durable: ({ partition, tenant }) =>
      new Promise((resolve, reject) => partition.gate.pass(tenant.lastCommit, resolve, reject)),
    open: ({ id }, headers) => new ReplySink(id, this.replies, headers, () => this.armTurn()),
  };

  private readonly liveOutput: LiveOutput = {
    newChannel: () => this.nextChannel++,
    began: (id) => this.sayLive(id, LIVE.began, "", NOTHING),
    joined: (id, channel) => this.sayLive(id, LIVE.joined, String(channel), NOTHING),
    publish: (channel, sequence, message) => this.sayLive(channel, LIVE.published, String(sequence), message),
    ended: (id, status, message) => {
      this.replies.bytes(id, status, 0, "", message);
      this.armTurn();
    },
    listen: (id, subscriber) => {
      if (subscriber === null) this.subscribers.delete(id);
      else this.subscribers.set(id, subscriber);
    },
    failed: (error) => this.output.log("error", "a subscription failed", { error: String(error) }),
    turnsOf: (tenant) => {
      const work: Work = { usedMs: 0 };
      return {
        checkpoint: () => undefined,
        shouldYield: () => this.scheduler.shouldYield(),
        yieldTurn: () => this.scheduler.yieldTurn(tenant, work),
      };
    },
  };

  private constructor(
    private readonly settings: ActorSettings,
    private readonly output: ActorSurroundings,
  ) {
    this.answers = new Answers(this.replies, (message, fields) => output.log("error", message, fields));
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
    this.background = new BackgroundRequests(this.scheduler, this.channel.durable);
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
    this.restores = new Restores({
      ...{ scheduler, folders, running: (partition, tenant) => this.runningOf(partition, tenant) },
      report: (report) => output.control({ kind: "restore-report", report }),
      failed: (message, fields) => output.log("error", message, fields),
    });
    this.sweeper = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref();
  }

  private sayLive(id: number, what: number, headers: string, body: Uint8Array): void {
    this.replies.bytes(id, what, REPLY_LIVE, headers, body);
    this.armTurn();
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

  /** Statistics being made count as a request that ends by itself. */
  private runningOf(partition: Partition, tenant: number): { end(error: DbError): void }[] {
    const running: { end(error: DbError): void }[] = [];
    for (const request of this.running.values()) {
      if (request.partition === partition && request.tenant.number === tenant) running.push(request);
    }
    running.push(...this.background.of(partition, tenant));
    const { renewing } = this;
    if (renewing !== null && renewing.partition === partition && renewing.number === tenant) {
      running.push({ end: () => undefined });
    }
    return running;
  }

  /** Opens the partitions and, in partition 0's actor, the directory; announces `ready`. */
  static async open(settings: ActorSettings, output: ActorSurroundings): Promise<Actor> {
    const actor = new Actor(settings, output);
    for (const number of settings.partitions) await actor.openOne(number);
    const adminPassword = await actor.openDirectory();
    actor.compileRoutes();
    output.control({ kind: "ready", adminPassword });
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
      durable: (sequence) => this.durable(number, sequence),
      undone: (first, error) => this.undone(this.partitions.get(number)!, first, error),
      failed: (error) => this.partitionFailed(number, error),
    };
    try {
      const partition = await openPartition(this.settings, number, events, this, this.output.openShard);
      partition.subscriptions.output = this.liveOutput;
      partition.slowStatements = this.slowStatements;
      partition.installationSecret = this.settings.secret;
      partition.progress.output = this.liveOutput;
      this.partitions.set(number, partition);
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

  /** Those of before the start go on. */
  private beginJobs(partition: Partition): void {
    const { config } = this.settings;
    const runnable = ({ name, bounds, run }: JobKind) => ({
      name,
      ...bounds(config),
      run: (record: JobRecord, signal: AbortSignal) =>
        run({
          record,
          partition,
          signal,
          work: (work) => this.background.run(partition, record.tenant, record.owner, signal, work),
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
    const { settings, scheduler, backupFolder, wholeFolder, output } = this;
    this.directory = await DirectoryServices.open({
      ...{ settings, scheduler, partition, backupFolder, wholeFolder },
      deriveKey: output.deriveKey,
      wrote: () => this.wrote(partition),
      say: (message) => output.control(message),
      log: (level, message, fields) => output.log(level, message, fields),
    });
    return this.directory.bootstrap(settings.adminPassword);
  }

  private compileRoutes(): void {
    const routes = compileRoutes({ ...backupHandlers(this.backups, this.backupFolder), ...this.directory?.handlers() });
    for (const route of routes) this.routes[route.endpoint.code] = route;
  }

  receive(message: ArrayBuffer | ToActor): void {
    if (message instanceof ArrayBuffer) {
      readRequests(message, (frame) => this.accept(frame));
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
      case "backup":
        this.backups.order(this.partitions.get(message.partition)!, message.order);
        break;
      case "report-unsettled":
        this.placement.reportAll();
        break;
      case "trace": {
        const send = (spans: readonly SpanRecord[]): void => this.output.control({ kind: "spans", spans });
        this.traces.set(message.id, new Trace(message.context, this.settings.actor, send));
        break;
      }
      case "close":
        void this.close();
        break;
      default:
        this.directory?.hear(message);
    }
  }

  private accept(frame: RequestFrame): void {
    if (frame.code >= TAKEN_CODE) {
      this.toRunning(frame);
      return;
    }
    if (!this.partitions.has(frame.partition)) {
      // Found damaged, which the gateway may not have known when it sent this.
      const error = new DbError("partition_damaged");
      this.traces.delete(frame.id);
      this.replies.text(frame.id, error.status, 0, "", errorJson(error, frame.requestId));
      return;
    }
    this.requests++;
    const route = this.routes[frame.code]!;
    const tenant = route.endpoint.home === "directory" ? DIRECTORY_TENANT : frame.tenant;
    const work: Work = { usedMs: 0, account: this.partitions.get(frame.partition)!.account };
    if ((frame.flags & REQUEST_STREAMED) !== 0) {
      this.bodies.set(frame.id, new BodySource((bytes) => this.channel.taken(frame.id, bytes)));
    }
    try {
      this.scheduler.submit(tenant, work, () => this.begin(frame, route, tenant, work));
    } catch (error) {
      this.fail(this.requestOf(frame, route, tenant, work), error);
    }
  }

  private requestOf(frame: RequestFrame, { endpoint }: Route, tenant: number, work: Work): Request {
    const partition = this.partitions.get(frame.partition)!;
    const body = this.bodies.get(frame.id) ?? null;
    const { scheduler, channel } = this;
    const request = new Request(frame, endpoint, partition, partition.tenant(tenant), scheduler, work, channel, body);
    if (this.traces.size > 0) this.trace(request);
    return request;
  }

  /** It is the request's turn; answers whether it has ended. */
  private begin(frame: RequestFrame, route: Route, tenant: number, work: Work): boolean {
    const partition = this.partitions.get(frame.partition)!;
    const place = partition.places.size === 0 ? undefined : partition.places.get(tenant);
    if (place?.kind === "restoring") {
      this.fail(this.requestOf(frame, route, tenant, work), this.restores.refusal(tenant));
      return true;
    }
    if (place !== undefined) {
      this.placement.hold(partition, tenant, this.heldRequest(frame, route, tenant, work));
      return true;
    }
    const request = this.requestOf(frame, route, tenant, work);
    try {
      if (this.cancelledEarly.size > 0) request.cancelled = this.cancelledEarly.delete(frame.id);
      request.checkpoint();
      const answer = this.handle(route, request, frame);
      if (answer instanceof Promise) {
        this.finishLater(request, answer);
        return false;
      }
      this.finish(request, answer);
    } catch (error) {
      this.fail(request, error);
    }
    return true;
  }

  private trace(request: Request): void {
    request.trace = this.traces.get(request.id) ?? null;
    this.traces.delete(request.id);
    request.trace?.began();
  }

  /** A request whose tenant is being moved, or has been. */
  private heldRequest(frame: RequestFrame, route: Route, tenant: number, work: Work): HeldRequest {
    const refuse = (error: unknown): void => {
      this.fail(this.requestOf(frame, route, tenant, work), error);
      this.armTurn();
    };
    return {
      resume: () => {
        try {
          this.scheduler.submit(tenant, work, () => this.begin(frame, route, tenant, work));
        } catch (error) {
          refuse(error);
        }
      },
      redirect: (to) => {
        if (this.bodies.has(frame.id)) {
          refuse(new DbError("partition_unavailable", "The tenant was moved while the body was sent; retry."));
          return;
        }
        this.traces.delete(frame.id);
        this.replies.bytes(frame.id, 0, REPLY_MOVED, String(to), frame.bodyBytes);
        this.armTurn();
      },
      refuse,
    };
  }

  /** What concerns a request that was accepted before; one that has ended needs none of it. */
  private toRunning(frame: RequestFrame): void {
    const request = this.running.get(frame.id);
    if (frame.code === PIECE_CODE) {
      this.bodies.get(frame.id)?.arrived(frame.bodyBytes, (frame.flags & REQUEST_LAST_PIECE) !== 0);
    } else if (frame.code === TAKEN_CODE) request?.sink?.taken(frame.deadlineMs);
    else if (request !== undefined) request.cancel();
    else if (this.subscribers.has(frame.id)) {
      this.subscribers.get(frame.id)!.left();
      this.subscribers.delete(frame.id);
    } else if (this.scheduler.waiting > 0) this.cancelledEarly.add(frame.id);
  }

  private handle(route: Route, request: Request, frame: RequestFrame): Answer | Promise<Answer> {
    if (this.closing !== null) throw new DbError("shutting_down");
    const input = route.validate(frame);
    if (!frame.isIdempotent) return route.handle(request, input);
    return answerOnce(this.idempotency, request, frame, () => route.handle(request, route.validate(frame)));
  }

  private finishLater(request: Request, pending: Promise<Answer>): void {
    this.running.set(request.id, request);
    pending
      .then((answer) => this.finish(request, answer))
      .catch((error: unknown) => this.fail(request, error))
      .finally(() => {
        this.running.delete(request.id);
        this.scheduler.ended(request.tenant.number, request.work);
        this.armTurn();
      });
  }

  private finish(request: Request, answer: Answer): void {
    request.ended();
    if (request.body !== null) this.bodies.delete(request.id);
    if (request.endpoint.isAudited) this.noteAudited(request, answer.status ?? request.endpoint.status ?? 200, null);
    this.answers.give(request, answer);
  }

  private fail(request: Request, thrown: unknown): void {
    request.ended();
    if (request.body !== null) this.bodies.delete(request.id);
    if (request.endpoint.isAudited) {
      const error = thrown instanceof DbError ? thrown : new DbError("internal_error");
      this.noteAudited(request, error.status, error.code);
    }
    this.answers.refuse(request, thrown);
  }

  /** The answer of a request to the directory waits until its entry is on disk, too. */
  private noteAudited(request: Request, status: number, code: string | null): void {
    const event = auditEventOf(request, status, code, Date.now());
    if (this.directory === null) {
      this.output.control({ kind: "audit", events: [event] });
      return;
    }
    try {
      this.directory.audit.append([event]);
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
    this.turnArmed = false;
    if (!this.ranOnArrival) this.work();
    this.ranOnArrival = false;
    if (this.cancelledEarly.size > 0 && this.scheduler.waiting === 0) this.cancelledEarly.clear();
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
    if (partition.number === DIRECTORY_PARTITION) this.directory?.undone(first);
    this.armTurn();
  }

  /** Ends transactions past their deadline and, less often, deletes kept answers past their window. */
  private sweep(): void {
    const now = Date.now();
    const answersToo = now - this.answersSweptMs > ANSWERS_SWEEP_INTERVAL_MS;
    if (answersToo) this.answersSweptMs = now;
    const busy = new Set([...this.running.values()].map(({ tenant }) => tenant));
    for (const tenant of this.background.tenants()) busy.add(tenant);
    for (const partition of this.partitions.values()) {
      partition.sweep(now, busy);
      if (!answersToo || partition.shard.failed !== null) continue;
      for (const tenant of partition.activeTenants()) {
        if (partition.places.get(tenant.number) === undefined) this.idempotency.sweep(tenant);
      }
    }
    this.placement.sweep();
    this.directory?.sweep();
    this.renewal ??= this.renewAll();
  }

  private async renewAll(): Promise<void> {
    try {
      for (const partition of this.partitions.values()) {
        if (partition.shard.failed !== null) continue;
        for (const tenant of [...partition.activeTenants()]) {
          const isStopped = () =>
            this.closing !== null || partition.places.get(tenant.number) !== undefined || !partition.holds(tenant);
          if (isStopped()) continue;
          this.renewing = tenant;
          await renewStatistics(tenant, this.scheduler, isStopped);
          await removeRetired(tenant, this.scheduler, isStopped);
          this.renewing = null;
        }
      }
    } catch (error) {
      this.output.log("error", "statistics could not be renewed, or retired data not be removed", {
        error: String(error),
      });
    } finally {
      this.renewing = null;
      this.renewal = null;
    }
  }

  private metrics(): ActorMetrics {
    const partitions = [...this.partitions.values()];
    return {
      actor: this.settings.actor,
      requests: this.requests,
      running: this.running.size,
      waiting: this.scheduler.waiting,
      ...this.scheduler.metrics,
      heapBytes: process.memoryUsage().heapUsed,
      eventLoopUtilization: performance.eventLoopUtilization().utilization,
      slowStatements: this.slowStatements.count,
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
    clearInterval(this.sweeper);
    this.placement.close();
    for (const partition of this.partitions.values()) partition.derived.endWork();
    await Promise.all([...this.partitions.values()].map(({ jobs }) => jobs.close()));
    await Promise.all([this.backups.close(), this.restores.close(), this.directory?.close()]);
    await new Promise<void>((resolve) => {
      this.closing = () => {
        const waiting = [...this.partitions.values()].some((partition) => partition.gate.waiting > 0);
        if (this.running.size === 0 && this.scheduler.waiting === 0 && !waiting && this.unflushed.size === 0) resolve();
      };
      this.armTurn();
    });
    await this.renewal;
    for (const partition of this.partitions.values()) await partition.close();
    await this.models.close();
    await this.providers.close();
    this.output.control({ kind: "closed" });
  }
}

function isDamage(error: unknown): error is DbError {
  return error instanceof DbError && error.code === "partition_damaged";
}
