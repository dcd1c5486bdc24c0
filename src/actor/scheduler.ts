/**
 * Shares an actor's thread between tenants, by time used: deficit round robin (Shreedhar and Varghese 1995), with the
 * tenants that begin to ask served before those that have been asking (DRR++, MacGregor and Shi 2000). Requests are
 * submitted; a statement works for at most one slice, then waits for its next turn; between turns the loop takes new
 * requests, so a point read never waits behind a report, and a tenant with a hundred reports gets as much of the thread
 * as a tenant with one.
 *
 * Within a tenant, what has used little goes first, but cannot hold up the rest for ever. The actor owns the scheduler,
 * calls `run` whenever `wake` was called, once a turn of its loop, and everything here happens on its thread.
 */
// Node looks the global of this name up again at each use.
import { performance } from "node:perf_hooks";
import { DbError } from "../protocol/errors.js";
import type { SchedulerMetrics } from "../protocol/messages.js";
import { beginStretch, endStretch } from "../protocol/stretch.js";
import { threadCpuMs } from "../session/thread-cpu.js";
import { SliceStatistics } from "./slice-statistics.js";

/** Milliseconds of work before a statement gives way, and what each tenant may use in a round. */
const SLICE_MS = 1;
const QUANTUM_MS = 1;
/** A slice that took this long is counted as one that overran. */
const OVERRUN_MS = 2 * SLICE_MS;
/** What a tenant can come to owe: slices that overran are made good by later rounds, but not without end. */
const DEBT_MS_MAX = 100;
/** Statements that have used this much are long: they go after those that have used less. */
const LONG_MS = 20;
/** Work of a level waits while lower levels use this much, then gets a slice. */
const PASSED_OVER_MS_MAX = 3 * SLICE_MS;

/** CPU time is measured for the first slice after this interval only, because asking for it takes microseconds. */
const CPU_SAMPLE_GAP_MS = 100;

/** Shares of tenants that do nothing stay while there are so few: to make one for every request costs more. */
const IDLE_SHARES_MAX = 256;

/** Requests that have not begun, statements that have used little, long ones. */
const LEVELS = 3;

/** Something that may need several turns: a request, or work of the actor's own. */
export interface Work {
  /** Milliseconds that it has used. */
  usedMs: number;
  /** Where they are summed up. */
  readonly account?: { usedMs: number };
}

interface Waiting {
  readonly work: Work;
  readonly since: number;
  /** Begins the request, which answers whether it ended at once; or lets the statement go on, which answers false. */
  readonly go: () => boolean;
}

/** A tenant's share. */
class Share {
  readonly levels: Waiting[][] = Array.from({ length: LEVELS }, () => []);
  /** By level: what lower levels have used while it waited. */
  readonly passedOverMs = new Float64Array(LEVELS);
  /** Milliseconds that it may still use in this round; negative when it used more than it might. */
  deficitMs = 0;
  /** Requests that have begun and not ended. */
  running = 0;
  round: "new" | "old" | "none" = "none";

  constructor(readonly tenant: number) {}
}

export interface SchedulerOptions {
  /** Milliseconds of a steady clock. */
  readonly now?: () => number;
  /** There is something to run. */
  readonly wake: () => void;
  /** Requests of one tenant that may run at the same time; the next ones wait. */
  readonly runningPerTenantMax?: number;
  /** Requests of one tenant that may wait; more are refused. */
  readonly waitingPerTenantMax?: number;
  /** The thread's CPU time, milliseconds; null where the system does not tell. */
  readonly cpuMs?: () => number | null;
  /** Told of each slice that overran. */
  readonly overran?: (tenant: number, tookMs: number) => void;
}

export class Scheduler {
  private readonly shares = new Map<number, Share>();
  /** In the order of their turns. */
  private readonly newShares = new Set<Share>();
  private readonly oldShares = new Set<Share>();
  /** The first of one of them, while it is known. */
  private first: Share | undefined = undefined;
  private firstIn: ReadonlySet<Share> | null = null;
  /** The slice that runs, if any, and when it began. */
  private current: { readonly share: Share; readonly work: Work; readonly level: number } | null = null;
  private sliceStart = Number.NEGATIVE_INFINITY;
  /** The thread's CPU time when the current slice began, if it is one of the sample; when the next one may be. */
  private sampledFromMs: number | null = null;
  private nextCpuSample = Number.NEGATIVE_INFINITY;
  private waitingCount = 0;
  /** Something arrives that may run at once; how long such runs have taken since the last other one. */
  private isArriving = false;
  private arrivalsMs = 0;
  private readonly now: () => number;
  private readonly cpuMs: () => number | null;
  private readonly runningMax: number;
  private readonly waitingMax: number;
  private readonly statistics = new SliceStatistics();

  constructor(private readonly options: SchedulerOptions) {
    this.now = options.now ?? (() => performance.now());
    this.cpuMs = options.cpuMs ?? threadCpuMs;
    this.runningMax = options.runningPerTenantMax ?? Number.POSITIVE_INFINITY;
    this.waitingMax = options.waitingPerTenantMax ?? Number.POSITIVE_INFINITY;
  }

  /** Requests and statements that wait for a turn. */
  get waiting(): number {
    return this.waitingCount;
  }

  get metrics(): SchedulerMetrics {
    return this.statistics.metrics;
  }

  /**
   * Has `begin` called when it is the tenant's turn; it answers whether the request has ended. Of one that has not,
   * `ended` must be called when it has. Throws rate_limited when too many of the tenant's requests wait.
   */
  submit(tenant: number, work: Work, begin: () => boolean): void {
    const share = this.shareOf(tenant);
    const queue = share.levels[0]!;
    if (queue.length >= this.waitingMax) {
      throw new DbError(
        "rate_limited",
        `${queue.length} requests of the tenant are already waiting, which is the limit. Retry shortly.`,
        {
          retry_after_seconds: 1,
        },
      );
    }
    this.enqueue(share, 0, work, begin);
  }

  /** A request that did not end at once has ended. */
  ended(tenant: number, work: Work): void {
    const share = this.shareOf(tenant);
    share.running--;
    if (this.current?.work === work) this.closeSlice(this.now());
    if (share.levels[0]!.length > 0) {
      this.join(share);
      this.options.wake();
    }
    this.forget(share);
  }

  shouldYield(): boolean {
    return this.now() - this.sliceStart > SLICE_MS;
  }

  /** Resolves when it is the tenant's turn again. */
  yieldTurn(tenant: number, work: Work): Promise<void> {
    if (this.current?.work === work) this.closeSlice(this.now());
    const level = work.usedMs < LONG_MS ? 1 : 2;
    return new Promise((resolve) => {
      this.enqueue(this.shareOf(tenant), level, work, () => {
        resolve();
        return false;
      });
    });
  }

  /** The tenant's share pays for time that was spent for it outside of its slices. */
  charge(tenant: number, ms: number): void {
    const share = this.shareOf(tenant);
    share.deficitMs = Math.max(share.deficitMs - ms, -DEBT_MS_MAX);
    this.join(share);
  }

  /**
   * Runs what is due for about one slice: several requests that end at once, or one statement's next piece, which goes
   * on when this returns. Never both, so that the answers of the former can leave before the latter takes its slice.
   * Call it again when it answers true: then something still waits.
   */
  run(): boolean {
    this.arrivalsMs = 0;
    return this.runSome();
  }

  /**
   * For what the thread has read itself, outside of every slice: runs what is due after `submit`, so that no turn has
   * to come for it. Once such runs have taken a slice, what arrives waits for `run`.
   */
  serveArrival(submit: () => void): void {
    let waits = true;
    this.isArriving = true;
    try {
      submit();
      if (this.arrivalsMs < SLICE_MS) {
        const startedMs = this.now();
        waits = this.runSome();
        // A statement that goes on when this returns takes a slice.
        this.arrivalsMs += this.current === null ? this.now() - startedMs : SLICE_MS;
      }
    } finally {
      this.isArriving = false;
    }
    if (waits) this.options.wake();
  }

  private runSome(): boolean {
    // A statement that waited for something else than its turn ended its slice without a word.
    if (this.current !== null) {
      this.sampledFromMs = null;
      this.closeSlice(Math.min(this.now(), this.sliceStart + SLICE_MS));
    }
    let now = this.now();
    const until = now + SLICE_MS;
    let haveEnded = false;
    for (;;) {
      const share = this.nextShare();
      if (share === null) return false;
      const level = levelOf(share, share.running < this.runningMax);
      if (haveEnded && level > 0) return true;
      const waiting = share.levels[level]!.shift()!;
      this.waitingCount--;
      const started = now;
      this.statistics.waited(started - waiting.since, level === 0);
      this.current = { share, work: waiting.work, level };
      this.sliceStart = started;
      if (started >= this.nextCpuSample) {
        this.sampledFromMs = this.cpuMs();
        this.nextCpuSample = started + CPU_SAMPLE_GAP_MS;
      }
      beginStretch(started);
      this.sliceBegins();
      if (level === 0) share.running++;
      if (!waiting.go()) return this.waitingCount > 0;
      share.running--;
      haveEnded = true;
      now = this.now();
      this.closeSlice(now);
      if (now >= until) return this.waitingCount > 0;
    }
  }

  /** For whoever watches slices; see slow-steps.ts. */
  protected sliceBegins(): void {}
  protected sliceEnds(): void {}

  protected get currentTenant(): number | null {
    return this.current?.share.tenant ?? null;
  }

  private shareOf(tenant: number): Share {
    let share = this.shares.get(tenant);
    if (share === undefined) {
      share = new Share(tenant);
      this.shares.set(tenant, share);
    }
    return share;
  }

  private enqueue(share: Share, level: number, work: Work, go: () => boolean): void {
    share.levels[level]!.push({ work, since: this.now(), go });
    this.waitingCount++;
    this.join(share);
    if (!this.isArriving) this.options.wake();
  }

  private join(share: Share): void {
    if (share.round !== "none") return;
    share.round = "new";
    share.deficitMs = Math.min(share.deficitMs + QUANTUM_MS, QUANTUM_MS);
    this.newShares.add(share);
  }

  /** Members are added at the end and taken from the front, so the first one stays the first until it is taken. */
  private firstOf(list: ReadonlySet<Share>): Share | undefined {
    if (this.first === undefined || this.firstIn !== list) {
      this.first = list.values().next().value;
      this.firstIn = list;
    }
    return this.first;
  }

  /** The share whose turn it is; null when nothing waits that may run. */
  private nextShare(): Share | null {
    if (this.waitingCount === 0 && this.newShares.size === 0 && this.oldShares.size === 0) return null;
    for (;;) {
      const list = this.newShares.size > 0 ? this.newShares : this.oldShares;
      const share = this.firstOf(list);
      if (share === undefined) return null;
      const hasWork = isReady(share, this.runningMax);
      if (hasWork && share.deficitMs > 0) return share;
      list.delete(share);
      this.first = undefined;
      if (!hasWork && share.deficitMs > 0 && (list === this.oldShares || this.oldShares.size === 0)) {
        share.round = "none";
        share.deficitMs = 0;
        share.passedOverMs.fill(0);
        this.forget(share);
        continue;
      }
      // The turn is over. Whoever leaves comes by once more, so that leaving and coming back gains nothing.
      if (share.deficitMs <= 0) share.deficitMs += QUANTUM_MS;
      share.round = "old";
      this.oldShares.add(share);
    }
  }

  private closeSlice(now: number): void {
    endStretch();
    this.sliceEnds();
    const { share, work, level } = this.current!;
    this.current = null;
    const tookMs = Math.max(now - this.sliceStart, 0);
    work.usedMs += tookMs;
    if (work.account !== undefined) work.account.usedMs += tookMs;
    share.deficitMs = Math.max(share.deficitMs - tookMs, -DEBT_MS_MAX);
    share.passedOverMs[level] = 0;
    for (let above = level + 1; above < LEVELS; above++) {
      share.passedOverMs[above] = share.levels[above]!.length > 0 ? share.passedOverMs[above]! + tookMs : 0;
    }
    this.statistics.ran(tookMs, tookMs > OVERRUN_MS);
    if (this.sampledFromMs !== null) this.takeCpuSample(this.sampledFromMs);
    if (tookMs > OVERRUN_MS) this.options.overran?.(share.tenant, tookMs);
  }

  private takeCpuSample(atStart: number): void {
    this.sampledFromMs = null;
    const atEnd = this.cpuMs();
    if (atEnd !== null) this.statistics.usedCpu(atEnd - atStart);
  }

  /** Keeps the table of shares about as small as the number of tenants that do something. */
  private forget(share: Share): void {
    if (this.shares.size <= IDLE_SHARES_MAX) return;
    if (share.round === "none" && share.running === 0 && share.levels.every((queue) => queue.length === 0)) {
      this.shares.delete(share.tenant);
    }
  }
}

function isReady(share: Share, runningMax: number): boolean {
  const [fresh, short, long] = share.levels;
  return short!.length > 0 || long!.length > 0 || (fresh!.length > 0 && share.running < runningMax);
}

/** The lowest level with something to do, unless a higher one has been passed over for long enough. */
function levelOf(share: Share, mayBegin: boolean): number {
  let lowest = -1;
  for (let level = LEVELS - 1; level >= 0; level--) {
    if (share.levels[level]!.length === 0 || (level === 0 && !mayBegin)) continue;
    if (share.passedOverMs[level]! >= PASSED_OVER_MS_MAX) return level;
    lowest = level;
  }
  return lowest;
}
