/**
 * Reads of this node's copies whose answers may be stale. A copy is opened for them when the first one comes, and
 * closed when none has come for a while. It is read up to etcd only when a request asks for newer than it is; the
 * requests that come meanwhile share that. What a copy has then is all that was acknowledged before the read of etcd
 * began. No clock of another machine counts.
 */
import { isNotBefore, type Moment, momentNow } from "../protocol/moment.js";
import { CopyBehind } from "./log-follower.js";
import type { PartitionCopy, ServedCopy } from "./partition-copy.js";

export interface CopyReadsHost {
  /** Null: there is none yet. */
  known(partition: number): PartitionCopy | null;
  /** Null: there is none, and the partition may be about to be this node's. */
  copyOf(partition: number): PartitionCopy | null;
  /** What the partition's owner has reported to have on its disk; null: no copy here may be read. */
  reported(partition: number): number | null;
  open(partition: number): Promise<ServedCopy>;
  warn(message: string, fields: object): void;
}

/** For what is under way, and for etcd. */
const WAIT_MS = 2000;
/** Without a read. */
const REST_AFTER_MS = 60_000;
/** In memory for reads of one copy: beyond that it is opened anew. */
const TENANTS_MAX = 1000;
/** Between two log lines on what fails. */
const TOLD_MS = 10_000;

export class CopyReads {
  /** As of when the copies are that are read. */
  private readonly moments = new Map<number, Moment>();
  private readonly refreshing = new Map<number, Promise<void>>();
  private toldMs = Number.NEGATIVE_INFINITY;
  /** When they were asked for last. */
  private readonly askedMs = new Map<number, number>();

  constructor(private readonly host: CopyReadsHost) {}

  /** As of when the copy is, which is open then; null: it cannot be had as new as that. */
  async fresh(partition: number, notBefore: Moment): Promise<Moment | null> {
    const { refreshing } = this;
    this.askedMs.set(partition, performance.now());
    const until = performance.now() + WAIT_MS;
    const isFresh = (moment: Moment | null): moment is Moment => moment !== null && isNotBefore(moment, notBefore);
    // What is under way may have begun too early; the next one did not.
    for (let tries = 0; tries < 2; tries++) {
      if (this.host.reported(partition) === null) return null;
      const known = this.known(partition);
      if (isFresh(known)) return known;
      if (!refreshing.has(partition)) refreshing.set(partition, this.refresh(partition));
      if (!(await within(refreshing.get(partition)!, until))) return null;
    }
    const made = this.known(partition);
    return isFresh(made) ? made : null;
  }

  private known(partition: number): Moment | null {
    return this.host.known(partition)?.isServed === true ? (this.moments.get(partition) ?? null) : null;
  }

  private async refresh(partition: number): Promise<void> {
    try {
      await this.refreshNow(partition);
    } catch (error) {
      // The partition is copied from its owner, as soon as that is noticed.
      if (!(error instanceof CopyBehind)) this.tell(partition, error);
    } finally {
      this.refreshing.delete(partition);
    }
  }

  private async refreshNow(partition: number): Promise<void> {
    const { host, moments } = this;
    const copy = host.copyOf(partition);
    // Once more where a large commit has closed it.
    for (let tries = 0; copy !== null && tries < 2; tries++) {
      await copy.serve(() => host.open(partition));
      const began = momentNow();
      await copy.catchUp();
      // Where the log says nothing, the owner may have what was there before it.
      const reported = host.reported(partition);
      if (reported === null || copy.durable < reported) return;
      if (!copy.isServed) continue;
      moments.set(partition, began);
      return;
    }
  }

  private tell(partition: number, error: unknown): void {
    const now = performance.now();
    if (now - this.toldMs < TOLD_MS) return;
    this.toldMs = now;
    const why = error instanceof Error ? error.message : String(error);
    this.host.warn("this node's copy of a partition cannot be read", { partition, why });
  }

  /** Closes what is not read any more. Call it now and then. */
  rest(): void {
    const now = performance.now();
    for (const [partition, askedMs] of this.askedMs) {
      const copy = this.host.known(partition);
      const isOver = copy === null || now - askedMs >= REST_AFTER_MS || copy.servedTenants > TENANTS_MAX;
      if (!isOver || this.refreshing.has(partition)) continue;
      this.askedMs.delete(partition);
      this.moments.delete(partition);
      copy?.rest().catch((error: unknown) => this.tell(partition, error));
    }
  }
}

/** Whether it ends in time. */
async function within(work: Promise<void>, until: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, until - performance.now()));
  });
  const done = await Promise.race([work.then(() => true as const), late]);
  clearTimeout(timer);
  return done;
}
