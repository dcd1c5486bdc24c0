/**
 * Watches whether the actors' threads still give way: each of them beats in shared memory (protocol/actor-marks.ts). A
 * thread that is late is logged with what it works on. A thread that stays away is ended by the pool, which made this
 * and owns it. An idle actor beats like any other. Time in which the thread was ready to run and others had the
 * processors does not count: on a busy machine a thread that gives way may still be slow to beat.
 */
import type { Logger } from "pino";
import { type AtWork, MarksReader } from "../protocol/actor-marks.js";
import { withoutConstants } from "../protocol/statement-shape.js";
import type { Cancel, Clock } from "./clock.js";

const TICK_MS = 50;
/** Between two looks no more time than this counts: this thread, or the whole process, may have been held up itself. */
const COUNTED_MS_MAX = 4 * TICK_MS;
/** While the server shuts down nobody stays away for longer. */
const CLOSING_STOP_MS = 2_000;
/** Characters of a statement in one line of the log. */
const SHAPE_CHARACTERS_MAX = 1_000;

export interface WatchdogOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds; 0: never. Both: nobody is watched. */
  readonly lateMs: number;
  readonly stopMs: number;
  /** Its thread has been away for half of the limit, so the next one may be needed soon; and later it may not be. */
  readonly prepare: (actor: number) => void;
  readonly spare: (actor: number) => void;
  readonly stop: (actor: number, awayMs: number) => void;
  /** Milliseconds that a thread has waited for a processor so far; null: unknown. */
  readonly runQueueMs: (thread: number) => number | null;
  /** For the log: what is known of the request with that id. */
  readonly describe: (actor: number, request: number) => object;
}

interface Watched {
  readonly marks: MarksReader;
  /** Names of operators by number. */
  readonly operators: readonly string[];
  beats: number;
  /** Since the last beat, without the time that it waited for a processor. */
  awayMs: number;
  /** What it had waited at the last look; null: unknown, or it has beaten since. */
  waitedMs: number | null;
  isLate: boolean;
  isPrepared: boolean;
  isStopped: boolean;
}

export class Watchdog {
  /** Times that an actor was late, and that one was ended for it or for want of memory. */
  late = 0;
  stopped = 0;
  private isClosing = false;
  private lookedAt: number;
  private readonly watched = new Map<number, Watched>();
  private readonly cancel: Cancel;

  constructor(private readonly options: WatchdogOptions) {
    this.lookedAt = options.clock.now();
    const watches = options.lateMs > 0 || options.stopMs > 0;
    this.cancel = watches ? options.clock.every(TICK_MS, () => this.look()) : () => undefined;
  }

  watch(actor: number, memory: SharedArrayBuffer, operators: readonly string[]): void {
    const marks = new MarksReader(memory);
    const times = { awayMs: 0, waitedMs: null };
    this.watched.set(actor, {
      ...{ marks, operators, beats: 0, ...times, isLate: false, isPrepared: false, isStopped: false },
    });
  }

  leave(actor: number): void {
    this.watched.delete(actor);
  }

  isLate(actor: number): boolean {
    return this.watched.get(actor)?.isLate === true;
  }

  /** The server shuts down. */
  closing(): void {
    this.isClosing = true;
  }

  close(): void {
    this.cancel();
  }

  private look(): void {
    const now = this.options.clock.now();
    const passedMs = Math.min(now - this.lookedAt, COUNTED_MS_MAX);
    this.lookedAt = now;
    for (const [actor, watched] of this.watched) this.lookAt(actor, watched, passedMs);
  }

  private lookAt(actor: number, watched: Watched, passedMs: number): void {
    const { beats } = watched.marks;
    if (beats !== watched.beats) {
      watched.beats = beats;
      if (watched.isLate) this.cameBack(actor, watched);
      watched.awayMs = 0;
      watched.waitedMs = null;
      return;
    }
    // It does not beat before it is open.
    if (beats === 0 || watched.isStopped) return;
    watched.awayMs += passedMs - this.waitedOf(watched, passedMs);
    const { awayMs } = watched;
    const { lateMs, prepare } = this.options;
    if (!watched.isLate && lateMs > 0 && awayMs >= lateMs) this.isActorLate(actor, watched);
    const stopMs = this.stopMs;
    if (stopMs === 0 || awayMs < stopMs / 2) return;
    if (!watched.isPrepared && !this.isClosing) {
      watched.isPrepared = true;
      prepare(actor);
    }
    if (awayMs >= stopMs) this.stopActor(actor, watched);
  }

  /** Of the time that passed since the last look. */
  private waitedOf(watched: Watched, passedMs: number): number {
    const before = watched.waitedMs;
    watched.waitedMs = this.options.runQueueMs(watched.marks.thread);
    if (before === null || watched.waitedMs === null) return 0;
    return Math.min(passedMs, watched.waitedMs - before);
  }

  private get stopMs(): number {
    const { stopMs } = this.options;
    if (!this.isClosing) return stopMs;
    return stopMs === 0 ? CLOSING_STOP_MS : Math.min(stopMs, CLOSING_STOP_MS);
  }

  private isActorLate(actor: number, watched: Watched): void {
    watched.isLate = true;
    this.late++;
    this.options.logger.warn(this.factsOf(actor, watched), "the actor does not give way");
  }

  private cameBack(actor: number, watched: Watched): void {
    watched.isLate = false;
    this.options.logger.info({ actor, awayMs: Math.round(watched.awayMs) }, "the actor gives way again");
    if (!watched.isPrepared) return;
    watched.isPrepared = false;
    this.options.spare(actor);
  }

  private stopActor(actor: number, watched: Watched): void {
    // To end it would not make the disk answer.
    if (watched.marks.isFlushing) return;
    watched.isStopped = true;
    this.stopped++;
    this.options.logger.error(this.factsOf(actor, watched), "the actor is ended, since it does not give way");
    this.options.stop(actor, watched.awayMs);
  }

  private factsOf(actor: number, { marks, operators, awayMs }: Watched): object {
    const { atWork } = marks;
    const facts = { actor, awayMs: Math.round(awayMs), writesLog: marks.isFlushing };
    if (atWork === null) return facts;
    return { ...facts, ...this.who(actor, atWork), operator: operators[atWork.operator] || null };
  }

  private who(actor: number, { request, tenant, statement, language }: AtWork): object {
    const shape = withoutConstants(statement, language).slice(0, SHAPE_CHARACTERS_MAX);
    return {
      tenantNumber: tenant,
      ...(request === null ? {} : this.options.describe(actor, request)),
      statement: shape,
    };
  }
}
