/**
 * All actors of this process: which link serves a partition and whether it takes requests, what the actors tell each
 * other, and the requests in flight per partition. The life of each actor's thread is in actor-life.ts. Started and
 * closed by gateway.ts.
 */
import type { MessagePort } from "node:worker_threads";
import type { AuditEvent } from "../protocol/audit.js";
import type { IdentityChange } from "../protocol/identity.js";
import type { ActorMetrics, FromActor, ToActor, WriteRefusal } from "../protocol/messages.js";
import type { FromLibraryThread, ToLibraryThread } from "../protocol/model-library.js";
import { runQueueMs } from "../protocol/os-thread.js";
import type { PlacementMessage } from "../protocol/placement.js";
import type { ThreadDiagnosis } from "../protocol/thread-diagnosis.js";
import type { SpanRecord } from "../protocol/tracing.js";
import { ActorLife, type ActorLifeHost, type ActorLifeOptions, RESTART_PAUSE_MS_MAX } from "./actor-life.js";
import type { ActorLink, PartitionState } from "./actor-link.js";
import { AuditOutbox } from "./audit-outbox.js";
import type { Cancel } from "./clock.js";
import type { PartitionRoutes } from "./partition-routes.js";
import { StoppedList } from "./stopped-list.js";
import { Watchdog } from "./watchdog.js";

/** The partition of the directory, and the actor that owns it. */
export const DIRECTORY_PARTITION = 0;
const DIRECTORY_ACTOR = 0;

/** An actor that is busy for longer is left out of the report about the other actors. */
const ACTORS_ANSWER_MS_MAX = 200;
/** The end of the process waits so long for the directory to have the entries of the audit trail. */
const AUDIT_DRAIN_MS_MAX = 2000;

/** The thread of the library of models. */
export interface LibraryPort {
  /** Somebody has asked it for something. */
  readonly started: boolean;
  post(message: ToLibraryThread): void;
  /** Set by the pool. */
  onMessage: (message: FromLibraryThread) => void;
}

export interface ActorPoolOptions extends ActorLifeOptions {
  readonly actors: number;
  readonly partitions: number;
  /** Starts an inference thread, which talks to its actor by that port. */
  readonly startInference: (port: MessagePort) => void;
  /** Absent: there is no library of models. */
  readonly library?: LibraryPort;
  /** Spans that an actor has sent. */
  readonly traced?: (spans: readonly SpanRecord[]) => void;
  readonly identityChanged: (change: IdentityChange) => void;
  /** An actor has refused what a lead or a budget does not allow. */
  readonly refused: (event: AuditEvent) => void;
  /** The directory's actor is up again after a crash. */
  readonly directoryRestarted: () => void;
  /** In a cluster. */
  readonly routes?: PartitionRoutes;
  /** A first boot made it up, later than at the start. */
  readonly adminPasswordMade?: (password: string) => void;
}

export class ActorPool {
  /** By partition. */
  readonly requestsInFlight: Int32Array;
  /** Bodies of those requests, by partition. */
  readonly bytesInFlight: Float64Array;
  /** The administrator's password that a first boot made up. */
  adminPassword: string | null = null;
  private isClosing = false;
  readonly stopped: StoppedList;
  readonly watchdog: Watchdog;
  private readonly outbox: AuditOutbox;
  /** Partitions whose files are damaged, as their actors found. */
  private readonly damaged = new Set<number>();
  /** What all actors were told last, by kind. */
  private readonly told = new Map<ToActor["kind"], ToActor>();
  private readonly lives: readonly ActorLife[];
  private readonly routes: PartitionRoutes | null;

  private constructor(private readonly options: ActorPoolOptions) {
    this.requestsInFlight = new Int32Array(options.partitions);
    this.bytesInFlight = new Float64Array(options.partitions);
    const { clock, watch } = options;
    this.stopped = new StoppedList(clock, watch.stoppedRefusedSeconds);
    this.watchdog = new Watchdog({
      ...{ clock, logger: options.logger, lateMs: watch.lateMs, stopMs: watch.stopMs },
      prepare: (actor) => this.lives[actor]!.prepare(),
      spare: (actor) => this.lives[actor]!.dropPrepared(),
      stop: (actor) => this.lives[actor]!.stop(),
      runQueueMs,
      describe: (actor, request) => this.lives[actor]!.link.describe(request),
    });
    this.routes = options.routes ?? null;
    this.outbox = new AuditOutbox({ clock, logger: options.logger, directory: () => this.directory });
    const host = this.hostOfLives();
    this.lives = Array.from({ length: options.actors }, (_, actor) => {
      const all = Array.from({ length: options.partitions }, (_, partition) => partition);
      const own = all.filter((partition) => partition % options.actors === actor);
      return new ActorLife(actor, own, host, options);
    });
    this.routes?.bind({
      localLinkOf: (partition) => this.localLinkOf(partition),
      identityChanged: (change) => options.identityChanged(change),
      auditKept: (kept) => this.outbox.kept(kept),
      directoryLost: () => options.directoryRestarted(),
      partitionLost: (partition) => this.partitionLost(partition),
    });
    if (options.library !== undefined) options.library.onMessage = (message) => this.heardOfLibrary(message);
  }

  private hostOfLives(): ActorLifeHost {
    const pool = this;
    return {
      watchdog: this.watchdog,
      stopped: this.stopped,
      isInCluster: this.routes !== null,
      get isClosing() {
        return pool.isClosing;
      },
      heard: (life, message) => this.heard(life, message),
      starts: ({ partitions }) => {
        for (const partition of partitions) this.damaged.delete(partition);
      },
      ownsNothing: ({ link, partitions }) => this.ownsNothing(link, partitions),
      ended: ({ link: { actor }, partitions }) => {
        this.routes?.threadEnded(partitions);
        this.actorEnded(actor);
      },
      isBack: ({ link }) => this.perhapsDirectoryIsBack(link),
      tellStopped: () => this.tellAll({ kind: "stopped-statements", stopped: this.stopped.list() }),
    };
  }

  /**
   * Starts all actors; resolves when each is ready or has failed once. Rejects, with everything closed again, when the
   * directory's actor does not come up: without it nobody can sign in.
   */
  static async start(options: ActorPoolOptions): Promise<ActorPool> {
    const pool = new ActorPool(options);
    const failures = await Promise.all(pool.lives.map((life) => life.start()));
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

  /** To whoever answers reads of the partition that may be stale, or finds that it cannot. */
  linkToCopy(partition: number): ActorLink {
    return this.routes?.linkToCopy(partition) ?? this.linkOf(partition);
  }

  /** Actors of this process. */
  get size(): number {
    return this.lives.length;
  }

  /** An actor of this process has it. */
  isHere(partition: number): boolean {
    return this.linkOf(partition) === this.localLinkOf(partition);
  }

  private localLinkOf(partition: number): ActorLink {
    return this.lives[partition % this.lives.length]!.link;
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
    return this.lives[partition % this.lives.length]!.retryAfterSeconds;
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
      let open = this.lives.length;
      const forget: Cancel[] = [];
      const finish = (): void => {
        cancelTimeout();
        for (const cancel of forget) cancel();
        resolve(answers);
      };
      const cancelTimeout = this.options.clock.after(timeoutMs, finish);
      for (const { link } of this.lives) {
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
    this.isClosing = true;
    this.watchdog.closing();
    await this.outbox.drained(AUDIT_DRAIN_MS_MAX);
    await Promise.all(this.lives.map((life) => life.close(timeoutMs)));
    // Those of requests that ended just now: another node may have the directory.
    if (this.routes !== null) await this.outbox.drained(AUDIT_DRAIN_MS_MAX);
    this.outbox.close();
    this.watchdog.close();
  }

  private heard(life: ActorLife, message: FromActor): void {
    const { link } = life;
    switch (message.kind) {
      case "ready":
        for (const told of this.told.values()) link.post(told);
        this.adminPassword ??= message.adminPassword;
        life.isReady(message.operators ?? []);
        break;
      case "partition-opened":
        this.opened(message.partition, message.adminPassword);
        break;
      case "partition-leaving":
        this.leaving(link, message.partition);
        break;
      case "spans":
        this.options.traced?.(message.spans);
        break;
      case "identity-changed":
        this.identityChanged(link, message.change);
        break;
      case "ask-actors":
        void this.tellActors(link, message.id);
        break;
      case "log-level":
        this.options.logger.level = message.level;
        this.tellAll(message);
        break;
      case "start-inference":
        this.options.startInference(message.port);
        break;
      case "library":
        this.options.library?.post({ kind: "from-actor", actor: link.actor, message: message.message });
        break;
      case "placement":
        this.carry(message.partition, message.message);
        break;
      case "restore":
      case "backup":
        this.order(message);
        break;
      case "order-heard":
      case "backup-answer":
        this.linkOf(message.partition).post(message);
        break;
      case "audit":
      case "refused":
        this.noted(message);
        break;
      case "audit-kept":
        if (!this.outbox.kept(message)) this.routes?.auditKept(message);
        break;
      case "move-report":
      case "backup-ask":
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
        life.failed(message.message, message.fatal);
        break;
    }
  }

  private noted(message: Extract<FromActor, { readonly kind: "audit" | "refused" }>): void {
    if (message.kind === "audit") this.audit(message.events);
    else this.options.refused(message.event);
  }

  /** They are in the trail once the directory has them. */
  audit(events: readonly AuditEvent[]): void {
    this.outbox.add(events);
  }

  /** Nobody is told that the change is made before all nodes know of it. */
  private identityChanged(link: ActorLink, change: IdentityChange): void {
    this.options.identityChanged(change);
    const heard = this.routes?.identityChanged(change) ?? null;
    if (heard !== null) link.changedUntil(heard);
  }

  private async tellActors(link: ActorLink, id: number): Promise<void> {
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
      this.lives[message.actor]!.link.post({ kind: "library", message: message.message });
      return;
    }
    const links = this.lives.map(({ link }) => link).filter(({ alive }) => alive);
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
    for (const { link } of this.lives) link.post(message);
  }

  private perhapsDirectoryIsBack(link: ActorLink): void {
    // In a cluster the actor does not have it yet.
    if (this.routes === null && link.actor === DIRECTORY_ACTOR) this.directoryIsBack();
  }

  private directoryIsBack(): void {
    this.options.directoryRestarted();
    this.outbox.sendAgain();
    for (const { link: other } of this.lives) other.post({ kind: "report-unsettled" });
  }

  /** From one actor to another. An actor that is not running asks for what it missed after its start. */
  private carry(partition: number, message: PlacementMessage): void {
    if (this.isThere(partition) || (message.do !== "receive" && message.do !== "send")) {
      const data = message.do === "entries" ? [message.data] : [];
      this.linkOf(partition).post({ kind: "placement", partition, message }, data);
      return;
    }
    const { tenant, move } = message;
    const report = { tenant, move, did: "failed", message: `partition ${partition} is not available here` } as const;
    this.directory.post({ kind: "move-report", report });
  }

  /** Whether what is sent to the partition arrives: in this process, or at the node that owns it. */
  private isThere(partition: number): boolean {
    const link = this.linkOf(partition);
    if (link !== this.localLinkOf(partition)) return link.state === "ready";
    return link.alive && !this.damaged.has(partition);
  }

  /** To back a tenant up, or to restore it. */
  private order(message: Extract<FromActor, { readonly kind: "restore" | "backup" }>): void {
    const { partition } = message;
    if (this.isThere(partition)) {
      this.linkOf(partition).post(message);
      return;
    }
    const told = `Partition ${partition} is not available here; try again.`;
    const error = { code: "partition_unavailable", message: told };
    const failed = { state: "failed", entries: 0, error } as const;
    if (message.kind === "backup") {
      const report = { ...failed, ask: message.order.ask, bytes: 0, backup: null };
      this.directory.post({ kind: "backup-report", report, sent: null });
      return;
    }
    const { tenant, restore } = message.order;
    this.directory.post({ kind: "restore-report", report: { ...failed, tenant, restore, verified: null }, sent: null });
  }

  /** Other nodes see it by themselves: the one with the directory tells it. */
  private partitionLost(partition: number): void {
    const { directory } = this;
    if (directory === this.localLinkOf(DIRECTORY_PARTITION)) directory.post({ kind: "partition-ended", partition });
  }

  /** The subjects of the change were disabled or removed: what they have left open in actors ends. */
  identityEnded(change: IdentityChange): void {
    for (const { link } of this.lives) link.post({ kind: "identity-ended", change });
  }

  /** The server has begun to shut down: what does not give way is ended sooner. */
  beginClosing(): void {
    this.watchdog.closing();
  }

  private actorEnded(actor: number): void {
    this.directory.post({ kind: "actor-ended", actor });
    const { library } = this.options;
    if (library?.started) library.post({ kind: "actor-ended", actor });
  }

  private leaving(link: ActorLink, partition: number): void {
    this.damaged.delete(partition);
    this.ownsNothing(link, [partition]);
    link.post({ kind: "partition-left", partition });
  }

  /** In a cluster: the partitions are not this thread's any more. The next thread begins with nothing. */
  private ownsNothing(link: ActorLink, partitions: readonly number[]): void {
    if (this.routes === null) return;
    const own = partitions.filter((partition) => this.linkOf(partition) === link);
    const hadDirectory = own.includes(DIRECTORY_PARTITION);
    this.routes.ended(partitions);
    for (const partition of own) this.partitionLost(partition);
    if (hadDirectory) this.options.directoryRestarted();
    if (!partitions.includes(DIRECTORY_PARTITION) || this.isClosing) return;
    for (const { by, value, answer } of link.takeIdentityQuestions()) this.directory.findIdentity(by, value, answer);
  }
}
