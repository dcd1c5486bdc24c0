/**
 * The life of one actor's thread. It starts the thread, and starts it again after a crash: after a growing pause, and
 * after a long one if it keeps crashing. A thread that does not give way, or whose storage failed, is replaced at
 * once, and requests wait for the next one. The pool (actor-pool.ts) owns one for each actor.
 */
import type { Logger } from "pino";
import { type AtWork, MarksReader, newActorMarks } from "../protocol/actor-marks.js";
import type { Config } from "../protocol/config.js";
import type { FromActor } from "../protocol/messages.js";
import type { StoppedStatement } from "../protocol/stopped-statement.js";
import { ActorLink, type ActorPort, type Loss } from "./actor-link.js";
import type { Cancel, Clock } from "./clock.js";
import { judgeRequests } from "./judge-requests.js";
import type { StoppedList } from "./stopped-list.js";
import type { Watchdog } from "./watchdog.js";

const RESTART_PAUSE_MS = 100;
export const RESTART_PAUSE_MS_MAX = 5_000;
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
/**
 * What a thread has to save in when it ends and nothing runs in it any more: what it does not save takes the next start
 * as long.
 */
const SAVE_MS_MAX = 30_000;

/** Settings of a thread for the watchdog (ActorSettings). */
export interface ActorWatch {
  readonly marks: SharedArrayBuffer;
  readonly stopped: readonly StoppedStatement[];
}

export interface ActorLifeOptions {
  /** Starts the thread of that actor. */
  readonly spawn: (actor: number, watch: ActorWatch) => ActorPort;
  /** Starts loading a thread for the actor's next `spawn`; the returned function ends it if that does not come. */
  readonly prepare?: (actor: number) => Cancel;
  /** Milliseconds and seconds; 0: not watched. */
  readonly watch: Pick<Config["query"], "lateMs" | "stopMs" | "stoppedRefusedSeconds">;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** The pool, as one actor's life needs it. */
export interface ActorLifeHost {
  readonly watchdog: Watchdog;
  readonly stopped: StoppedList;
  readonly isClosing: boolean;
  readonly isInCluster: boolean;
  /** A control message that answers no question of the link's. */
  heard(life: ActorLife, message: FromActor): void;
  /** A new thread is about to start, and opens all of the actor's partitions. */
  starts(life: ActorLife): void;
  /** The partitions are not the thread's any more: it has ended, or is about to be closed. */
  ownsNothing(life: ActorLife): void;
  /** The thread ended while the server runs on. */
  ended(life: ActorLife): void;
  /** Another thread serves after one that crashed or was replaced. */
  isBack(life: ActorLife): void;
  /** The list of stopped statements has grown. */
  tellStopped(): void;
}

/** A thread that is being ended because it does not give way, or ended because it had no memory left. */
interface Stop {
  readonly culprit: AtWork | null;
  readonly cancelHold: Cancel;
  /** The thread is no more. */
  isChanged: boolean;
}

export class ActorLife {
  readonly link: ActorLink;
  retryAfterSeconds = 1;
  /** Of the thread that runs. */
  private marks = newActorMarks();
  private stopping: Stop | null = null;
  /** Times of those within the window, on the steady clock. */
  private stops: number[] = [];
  private cancelPrepared: Cancel | null = null;
  /** Times of the crashes within the window, on the steady clock. */
  private crashes: number[] = [];
  /** What the actor said, or what it threw, before it ended. */
  private complaint: string | null = null;
  private isFatal = false;
  private cancelRestart: Cancel | null = null;
  /** Settles the wait for the first start. */
  private started: ((failure: string | null) => void) | null = null;
  private exited: (() => void) | null = null;
  /** Gives the thread that is ending so much more time. */
  private extendClose: ((timeoutMs: number) => void) | null = null;

  constructor(
    actor: number,
    /** Those that are the actor's. */
    readonly partitions: readonly number[],
    private readonly host: ActorLifeHost,
    private readonly options: ActorLifeOptions,
  ) {
    this.link = new ActorLink(actor, (message) => this.heard(message));
  }

  /** Starts the first thread. Resolves when it is ready (null) or has failed once (why). */
  start(): Promise<string | null> {
    const settled = new Promise<string | null>((resolve) => {
      this.started = resolve;
    });
    this.startThread();
    return settled;
  }

  private startThread(): void {
    this.complaint = null;
    this.isFatal = false;
    this.cancelRestart = null;
    this.host.starts(this);
    this.marks = newActorMarks();
    this.cancelPrepared = null;
    const { actor } = this.link;
    const port = this.options.spawn(actor, { marks: this.marks, stopped: this.host.stopped.list() });
    this.link.attach(port);
    port.on("error", (error) => {
      this.complaint ??= error.message;
      this.options.logger.error({ actor, err: error }, "the actor threw");
      if ((error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY") this.outOfMemory();
    });
    port.on("exit", (code) => this.threadEnded(code));
  }

  /** The thread serves from now on. */
  isReady(operators: readonly string[]): void {
    const { link } = this;
    link.state = "ready";
    this.retryAfterSeconds = 1;
    this.host.watchdog.watch(link.actor, this.marks, operators);
    if (link.holds) this.resumed();
    if (this.crashes.length > 0) this.isUpAgain();
    this.settleStart(null);
  }

  private resumed(): void {
    this.stopping?.cancelHold();
    this.stopping = null;
    // What the directory has told lately may never have come to be.
    this.isUpAgain();
    this.link.resume();
  }

  private isUpAgain(): void {
    this.options.logger.info({ actor: this.link.actor }, "the actor is up again");
    this.host.isBack(this);
  }

  /** The actor says why it is about to end. Fatal: it would fail again. */
  failed(complaint: string, isFatal: boolean): void {
    this.complaint = complaint;
    this.isFatal = isFatal;
    this.storageFailed();
  }

  /** A partition cannot go on: the log and the engine have to be opened again. */
  private storageFailed(): void {
    if (this.host.isClosing || this.stopping !== null || this.isFatal || this.link.state !== "ready") return;
    const fields = { actor: this.link.actor, complaint: this.complaint };
    this.options.logger.error(fields, "the actor ends and is started again");
    this.holdRequests(null);
  }

  /** The thread is ended; `threadEnded` goes on when it is no more. */
  stop(): void {
    this.holdRequests(new MarksReader(this.marks).atWork);
    void this.link.terminate();
  }

  /** The thread ended by itself. The request at work is to blame only if it had not given way for long. */
  private outOfMemory(): void {
    const marks = new MarksReader(this.marks);
    // One that has no room to open would have none the next time.
    if (this.host.isClosing || this.stopping !== null || marks.beats === 0) return;
    this.host.watchdog.stopped++;
    this.holdRequests(this.host.watchdog.isLate(this.link.actor) ? marks.atWork : null);
  }

  private holdRequests(culprit: AtWork | null): void {
    const { link } = this;
    link.hold();
    const cancelHold = this.options.clock.after(HELD_MS_MAX, () => {
      this.options.logger.error({ actor: link.actor }, "requests have waited too long for the actor's next thread");
      link.giveUpHeld();
    });
    this.stopping = { culprit, cancelHold, isChanged: false };
  }

  /** Loads a thread for the next start. */
  prepare(): void {
    this.cancelPrepared = this.options.prepare?.(this.link.actor) ?? null;
  }

  dropPrepared(): void {
    this.cancelPrepared?.();
    this.cancelPrepared = null;
  }

  private threadEnded(code: number): void {
    const { link, host } = this;
    host.watchdog.leave(link.actor);
    host.ownsNothing(this);
    if (host.isClosing) {
      this.threadClosed();
      return;
    }
    host.ended(this);
    const { stopping } = this;
    if (stopping !== null && !stopping.isChanged) {
      stopping.isChanged = true;
      this.changeThread(stopping);
      return;
    }
    stopping?.cancelHold();
    this.stopping = null;
    const complaint = this.complaint ?? `its thread ended with code ${code}`;
    const now = this.options.clock.now();
    this.crashes = this.crashes.filter((at) => now - at < CRASH_WINDOW_MS);
    this.crashes.push(now);
    if (this.isFatal) this.giveUp(complaint);
    else if (this.crashes.length >= CRASHES_MAX) this.restartMuchLater(complaint);
    else this.restartLater(complaint);
    this.settleStart(complaint);
  }

  private threadClosed(): void {
    const { link } = this;
    if (this.host.isInCluster) {
      const questions = link.redirectAll((id) => (link.isUnsent(id) ? null : OWNER_ENDED));
      for (const { answer } of questions) answer(undefined);
    }
    link.detach("closed");
    this.exited?.();
    this.settleStart("the server is closing");
  }

  /** Requests that can be asked again wait for the next thread; it is started at once, unless that goes on and on. */
  private changeThread({ culprit }: Stop): void {
    const { link } = this;
    const { stopped } = this.host;
    if (culprit !== null) {
      stopped.add(culprit, culprit.request === null ? null : link.frameOf(culprit.request));
      this.host.tellStopped();
    }
    const marks = new MarksReader(this.marks);
    const refusedSeconds = this.options.watch.stoppedRefusedSeconds;
    link.change(judgeRequests({ marks, culprit, refusedSeconds }), (id) => id === culprit?.request);
    const now = this.options.clock.now();
    this.stops = [...this.stops.filter((at) => now - at < CRASH_WINDOW_MS), now];
    const pauseMs = Math.min(Math.max(0, this.stops.length - STOPS_AT_ONCE) * STOP_PAUSE_MS, STOP_PAUSE_MS_MAX);
    if (pauseMs === 0) this.startThread();
    else this.restartAfter(pauseMs);
  }

  private giveUp(complaint: string): void {
    const fields = this.goesDown(complaint);
    this.options.logger.fatal(fields, "the actor is given up");
  }

  /** What made it crash may have ended by then: nobody should have to restart the server for it. */
  private restartMuchLater(complaint: string): void {
    const fields = { ...this.goesDown(complaint), pauseMs: CRASH_WINDOW_MS };
    this.options.logger.fatal(fields, "the actor keeps crashing and is started again after a pause");
    this.restartAfter(CRASH_WINDOW_MS);
  }

  private goesDown(complaint: string): object {
    this.retryAfterSeconds = CRASH_WINDOW_MS / 1000;
    this.link.detach("failed");
    return { actor: this.link.actor, partitions: this.partitions, complaint };
  }

  private restartLater(complaint: string): void {
    const pauseMs = Math.min(RESTART_PAUSE_MS * 2 ** (this.crashes.length - 1), RESTART_PAUSE_MS_MAX);
    this.retryAfterSeconds = Math.max(1, Math.ceil(pauseMs / 1000));
    this.link.detach("restarting");
    const fields = { actor: this.link.actor, complaint, pauseMs };
    this.options.logger.error(fields, "the actor ended and is started again");
    this.restartAfter(pauseMs);
  }

  private restartAfter(pauseMs: number): void {
    this.cancelRestart = this.options.clock.after(pauseMs, () => this.startThread());
  }

  private settleStart(failure: string | null): void {
    this.started?.(failure);
    this.started = null;
  }

  private heard(message: FromActor): void {
    if (message.kind === "at-rest") this.extendClose?.(SAVE_MS_MAX);
    else this.host.heard(this, message);
  }

  /**
   * Lets the thread finish its work and end. If requests take longer than the given time to end, or saving takes longer
   * than SAVE_MS_MAX, it is terminated.
   */
  close(timeoutMs: number): Promise<void> {
    const { link } = this;
    this.cancelRestart?.();
    this.stopping?.cancelHold();
    this.dropPrepared();
    if (!link.alive) {
      link.state = "closed";
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      let cancelTimeout = (): void => undefined;
      this.extendClose = (ms) => {
        cancelTimeout();
        cancelTimeout = this.options.clock.after(ms, () => {
          this.options.logger.error({ actor: link.actor }, "the actor did not end in time and is terminated");
          void link.terminate();
        });
      };
      this.extendClose(timeoutMs);
      this.exited = () => {
        cancelTimeout();
        resolve();
      };
      // They are other nodes' soon: what comes finds the next owner, and nothing is believed here any more.
      if (this.host.isInCluster) {
        link.hold();
        this.host.ownsNothing(this);
      }
      link.close();
    });
  }
}

/** What the thread had begun and not answered. */
const OWNER_ENDED: Loss = {
  code: "partition_unavailable",
  message: "The node was shut down before it answered. Whether the request was done is not known.",
  retryAfterSeconds: 1,
};
