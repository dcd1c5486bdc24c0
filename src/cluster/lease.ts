/**
 * Whether this node may believe that it still owns what it owned. It renews its record in the log service again and
 * again, each time from the revision that it knows. Nobody takes anything from it before its newest renewal has stood
 * unchanged for `ttlMs` (node-watch.ts). So it may believe for a little less than that, from the moment when it began
 * the renewal, by its own clock: clocks may differ in rate by less than a tenth. Only reads rest on this; writes are
 * fenced by the log service.
 *
 * Owned by one thread of the node that does nothing else and calls `renew` every fifth of `ttlMs`.
 */
import { DbError } from "../protocol/errors.js";
import type { LogService, MemberState, Revision } from "./log-service.js";

export interface NodeClock {
  /** Never goes back; may stand still while the machine is suspended. */
  monotonicMs(): number;
  /** May jump. */
  wallMs(): number;
}

export interface LeaseOptions {
  readonly service: Pick<LogService, "member" | "renew">;
  readonly node: string;
  readonly clock: NodeClock;
  /** A name for each life of the node's record. */
  readonly newIncarnation: () => string;
  readonly ttlMs?: number;
  /** Where other nodes reach this one. */
  readonly address?: string;
  /** Where clients of Bolt do. */
  readonly bolt?: string;
  /** Which of its actors are ready, for its record (actor-readiness.ts). */
  readonly actors?: () => string;
  /** All that this node owned it owns no more, or must claim anew. */
  readonly onLost: () => void;
  /** Replies that waited may leave. */
  readonly onRenewed?: (believed: Believed) => void;
}

export const TTL_MS = 5000;
/** Of the time that others wait. */
const BELIEVED = 0.9;
/**
 * By which the clocks may come apart from one renewal on: more means that the machine was suspended, or that somebody
 * set the time.
 */
export const APART_MS = 500;

export interface Believed {
  readonly untilMs: number;
  /** When it was renewed, by both clocks. */
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export class Lease {
  private readonly options: LeaseOptions;
  private incarnation: string | null = null;
  private revision: Revision = 0;
  private counter = 0;
  /** When renewals began that have had no answer, by their counters. */
  private unanswered = new Map<number, Believed>();
  private believed: Believed | null = null;
  private renewing: Promise<void> | null = null;

  constructor(options: LeaseOptions) {
    this.options = options;
  }

  /** Call it after a reply was computed: what was read before is then what the owner had. */
  get holds(): boolean {
    const { believed } = this;
    if (believed === null) return false;
    const { clock } = this.options;
    const now = clock.monotonicMs();
    const apart = clock.wallMs() - believed.wallMs - (now - believed.monotonicMs);
    return now < believed.untilMs && Math.abs(apart) <= APART_MS;
  }

  /** The node has a record, and nobody has taken anything from it, as far as it knows. */
  get isMember(): boolean {
    return this.incarnation !== null;
  }

  /** One at a time; what the service does not answer is tried again by the next call. */
  renew(): Promise<void> {
    this.renewing ??= this.tryRenewing().finally(() => {
      this.renewing = null;
    });
    return this.renewing;
  }

  private async tryRenewing(): Promise<void> {
    try {
      if (this.isSuspended()) this.lose();
      await (this.incarnation === null ? this.join() : this.goOn(this.incarnation));
    } catch (error) {
      if (!(error instanceof DbError && error.code === "log_unavailable")) throw error;
    }
  }

  private isSuspended(): boolean {
    if (this.believed === null) return false;
    const { wallMs, monotonicMs } = this.now(0);
    return Math.abs(wallMs - this.believed.wallMs - (monotonicMs - this.believed.monotonicMs)) > APART_MS;
  }

  private now(forMs: number): Believed {
    const { clock } = this.options;
    const monotonicMs = clock.monotonicMs();
    return { untilMs: monotonicMs + forMs, monotonicMs, wallMs: clock.wallMs() };
  }

  /** A new life, after the node's start or after it was given up or fenced. */
  private async join(): Promise<void> {
    const { service, node, newIncarnation } = this.options;
    const revision = (await service.member(node))?.revision ?? 0;
    const incarnation = newIncarnation();
    const renewed = await service.renew(node, revision, this.stateOf(incarnation, 1));
    if (renewed === null) return;
    // When that began is not counted: nothing is believed before the first renewal of this life.
    this.incarnation = incarnation;
    this.revision = renewed;
    this.counter = 1;
  }

  private async goOn(incarnation: string): Promise<void> {
    const { service, node, ttlMs = TTL_MS } = this.options;
    const began = this.now(ttlMs * BELIEVED);
    const counter = ++this.counter;
    this.unanswered.set(counter, began);
    const renewed = await service.renew(node, this.revision, this.stateOf(incarnation, counter));
    if (this.incarnation !== incarnation) return;
    if (renewed !== null) {
      this.renewed(renewed, began);
      return;
    }
    // An earlier one has arrived, though nobody said so; or somebody else has written.
    const member = await service.member(node);
    if (this.incarnation !== incarnation) return;
    const own =
      member?.incarnation === incarnation && !member.isFenced ? this.unanswered.get(member.counter) : undefined;
    if (own === undefined) this.lose();
    else this.renewed(member!.revision, own);
  }

  private stateOf(incarnation: string, counter: number): MemberState {
    const { address, bolt, actors } = this.options;
    return {
      ...{ incarnation, counter, isFenced: false },
      ...(address && { address }),
      ...(bolt && { bolt }),
      ...(actors !== undefined && { actors: actors() }),
    };
  }

  private renewed(revision: Revision, began: Believed): void {
    this.revision = revision;
    this.unanswered = new Map([...this.unanswered].filter(([, { monotonicMs }]) => monotonicMs > began.monotonicMs));
    this.believed = began;
    if (this.holds) this.options.onRenewed?.(began);
  }

  private lose(): void {
    this.incarnation = null;
    this.believed = null;
    this.unanswered.clear();
    this.options.onLost();
  }
}
