/**
 * One actor: the single writer of its partitions, on a thread of its own. The life of a request here:
 *
 *  1. A buffer of frames arrives; `accept` (requests.ts) gives each request to the scheduler, which calls `begin` when
 *     it is its tenant's turn: at once, unless others are at work.
 *  2. Its body is decoded and checked (validate.ts); an Idempotency-Key is claimed (answer-once.ts).
 *  3. The endpoint's handler runs (src/features). SQL goes through src/session. Most handlers end at once; a long
 *     statement gives way after its slice and goes on in a later turn (scheduler.ts).
 *  4. The answer passes (answers.ts) the partition's gate (output-gate.ts): a reply waits for the fsync of what it saw.
 *  5. At the end of the turn (`turn`) every shard that was written to is flushed: one log write, one engine batch, one
 *     fsync for all commits of the turn; and all replies that may leave go back in one buffer.
 *
 * Beside that it opens the partitions, hears control messages, and closes. What features do for a whole actor is behind
 * actor-features.ts, what needs no request in upkeep.ts. workers/actor.ts makes it and owns the thread.
 */

import type { StartInference } from "../ai/inference-messages.js";
import type { IndexThreadsElsewhere } from "../derived/index-body.js";
import type { DeriveKey } from "../directory/derive-key.js";
import { ActorMarks, newActorMarks } from "../protocol/actor-marks.js";
import { DbError } from "../protocol/errors.js";
import { ReplyWriter, readRequests } from "../protocol/frames.js";
import type { ActorMetrics, ActorSettings, FromActor, LogLevel, ToActor, WriteRefusal } from "../protocol/messages.js";
import { osThread } from "../protocol/os-thread.js";
import type { ThreadMetrics } from "../protocol/thread-metrics.js";
import type { SpanRecord } from "../protocol/tracing.js";
import { markOperatorsIn, OPERATOR_NAMES } from "../query/exec/operator-marks.js";
import type { LongTasks } from "../session/long-tasks.js";
import { Trace } from "../session/trace.js";
import { whenRoom } from "../storage/disk-reserve.js";
import { partitionDirectory } from "../storage/partition-directory.js";
import {
  type ActorFeatures,
  type ActorHost,
  DIRECTORY_PARTITION,
  type MakeFeatures,
  type Running,
} from "./actor-features.js";
import { type ActorShared, actorShared } from "./actor-shared.js";
import type { ActorTenures } from "./actor-tenures.js";
import { Copies, type CopiesHost } from "./copies.js";
import { Idempotency } from "./idempotency.js";
import { letGo } from "./let-go.js";
import { type OpenShard, openPartition, type PartitionEvents } from "./open-partition.js";
import type { Partition } from "./partition.js";
import { Requests } from "./requests.js";
import { compileRoutes } from "./routes.js";
import { Scheduler, type SchedulerOptions } from "./scheduler.js";
import { TracingScheduler } from "./slow-steps.js";
import { StoppedStatements } from "./stopped-statements.js";
import { TurnCpu } from "./turn-cpu.js";
import { Upkeep } from "./upkeep.js";

/** How long a stop waits for columns of what was loaded last. Less than the gateway's patience (SAVE_MS_MAX). */
const LAST_LOADS_MS = 15_000;

/** What the thread gives its actor. */
export interface ActorSurroundings {
  frames(buffer: ArrayBuffer): void;
  control(message: FromActor, transfer?: readonly ArrayBuffer[]): void;
  /** Runs scrypt on a task thread. */
  readonly deriveKey: DeriveKey;
  readonly startInference: StartInference;
  /** Absent: there are no task threads. */
  readonly tasks?: LongTasks;
  /** Task threads that link vectors in memory which they share with the actor; absent: the actor does it. */
  readonly linkThreads?: IndexThreadsElsewhere;
  /** The actor cannot go on: its thread must end, and be started again from the log. */
  failed(error: Error): void;
  log(level: "error" | "warn" | "info" | "debug", message: string, fields: object): void;
  setLogLevel(level: LogLevel): void;
  /** Of the thread; absent: it is not the actor's own. */
  readonly threadMetrics?: () => ThreadMetrics;
  /** Opens shards elsewhere than on disk, for simulations. */
  readonly openShard?: OpenShard;
  /** In a cluster; absent: the actor owns the partitions of its settings. */
  readonly tenures?: ActorTenures;
}

/** Milliseconds between two beats. */
const BEAT_MS = 50;
/** On the disk before a partition that could only be read is opened to be written. */
const READ_ONLY_FREE_BYTES = 64 * 1024 * 1024;

export class Actor {
  private readonly partitions = new Map<number, Partition>();
  private readonly scheduler: Scheduler;
  private readonly replies = new ReplyWriter();
  private readonly idempotency: Idempotency;
  private readonly requests: Requests;
  private readonly shared: ActorShared;
  private readonly features: ActorFeatures;
  private readonly marks: ActorMarks;
  private readonly stopped = new StoppedStatements();
  private beats: NodeJS.Timeout | null = null;
  private readonly turnCpu = new TurnCpu();
  /** Ends the looks for room; null: none is missing. */
  private roomLooks: (() => void) | null = null;
  /** Partitions that are about to be other nodes', until the gateway knows. */
  private readonly gatewayKnows = new Map<number, () => void>();
  /** For partitions that are opened later. */
  private refusal: WriteRefusal | null = null;
  private readonly unflushed = new Set<Partition>();
  private turnArmed = false;
  /** Requests ran in this turn already, when their frames arrived. */
  private ranOnArrival = false;
  /** Something waits for the scheduler's next run. */
  private workWaits = false;
  private closing: (() => void) | null = null;
  /** Closing has begun: before `closing`, a partition that is being handed over comes to its end. */
  private isEnding = false;
  private readonly upkeep: Upkeep;
  /** Of partitions that other nodes own; null: there are no other nodes. */
  private readonly copies: Copies | null;

  private constructor(
    private readonly settings: ActorSettings,
    private readonly output: ActorSurroundings,
    makeFeatures: MakeFeatures,
  ) {
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
    this.marks = new ActorMarks(settings.marks ?? newActorMarks(), osThread());
    if (settings.marks !== undefined) markOperatorsIn(this.marks.operator);
    this.stopped.set(settings.stopped ?? []);
    this.idempotency = new Idempotency(settings.config.idempotency.windowHours * 3_600_000);
    this.shared = actorShared(settings, output, { stopped: this.stopped, indexes: this.makeIndexes() });
    this.copies = output.tenures === undefined ? null : this.makeCopies(output.tenures);
    this.features = makeFeatures(this.makeHost());
    this.requests = this.makeRequests();
    this.upkeep = this.makeUpkeep();
  }

  private makeCopies(tenures: ActorTenures): Copies {
    const { settings, output, shared } = this;
    const host: CopiesHost = {
      open: (number, events) => openPartition(settings, number, events, shared, output.openShard, "copy"),
      running: (partition) => this.requests.in(partition),
      armTurn: () => this.armTurn(),
    };
    return new Copies(host, tenures);
  }

  private makeHost(): ActorHost {
    const { settings, output, partitions, scheduler, replies, marks, stopped, idempotency } = this;
    return {
      ...{ settings, partitions, scheduler, replies, marks, stopped, deriveKey: output.deriveKey },
      armTurn: () => this.armTurn(),
      wrote: (partition) => this.wrote(partition),
      running: (partition, tenant) => this.runningOf(partition, tenant),
      takeAnswers: (tenant) => idempotency.take(tenant),
      restoreAnswers: (answers) => idempotency.restore(answers),
      say: (message, transfer) => output.control(message, transfer),
      log: (level, message, fields) => output.log(level, message, fields),
    };
  }

  private makeRequests(): Requests {
    const { partitions, scheduler, replies, features, idempotency, marks, stopped, copies } = this;
    return new Requests({
      ...{ partitions, scheduler, replies, features, idempotency, marks, stopped, copies },
      armTurn: () => this.armTurn(),
      arrived: () => this.turnCpu.begin(),
      isClosing: () => this.closing !== null,
      isClustered: this.output.tenures !== undefined,
      log: (level, message, fields) => this.output.log(level, message, fields),
    });
  }

  private makeUpkeep(): Upkeep {
    return new Upkeep({
      ...{ partitions: this.partitions, scheduler: this.scheduler },
      busy: () => new Set([...this.requests.tenants(), ...this.features.busy()]),
      sweepAnswers: (tenant) => this.idempotency.sweep(tenant),
      swept: () => this.features.sweep(),
      isClosing: () => this.closing !== null,
      log: (level, message, fields) => this.output.log(level, message, fields),
    });
  }

  private makeIndexes(): ActorShared["indexes"] {
    const { scheduler, output } = this;
    return {
      memory: { bytes: 0, bytesMax: this.settings.config.storage.indexMemoryBytes },
      turnsOf: (tenant) => {
        const work = { usedMs: 0 };
        return { shouldYield: () => scheduler.shouldYield(), yieldTurn: () => scheduler.yieldTurn(tenant, work) };
      },
      elsewhere: output.linkThreads ?? null,
      warn: (message, { tenantNumber: tenant, indexId: index }) => output.log("warn", message, { tenant, index }),
    };
  }

  /** What is at work for the tenant, to be ended before it can be moved or restored. */
  private runningOf(partition: Partition, tenant: number): Running[] {
    return [
      ...this.requests.of(partition, tenant),
      ...this.features.running(partition, tenant),
      ...this.upkeep.of(partition, tenant),
    ];
  }

  /** Opens the partitions and, in partition 0's actor, the directory; announces `ready`. */
  static async open(settings: ActorSettings, output: ActorSurroundings, makeFeatures: MakeFeatures): Promise<Actor> {
    const actor = new Actor(settings, output, makeFeatures);
    const { tenures } = output;
    if (tenures === undefined) for (const number of settings.partitions) await actor.openOne(number);
    const adminPassword = await actor.features.openDirectory();
    actor.requests.serve(compileRoutes(actor.features.handlers()));
    actor.beginBeats();
    output.control({ kind: "ready", adminPassword, operators: OPERATOR_NAMES });
    actor.features.begin();
    void actor.shared.claims.warmUp();
    for (const partition of actor.partitions.values()) actor.openSaved(partition);
    tenures?.begin({
      ...{ open: (number: number) => actor.openLater(number), close: (number: number) => actor.letGo(number) },
      openCopy: (number: number) => actor.copies!.open(number),
      armTurn: () => actor.armTurn(),
    });
    return actor;
  }

  private letGo(number: number): Promise<boolean> {
    const { partitions, requests, features, upkeep, idempotency, unflushed, gatewayKnows } = this;
    return letGo(number, {
      ...{ partitions, requests, features, upkeep, idempotency, unflushed, gatewayKnows },
      tell: (partition) => this.output.control({ kind: "partition-leaving", partition }),
      isClosing: () => this.isEnding,
      armTurn: () => this.armTurn(),
    });
  }

  /** A partition that this node owns from now on. */
  private async openLater(number: number): Promise<void> {
    await this.openOne(number);
    const partition = this.partitions.get(number);
    if (partition === undefined) return;
    partition.shard.refusal = this.refusal;
    let adminPassword: string | null = null;
    if (number === DIRECTORY_PARTITION) {
      adminPassword = await this.features.openDirectory();
      this.requests.serve(compileRoutes(this.features.handlers()));
    }
    this.output.control({ kind: "partition-opened", partition: number, adminPassword });
    this.features.beginOne(partition);
    this.openSaved(partition);
  }

  /** A damaged partition does not keep the others from being served; without the directory's nobody could sign in. */
  private async openOne(number: number): Promise<void> {
    let opened: Partition | undefined; // It writes, too, while it is being closed and the map has it no more.
    const events: PartitionEvents = {
      wroteSomething: () => this.wrote(opened),
      ...{ flushing: () => this.marks.flushing(), flushed: () => this.marks.flushed() },
      durable: (sequence) => {
        opened?.onDisk(sequence);
        this.armTurn();
      },
      undone: (first, error) => this.undone(opened!, first, error),
      failed: (error) => this.partitionFailed(number, error),
      readOnly: (error) => this.openedReadOnly(number, error),
    };
    try {
      const { openShard, tenures } = this.output;
      opened = await openPartition(this.settings, number, events, this.shared, openShard, tenures);
      this.partitions.set(number, opened);
      this.features.opened(opened);
    } catch (error) {
      if (!isDamage(error) || number === DIRECTORY_PARTITION) throw error;
      this.output.control({ kind: "partition-damaged", partition: number, message: error.message });
    }
  }

  /** Nothing is written until there is room; then the actor begins anew, with the partition as it should be. */
  private openedReadOnly(number: number, { message }: DbError): void {
    const { config, dataDirectory } = this.settings;
    const freeBytes = Math.max(config.storage.freeBytesMin, READ_ONLY_FREE_BYTES);
    const told =
      "the disk is full: the partition is open for reading only, and every write is refused until there is room";
    this.output.log("error", told, { partition: number, cause: message, free_bytes_wanted: freeBytes });
    this.roomLooks ??= whenRoom(dataDirectory, freeBytes, () =>
      this.output.failed(
        new DbError("partition_unavailable", "The disk has room again. Partitions accept writes again."),
      ),
    );
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
    this.features.damaged(partition);
    this.armTurn();
  }

  /** Nobody waits for indexes: searches read records until they are there. Scans wait for columns. */
  private openSaved(partition: Partition): void {
    const directory = partitionDirectory(this.settings.dataDirectory, partition.number);
    if (this.output.openShard === undefined && this.roomLooks === null)
      partition.keepColumns(directory).catch((error: unknown) => {
        this.output.log("warn", "column files were not opened", { partition: partition.number, error: String(error) });
      });
    partition.openSavedIndexes().catch((error: unknown) => {
      this.output.log("warn", "saved indexes were not opened", { partition: partition.number, error: String(error) });
    });
  }

  /** Beats while the loop runs; a request that holds up the loop is found by the missing beat. */
  private beginBeats(): void {
    if (this.settings.marks === undefined) return;
    this.marks.beat();
    this.beats = setInterval(() => this.marks.beat(), BEAT_MS).unref();
  }

  receive(message: ArrayBuffer | ToActor): void {
    this.marks.nobody();
    if (message instanceof ArrayBuffer) {
      this.turnCpu.begin();
      readRequests(message, (frame) => this.requests.accept(frame));
      // At once, unless this turn has had its share already; what is left is for the next ones.
      if (!this.ranOnArrival) this.work();
      this.ranOnArrival = true;
      this.armTurn();
      return;
    }
    switch (message.kind) {
      case "refuse-writes":
        this.refusal = message.refusal;
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
      case "partition-left":
        this.gatewayKnows.get(message.partition)?.();
        break;
      case "metrics":
        this.output.control({ kind: "metrics", id: message.id, metrics: this.metrics() });
        break;
      case "library":
        this.shared.models.library?.hear(message.message);
        this.armTurn();
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
        this.features.hear(message);
    }
  }

  private wrote(partition?: Partition): void {
    if (partition !== undefined) this.unflushed.add(partition);
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
    this.features.undone(partition, first, error);
    this.armTurn();
  }

  private metrics(): ActorMetrics {
    const { shared } = this;
    const partitions = [...this.partitions.values()];
    return {
      ...{ actor: this.settings.actor, requests: this.requests.count, running: this.requests.runningCount },
      waiting: this.scheduler.waiting,
      ...this.scheduler.metrics,
      ...this.turnCpu.metrics,
      heapBytes: process.memoryUsage().heapUsed,
      eventLoopUtilization: performance.eventLoopUtilization().utilization,
      slowStatements: shared.slowStatements?.count ?? 0,
      statementsRefused: this.stopped.refused,
      segmentBytes: shared.segments.bytes,
      segmentTables: shared.segments.tables,
      segmentsEvicted: shared.segments.evicted,
      spillBytes: shared.spill?.bytes ?? 0,
      spillBytesWritten: shared.spill?.bytesWritten ?? 0,
      ...this.features.metrics(),
      thread: this.output.threadMetrics?.() ?? null,
      modelUsage: [...shared.models.usage.values()],
      inference: shared.models.laneMetrics,
      partitions: partitions.map((one) => ({ ...one.metrics, requestsHeld: this.features.heldIn(one) })),
      cluster: this.output.tenures?.metrics() ?? null,
    };
  }

  /**
   * Lets running requests finish, sends the replies that wait at the gates, then closes the shards. New requests are
   * refused from the beginning.
   */
  private async close(): Promise<void> {
    this.isEnding = true;
    this.upkeep.stop();
    await this.output.tenures?.stop();
    for (const partition of this.partitions.values()) partition.endWork();
    await this.features.close();
    await new Promise<void>((resolve) => {
      this.closing = () => {
        const waiting = [...this.partitions.values()].some((partition) => partition.gate.waiting > 0);
        if (this.requests.runningCount === 0 && this.scheduler.waiting === 0 && !waiting && this.unflushed.size === 0)
          resolve();
      };
      this.armTurn();
    });
    await this.upkeep.ended();
    this.output.control({ kind: "at-rest" });
    // In a cluster, the next owners wait.
    const loadsUntil = this.output.tenures === undefined ? performance.now() + LAST_LOADS_MS : 0;
    for (const partition of this.partitions.values()) await partition.close(loadsUntil);
    await this.output.tenures?.release();
    await this.shared.models.close();
    await this.shared.providers.close();
    if (this.beats !== null) clearInterval(this.beats);
    this.turnCpu.close();
    this.roomLooks?.();
    this.output.control({ kind: "closed" });
  }
}

function isDamage(error: unknown): error is DbError {
  return error instanceof DbError && error.code === "partition_damaged";
}
