/**
 * The right to keep what the directory said, on nodes that do not own it. The directory's owner lends it for a short
 * time, and whoever holds it hears of each change (cluster-routes.ts). Nobody is told that a change is made before all
 * who hold the right have heard of it, or hold it no more.
 *
 * Clocks are not compared. The borrower counts from when it asked, the owner from when it answered, which is later. A
 * new owner knows nothing of what the last one lent: its first changes wait as long as a right lasts.
 */
import { randomUUID } from "node:crypto";
import type { LeaseMemory } from "./lease-memory.js";

/** How long the right lasts, and how often it is asked for while it is wanted. */
const CACHE_LEASE_MS = 1000;
export const CACHE_LEASE_ASK_MS = 250;
/** It is wanted for so long after somebody has asked whether this node holds it: a node at rest sends nothing. */
const WANTED_MS = 10_000;
/** Two machines' clocks go at the same pace, nearly: the owner waits this much longer. */
const PACE = 1.1;

/** From the borrower. */
export interface CacheLeaseAsked {
  readonly kind: "ask-cache-lease";
  readonly id: number;
}

/** From the owner. */
export interface CacheLeaseLent {
  readonly kind: "cache-lease";
  readonly id: number;
  /** Another one each time that a node becomes the directory's owner. */
  readonly tenure: string;
}

type Clock = () => number;

/** What the directory's owner has lent. */
export class LentCacheLeases {
  private tenure = "";
  /** Until when borrowers that are gone, and those of the owner before, may hold theirs. */
  private othersMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly now: Clock) {}

  /** This node owns the directory from now on. */
  began(): void {
    this.tenure = randomUUID();
    this.gone(this.endOfOne());
  }

  /** When a right that is lent now is over. */
  endOfOne(): number {
    return this.now() + CACHE_LEASE_MS * PACE;
  }

  lend(id: number): CacheLeaseLent {
    return { kind: "cache-lease", id, tenure: this.tenure };
  }

  /** A borrower whose right lasts until then is not reached any more. */
  gone(untilMs: number): void {
    this.othersMs = Math.max(this.othersMs, untilMs);
  }

  /** For so long somebody may hold the right who does not hear of changes. */
  get othersLeftMs(): number {
    return Math.max(0, this.othersMs - this.now());
  }
}

/** What this node has borrowed. */
export class BorrowedCacheLease {
  private untilMs = Number.NEGATIVE_INFINITY;
  /** Of the directory's owner; null: none yet. */
  private tenure: string | null = null;
  /** When the question was sent, and in which life of the node. */
  private readonly asked = new Map<number, { readonly sentMs: number; readonly life: number }>();
  private life = 0;
  private nextId = 0;
  private wantedMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly now: Clock,
    private readonly lease: Pick<LeaseMemory, "life" | "holdsIn">,
  ) {}

  /** A node that was asleep has another life by then: its clock may have stood still meanwhile. */
  get holds(): boolean {
    return this.now() < this.untilMs && this.lease.holdsIn(this.life);
  }

  get isWanted(): boolean {
    return this.now() - this.wantedMs < WANTED_MS;
  }

  /** Somebody wants to know whether this node holds it. True: nobody has for a while, so it has not been asked for. */
  want(): boolean {
    const wasWanted = this.isWanted;
    this.wantedMs = this.now();
    return !wasWanted;
  }

  ask(): CacheLeaseAsked {
    const id = ++this.nextId;
    const now = this.now();
    for (const [earlier, { sentMs }] of this.asked) if (now - sentMs >= CACHE_LEASE_MS) this.asked.delete(earlier);
    this.asked.set(id, { sentMs: now, life: this.lease.life });
    return { kind: "ask-cache-lease", id };
  }

  /**
   * True: changes may have been missed since the last one was lent. The owner has not owned the directory all the time,
   * or this node was away.
   */
  lent({ id, tenure }: CacheLeaseLent): boolean {
    const question = this.asked.get(id);
    if (question === undefined) return false;
    this.asked.delete(id);
    const { sentMs, life } = question;
    const isAnother = this.tenure !== null && (this.tenure !== tenure || this.life !== life);
    this.tenure = tenure;
    this.life = life;
    this.untilMs = isAnother ? sentMs + CACHE_LEASE_MS : Math.max(this.untilMs, sentMs + CACHE_LEASE_MS);
    return isAnother;
  }

  /** The directory has another owner, or is not reached. */
  lost(): void {
    this.untilMs = Number.NEGATIVE_INFINITY;
    this.tenure = null;
    this.asked.clear();
  }
}
