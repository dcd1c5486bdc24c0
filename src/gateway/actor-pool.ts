/**
 * All actors' threads and their supervisor. It starts the threads and restarts one that crashed, after a growing
 * pause; one that keeps crashing stays down for longer. The others go on serving. It also counts the requests in
 * flight per partition. Started and closed by gateway.ts; requests ask it which link serves a partition.
 */
import type { MessagePort } from "node:worker_threads";
import type { Logger } from "pino";
import { type AtWork, MarksReader, newActorMarks } from "../protocol/actor-marks.js";
import type { BackupOrder } from "../protocol/backup-orders.js";
import type { Config } from "../protocol/config.js";
import type { IdentityChange } from "../protocol/identity.js";
import type { ActorMetrics, FromActor, ToActor, WriteRefusal } from "../protocol/messages.js";
import type { FromLibraryThread, ToLibraryThread } from "../protocol/model-library.js";
import { runQueueMs } from "../protocol/os-thread.js";
import type { PlacementMessage, RestoreOrder } from "../protocol/placement.js";
import type { StoppedStatement } from "../protocol/stopped-statement.js";
import type { ThreadDiagnosis } from "../protocol/thread-diagnosis.js";
import type { SpanRecord } from "../protocol/tracing.js";
import { ActorLink, type ActorPort, type Loss, type PartitionState } from "./actor-link.js";
import type { Cancel, Clock } from "./clock.js";
import { judgeRequests } from "./judge-requests.js";
import type { PartitionRoutes } from "./partition-routes.js";
import { StoppedList } from "./stopped-list.js";
import { Watchdog } from "./watchdog.js";

/** The partition of the directory, and the actor that owns it. */
export const DIRECTORY_PARTITION = 0;
const DIRECTORY_ACTOR = 0;

const RESTART_PAUSE_MS = 100;
const RESTART_PAUSE_MS_MAX = 5_000;
/**
 * After this many crashes within the window, the actor stays down for as long as the window, because each start costs
 * the others, too.
 */
const CRASHES_MAX = 5;
const CRASH_WINDOW_MS = 60_000;
/** Within the window, this many stopped threads are replaced at once; further ones after a growing pause. */
const STOPS_AT_ONCE = 10;
const STOP_PAUSE_MS = 100;
const STOP_PAUSE_MS_MAX = 2_000;
/** Requests wait no longer for the next thread. */
const HELD_MS_MAX = 30_000;
/** An actor that is busy for longer is left out of the report about the other actors. */
const ACTORS_ANSWER_MS_MAX = 200;

/** The thread of the library of models. */
export interface LibraryPort {
  /** Somebody has asked it for something. */
  readonly started: boolean;
  post(message: ToLibraryThread): void;
  /** Set by the pool. */
  onMessage: (message: FromLibraryThread) => void;
}

export interface ActorPoolOptions {
  readonly actors: number;
  readonly partitions: number;
  /** Starts the thread of that actor. */
  readonly spawn: (actor: number, watch: ActorWatch) => ActorPort;
  /** Starts loading a thread for the actor's next `spawn`; the returned function ends it if that does not come. */
  readonly prepare?: (actor: number) => Cancel;
  /** Milliseconds and seconds; 0: not watched. */
  readonly watch: Pick<Config["query"], "lateMs" | "stopMs" | "stoppedRefusedSeconds">;
  /** Starts an inference thread, which talks to its actor by that port. */
  readonly startInference: (port: MessagePort) => void;
  /** Absent: there is no library of models. */
  readonly library?: LibraryPort;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Spans that an actor has sent. */
  readonly traced?: (spans: readonly SpanRecord[]) => void;
  readonly identityChanged: (change: IdentityChange) => void;
  /** The directory's actor is up again after a crash. */
  readonly directoryRestarted: () => void;
  /** In a cluster. */
  readonly routes?: PartitionRoutes;
  /** A first boot made it up, later than at the start. */
  readonly adminPasswordMade?: (password: string) => void;
}

/** Settings of a thread for the watchdog (ActorSettings). */
export interface ActorWatch {
  readonly marks: SharedArrayBuffer;
  readonly stopped: readonly StoppedStatement[];
}

/** A thread that is being ended because it does not give way, or ended because it had no memory left. */
interface Stop {
  readonly culprit: AtWork | null;
  readonly cancelHold: Cancel;
  /** The thread is no more. */
  isChanged: boolean;
}

interface Supervised {
  readonly link: ActorLink;
  /** Of the thread that runs. */
  marks: SharedArrayBuffer;
  stop: Stop | null;
  /** Times of those within the window, on the steady clock. */
  stops: number[];
  cancelPrepared: Cancel | null;
  /** Times of the crashes within the window, on the steady clock. */
  crashes: number[];
  /** What the actor said, or what it threw, before it ended. */
  complaint: string | null;
  fatal: boolean;
  cancelRestart: Cancel | null;
  retryAfterSeconds: number;
  /** Settles the wait for the first start. */
  started: ((failure: string | null) => void) | null;
  exited: (() => void) | null;
}

export class ActorPool {
  /** By partition. */
  readonly requestsInFlight: Int32Array;
  /** Bodies of those requests, by partition. */
  readonly bytesInFlight: Float64Array;
  /** The administrator's password that a first boot made up. */
  adminPassword: string | null = null;
  private closing = false;
  readonly stopped: StoppedList;
  readonly watchdog: Watchdog;
  /** Partitions whose files are damaged, as their actors found. */
  private readonly damaged = new Set<number>();
  /** What all actors were told last, by kind. */
  private readonly told = new Map<ToActor["kind"], ToActor>();
  private readonly supervised: Supervised[];
  private readonly routes: PartitionRoutes | null;

  private constructor(private readonly options: ActorPoolOptions) {
    this.requestsInFlight = new Int32Array(options.partitions);
    this.bytesInFlight = new Float64Array(options.partitions);
    const { clock, watch } = options;
    this.stopped = new StoppedList(clock, watch.stoppedRefusedSeconds);
    this.watchdog = new Watchdog({
      ...{ clock, logger: options.logger, lateMs: watch.lateMs, stopMs: watch.stopMs },
      prepare: (actor) => {
        this.supervised[actor]!.cancelPrepared = options.prepare?.(actor) ?? null;
      },
      spare: (actor) => this.dropPrepared(this.supervised[actor]!),
      stop: (actor) => this.stop(this.supervised[actor]!),
      runQueueMs,
      describe: (actor, request) => this.supervised[actor]!.link.describe(request),
    });
    this.supervised = Array.from({ length: options.actors }, (_, actor) => this.supervise(actor));
    this.routes = options.routes ?? null;
    this.routes?.bind({
      localLinkOf: (partition) => this.localLinkOf(partition),
      identityChanged: (change) => options.identityChanged(change),
      directoryLost: () => options.directoryRestarted(),
    });
    if (options.library !== undefined) options.library.onMessage = (message) => this.heardOfLibrary(message);
  }

  /**
   * Starts all actors; resolves when each is ready or has failed once. Rejects, with everything closed again, when the
   * directory's actor does not come up: without it nobody can sign in.
   */
  static async start(options: ActorPoolOptions): Promise<ActorPool> {
    const pool = new ActorPool(options);
    const waits = pool.supervised.map(
      (one) =>
        new Promise<string | null>((resolve) => {
          one.started = resolve;
        }),
    );
    for (const one of pool.supervised) pool.startThread(one);
    const failures = await Promise.all(waits);
    const failure = failures[DIRECTORY_ACTOR];
    if (failure != null) {
      await pool.close(RESTART_PAUSE_MS_MAX);
      throw new Error(`Partition ${DIRECTORY_PARTITION} cannot start: ${failure}`);
    }
    return pool;
  }

  get partitions(): number {
    return this.options.partitions;
  }

  linkOf(partition: number): ActorLink {
    return this.routes === null ? this.localLinkOf(partition) : this.routes.linkOf(partition);
  }

  private localLinkOf(partition: number): ActorLink {
    return this.supervised[partition % this.supervised.length]!.link;
  }

  get directory(): ActorLink {
    return this.linkOf(DIRECTORY_PARTITION);
  }

  stateOf(partition: number): PartitionState {
    const link = this.linkOf(partition);
    const { state, actor } = link;
    if (state !== "ready") return state;
    if (link !== this.localLinkOf(partition)) return state;
    if (this.damaged.has(partition)) return "damaged";
    return this.watchdog.isLate(actor) ? "late" : state;
  }

  /** Whether requests may be sent there: they are served, or wait for a thread that comes at once. */
  takes(partition: number): boolean {
    if (this.linkOf(partition).holds) return this.damaged.size === 0 || !this.damaged.has(partition);
    return this.serves(partition);
  }

  /** Whether requests may be sent there. */
  serves(partition: number): boolean {
    return this.linkOf(partition).state === "ready" && (this.damaged.size === 0 || !this.damaged.has(partition));
  }

  /** Whole seconds after which a request to that partition may find it up again. */
  retryAfterSeconds(partition: number): number {
    return this.supervised[partition % this.supervised.length]!.retryAfterSeconds;
  }

  /** What every actor that answers in time says; the silent ones are left out. */
  collectMetrics(timeoutMs: number): Promise<ActorMetrics[]> {
    return this.ask(timeoutMs, (link, answer) => link.askMetrics(answer));
  }

  /** Of the actors' threads, for a diagnostic bundle; likewise. */
  diagnose(profileSeconds: number, timeoutMs: number): Promise<ThreadDiagnosis[]> {
    return this.ask(timeoutMs, (link, answer) => link.askDiagnosis(profileSeconds, answer));
  }

  private ask<T>(
    timeoutMs: number,
    ask: (link: ActorLink, answer: (said: T | null) => void) => () => void,
  ): Promise<T[]> {
    return new Promise((resolve) => {
      const answers: T[] = [];
      let open = this.supervised.length;
      const forget: Cancel[] = [];
      const finish = (): void => {
        cancelTimeout();
        for (const cancel of forget) cancel();
        resolve(answers);
      };
      const cancelTimeout = this.options.clock.after(timeoutMs, finish);
      for (const { link } of this.supervised) {
        forget.push(
          ask(link, (said) => {
            if (said !== null) answers.push(said);
            if (--open === 0) finish();
          }),
        );
      }
    });
  }

  /** Lets every thread finish its work and end; one that takes longer than the given time is terminated. */
  async close(timeoutMs: number): Promise<void> {
    this.closing = true;
    this.watchdog.closing();
    await Promise.all(this.supervised.map((one) => this.closeThread(one, timeoutMs)));
    this.watchdog.close();
  }

  private closeThread(one: Supervised, timeoutMs: number): Promise<void> {
    one.cancelRestart?.();
    one.stop?.cancelHold();
    this.dropPrepared(one);
    const { link } = one;
    if (!link.alive) {
      link.state = "closed";
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const cancelTimeout = this.options.clock.after(timeoutMs, () => {
        this.options.logger.error({ actor: link.actor }, "the actor did not end in time and is terminated");
        void link.terminate();
      });
      one.exited = () => {
        cancelTimeout();
        resolve();
      };
      // They are other nodes' soon: what comes finds the next owner, and nothing is believed here any more.
      if (this.routes !== null) {
        link.hold();
        this.ownsNothing(link, this.partitionsOf(link.actor));
      }
      link.close();
    });
  }

  private supervise(actor: number): Supervised {
    const one: Supervised = {
      link: new ActorLink(actor, (message) => this.heard(one, message)),
      marks: newActorMarks(),
      stop: null,
      stops: [],
      cancelPrepared: null,
      crashes: [],
      complaint: null,
      fatal: false,
      cancelRestart: null,
      retryAfterSeconds: 1,
      started: null,
      exited: null,
    };
    return one;
  }

  private startThread(one: Supervised): void {
    one.complaint = null;
    one.fatal = false;
    one.cancelRestart = null;
    for (const partition of this.partitionsOf(one.link.actor)) this.damaged.delete(partition);
    one.marks = newActorMarks();
    one.cancelPrepared = null;
    const port = this.options.spawn(one.link.actor, { marks: one.marks, stopped: this.stopped.list() });
    one.link.attach(port);
    port.on("error", (error) => {
      one.complaint ??= error.message;
      this.options.logger.error({ actor: one.link.actor, err: error }, "the actor threw");
      if ((error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY") this.outOfMemory(one);
    });
    port.on("exit", (code) => this.threadEnded(one, code));
  }

  private heard(one: Supervised, message: FromActor): void {
    switch (message.kind) {
      case "ready":
        one.link.state = "ready";
        one.retryAfterSeconds = 1;
        for (const told of this.told.values()) one.link.post(told);
        this.watchdog.watch(one.link.actor, one.marks, message.operators ?? []);
        if (one.link.holds) this.resumed(one);
        this.adminPassword ??= message.adminPassword;
        if (one.crashes.length > 0) this.recovered(one.link);
        this.settleStart(one, null);
        break;
      case "partition-opened":
        this.opened(message.partition, message.adminPassword);
        break;
      case "partition-leaving":
        this.leaving(one.link, message.partition);
        break;
      case "spans":
        this.options.traced?.(message.spans);
        break;
      case "identity-changed":
        this.identityChanged(one.link, message.change);
        break;
      case "ask-actors":
        void this.tellActors(one, message.id);
        break;
      case "log-level":
        this.options.logger.level = message.level;
        this.tellAll(message);
        break;
      case "start-inference":
        this.options.startInference(message.port);
        break;
      case "library":
        this.options.library?.post({ kind: "from-actor", actor: one.link.actor, message: message.message });
        break;
      case "placement":
        this.carry(message.partition, message.message);
        break;
      case "restore":
        this.order(message.partition, message.order);
        break;
      case "backup":
        this.orderBackup(message.partition, message.order);
        break;
      case "restore-answer":
        this.linkOf(message.partition).post({ kind: "restore-answer", answer: message.answer });
        break;
      case "audit":
      case "move-report":
      case "restore-ask":
      case "restore-report":
      case "backup-report":
      case "unsettled":
        this.directory.post(message);
        break;
      case "partition-damaged": {
        const { partition, message: complaint } = message;
        this.damaged.add(partition);
        this.options.logger.fatal({ partition, complaint }, "the partition is damaged and not served; others are");
        break;
      }
      case "failed":
        one.complaint = message.message;
        one.fatal = message.fatal;
        this.storageFailed(one);
        break;
    }
  }

  /** Nobody is told that the change is made before all nodes know of it. */
  private identityChanged(link: ActorLink, change: IdentityChange): void {
    this.options.identityChanged(change);
    const heard = this.routes?.identityChanged(change) ?? null;
    if (heard !== null) link.pauseUntil(heard);
  }

  private async tellActors({ link }: Supervised, id: number): Promise<void> {
    link.post({ kind: "actors", id, actors: await this.collectMetrics(ACTORS_ANSWER_MS_MAX) });
  }

  private opened(partition: number, adminPassword: string | null): void {
    if (partition === DIRECTORY_PARTITION) this.directoryIsBack();
    this.routes?.opened(partition);
    if (adminPassword !== null) this.options.adminPasswordMade?.(adminPassword);
  }

  private heardOfLibrary(message: FromLibraryThread): void {
    if (message.kind === "log") {
      this.options.logger[message.level](message.fields, message.message);
      return;
    }
    if (message.kind === "to-actor") {
      this.supervised[message.actor]!.link.post({ kind: "library", message: message.message });
      return;
    }
    const links = this.supervised.map(({ link }) => link).filter(({ alive }) => alive);
    for (const link of links) link.post({ kind: "library", message: message.message });
    if (message.message.kind !== "let-go") return;
    this.options.library!.post({ kind: "sent", ask: message.message.ask, actors: links.map(({ actor }) => actor) });
  }

  /** Writes that need room are refused, or taken again. */
  refuseWrites(refusal: WriteRefusal | null): void {
    this.tellAll({ kind: "refuse-writes", refusal });
  }

  /** An actor that is started again later is told, too. */
  private tellAll(message: ToActor): void {
    this.told.set(message.kind, message);
    for (const { link } of this.supervised) link.post(message);
  }

  private recovered(link: ActorLink): void {
    this.options.logger.info({ actor: link.actor }, "the actor is up again");
    this.perhapsDirectoryIsBack(link);
  }

  private perhapsDirectoryIsBack(link: ActorLink): void {
    // In a cluster the actor does not have it yet.
    if (this.routes === null && link.actor === DIRECTORY_ACTOR) this.directoryIsBack();
  }

  private directoryIsBack(): void {
    this.options.directoryRestarted();
    for (const { link: other } of this.supervised) other.post({ kind: "report-unsettled" });
  }

  /** From one actor to another. An actor that is not running asks for what it missed after its start. */
  private carry(partition: number, message: PlacementMessage): void {
    if (this.isServed(partition) || (message.do !== "receive" && message.do !== "send")) {
      const data = message.do === "entries" ? [message.data] : [];
      this.linkOf(partition).post({ kind: "placement", partition, message }, data);
      return;
    }
    const { tenant, move } = message;
    const report = { tenant, move, did: "failed", message: `partition ${partition} is not available here` } as const;
    this.directory.post({ kind: "move-report", report });
  }

  /** Whether an order to the partition arrives where it can be followed: in this process. */
  private isServed(partition: number): boolean {
    const link = this.linkOf(partition);
    return link.alive && !this.damaged.has(partition) && link === this.localLinkOf(partition);
  }

  private order(partition: number, order: RestoreOrder): void {
    if (this.isServed(partition)) {
      this.linkOf(partition).post({ kind: "restore", partition, order });
      return;
    }
    const { tenant, restore } = order;
    const error = unavailable(partition);
    const report = { tenant, restore, state: "failed", entries: 0, verified: null, error } as const;
    this.directory.post({ kind: "restore-report", report });
  }

  private orderBackup(partition: number, order: BackupOrder): void {
    if (this.isServed(partition)) {
      this.linkOf(partition).post({ kind: "backup", partition, order });
      return;
    }
    const error = unavailable(partition);
    const report = { ask: order.ask, state: "failed", entries: 0, bytes: 0, backup: null, error } as const;
    this.directory.post({ kind: "backup-report", report });
  }

  /** The subjects of the change were disabled or removed: what they have left open in actors ends. */
  identityEnded(change: IdentityChange): void {
    for (const { link } of this.supervised) link.post({ kind: "identity-ended", change });
  }

  /** The server has begun to shut down: what does not give way is ended sooner. */
  beginClosing(): void {
    this.watchdog.closing();
  }

  /** The thread is ended; `#threadEnded` goes on when it is no more. */
  private stop(one: Supervised): void {
    this.holdRequests(one, new MarksReader(one.marks).atWork);
    void one.link.terminate();
  }

  /** The thread ended by itself. The request at work is to blame only if it had not given way for long. */
  private outOfMemory(one: Supervised): void {
    const marks = new MarksReader(one.marks);
    // One that has no room to open would have none the next time.
    if (this.closing || one.stop !== null || marks.beats === 0) return;
    this.watchdog.stopped++;
    this.holdRequests(one, this.watchdog.isLate(one.link.actor) ? marks.atWork : null);
  }

  /** The thread is about to end, since a partition of its cannot go on: the log and the engine have to be opened again. */
  private storageFailed(one: Supervised): void {
    if (this.closing || one.stop !== null || one.fatal || one.link.state !== "ready") return;
    const { complaint } = one;
    this.options.logger.error({ actor: one.link.actor, complaint }, "the actor ends and is started again");
    this.holdRequests(one, null);
  }

  private holdRequests(one: Supervised, culprit: AtWork | null): Stop {
    const { link } = one;
    link.hold();
    const cancelHold = this.options.clock.after(HELD_MS_MAX, () => {
      this.options.logger.error({ actor: link.actor }, "requests have waited too long for the actor's next thread");
      link.giveUpHeld();
    });
    one.stop = { culprit, cancelHold, isChanged: false };
    return one.stop;
  }

  /** Requests that can be asked again wait for the next thread; it is started at once, unless that goes on and on. */
  private changeThread(one: Supervised, { culprit }: Stop): void {
    const { link } = one;
    const { stoppedRefusedSeconds } = this.options.watch;
    if (culprit !== null) {
      this.stopped.add(culprit, culprit.request === null ? null : link.frameOf(culprit.request));
      this.tellAll({ kind: "stopped-statements", stopped: this.stopped.list() });
    }
    const marks = new MarksReader(one.marks);
    link.change(
      judgeRequests({ marks, culprit, refusedSeconds: stoppedRefusedSeconds }),
      (id) => id === culprit?.request,
    );
    const now = this.options.clock.now();
    one.stops = [...one.stops.filter((at) => now - at < CRASH_WINDOW_MS), now];
    const pauseMs = Math.min(Math.max(0, one.stops.length - STOPS_AT_ONCE) * STOP_PAUSE_MS, STOP_PAUSE_MS_MAX);
    if (pauseMs === 0) this.startThread(one);
    else one.cancelRestart = this.options.clock.after(pauseMs, () => this.startThread(one));
  }

  private resumed(one: Supervised): void {
    one.stop?.cancelHold();
    one.stop = null;
    this.options.logger.info({ actor: one.link.actor }, "the actor is up again");
    // What the directory has told lately may never have come to be.
    this.perhapsDirectoryIsBack(one.link);
    one.link.resume();
  }

  private dropPrepared(one: Supervised): void {
    one.cancelPrepared?.();
    one.cancelPrepared = null;
  }

  private threadEnded(one: Supervised, code: number): void {
    const { link } = one;
    this.watchdog.leave(link.actor);
    this.ownsNothing(link, this.partitionsOf(link.actor));
    if (this.closing) {
      if (this.routes !== null) {
        const questions = link.redirectAll((id) => (link.isUnsent(id) ? null : OWNER_ENDED));
        for (const { answer } of questions) answer(undefined);
      }
      link.detach("closed");
      one.exited?.();
      this.settleStart(one, "the server is closing");
      return;
    }
    this.directory.post({ kind: "actor-ended", actor: link.actor });
    const { library } = this.options;
    if (library?.started) library.post({ kind: "actor-ended", actor: link.actor });
    if (one.stop !== null && !one.stop.isChanged) {
      one.stop.isChanged = true;
      this.changeThread(one, one.stop);
      return;
    }
    one.stop?.cancelHold();
    one.stop = null;
    const complaint = one.complaint ?? `its thread ended with code ${code}`;
    const now = this.options.clock.now();
    one.crashes = one.crashes.filter((at) => now - at < CRASH_WINDOW_MS);
    one.crashes.push(now);
    if (one.fatal) this.giveUp(one, complaint);
    else if (one.crashes.length >= CRASHES_MAX) this.restartMuchLater(one, complaint);
    else this.restartLater(one, complaint);
    this.settleStart(one, complaint);
  }

  private leaving(link: ActorLink, partition: number): void {
    this.damaged.delete(partition);
    this.ownsNothing(link, [partition]);
    link.post({ kind: "partition-left", partition });
  }

  /** In a cluster: the partitions are not this thread's any more. The next thread begins with nothing. */
  private ownsNothing(link: ActorLink, partitions: readonly number[]): void {
    if (this.routes === null) return;
    const hadDirectory = partitions.includes(DIRECTORY_PARTITION) && this.directory === link;
    this.routes.ended(partitions);
    if (hadDirectory) this.options.directoryRestarted();
    if (!partitions.includes(DIRECTORY_PARTITION) || this.closing) return;
    for (const { by, value, answer } of link.takeIdentityQuestions()) this.directory.findIdentity(by, value, answer);
  }

  private giveUp(one: Supervised, complaint: string): void {
    one.retryAfterSeconds = CRASH_WINDOW_MS / 1000;
    one.link.detach("failed");
    const { actor } = one.link;
    this.options.logger.fatal({ actor, partitions: this.partitionsOf(actor), complaint }, "the actor is given up");
  }

  /** What made it crash may have ended by then: nobody should have to restart the server for it. */
  private restartMuchLater(one: Supervised, complaint: string): void {
    one.retryAfterSeconds = CRASH_WINDOW_MS / 1000;
    one.link.detach("failed");
    const { actor } = one.link;
    const fields = { actor, partitions: this.partitionsOf(actor), complaint, pauseMs: CRASH_WINDOW_MS };
    this.options.logger.fatal(fields, "the actor keeps crashing and is started again after a pause");
    one.cancelRestart = this.options.clock.after(CRASH_WINDOW_MS, () => this.startThread(one));
  }

  private restartLater(one: Supervised, complaint: string): void {
    const pauseMs = Math.min(RESTART_PAUSE_MS * 2 ** (one.crashes.length - 1), RESTART_PAUSE_MS_MAX);
    one.retryAfterSeconds = Math.max(1, Math.ceil(pauseMs / 1000));
    one.link.detach("restarting");
    this.options.logger.error({ actor: one.link.actor, complaint, pauseMs }, "the actor ended and is started again");
    one.cancelRestart = this.options.clock.after(pauseMs, () => this.startThread(one));
  }

  private settleStart(one: Supervised, failure: string | null): void {
    one.started?.(failure);
    one.started = null;
  }

  private partitionsOf(actor: number): number[] {
    const all = Array.from({ length: this.options.partitions }, (_, partition) => partition);
    return all.filter((partition) => partition % this.supervised.length === actor);
  }
}

/** What the thread had begun and not answered. */
const OWNER_ENDED: Loss = {
  code: "partition_unavailable",
  message: "The node was shut down before it answered. Whether the request was done is not known.",
  retryAfterSeconds: 1,
};

function unavailable(partition: number): { readonly code: string; readonly message: string } {
  return { code: "partition_unavailable", message: `Partition ${partition} is not available here; try again.` };
}
