/**
 * An actor's reports on the orders that the directory's actor has given it: backups and restores. Between two nodes,
 * messages are lost or come late. So the newest report on each order is said again until it is answered, and an order
 * that nobody waits for any more is given up. Owned by backups.ts and restores.ts.
 */
import type { OrderHeard, ReportSent } from "../../protocol/backup-orders.js";

/** Between two reports on an order. */
const AGAIN_MS = 2000;
/** How it ended is said no longer. */
const ENDED_MS = 60_000;
/** An answer that took longer says nothing of now. Less than SILENCE_BETWEEN_NODES_MS. */
const FRESH_MS = 10_000;
/** An order that was not answered for so long is given up. More than SILENCE_BETWEEN_NODES_MS. */
const UNHEARD_MS = 20_000;

/** One of the two has taken an order for failed when the other was silent for so long. */
export const SILENCE_BETWEEN_NODES_MS = 15_000;

interface Told<R> {
  readonly partition: number;
  report: R;
  /** When that was first said; null: it is under way. */
  endedMs: number | null;
  saidMs: number;
  heardMs: number;
  readonly asked: { readonly at: number; readonly answer: (isWanted: boolean) => void }[];
}

export interface OrderReportsHost<R> {
  report(report: R, sent: ReportSent): void;
  /** In a cluster: another node may have the directory. */
  readonly isBetweenNodes?: boolean;
  /** Milliseconds; absent: those of the process. */
  readonly now?: () => number;
}

export class OrderReports<R> {
  /** By order. */
  private readonly told = new Map<string, Told<R>>();
  private isClosed = false;

  constructor(private readonly host: OrderReportsHost<R>) {}

  private get now(): number {
    return this.host.now?.() ?? performance.now();
  }

  tell(order: string, partition: number, report: R, hasEnded: boolean): void {
    const { now } = this;
    const told = this.told.get(order) ?? { partition, report, endedMs: null, saidMs: now, heardMs: now, asked: [] };
    this.told.set(order, told);
    Object.assign(told, { report, endedMs: hasEnded ? now : null });
    this.say(told);
  }

  private say(told: Told<R>): void {
    told.saidMs = this.now;
    this.host.report(told.report, { partition: told.partition, at: told.saidMs });
  }

  heard({ order, at, isWanted }: OrderHeard): void {
    const told = this.told.get(order);
    if (told === undefined) return;
    if (told.endedMs !== null && at >= told.endedMs) this.told.delete(order);
    if (isWanted) told.heardMs = Math.max(told.heardMs, at);
    this.answer(told, (asked) => (asked.at <= at ? isWanted && this.now - asked.at <= FRESH_MS : null));
  }

  /**
   * Whether the order is still waited for: answered from now on, and soon. Of an order that came late it is not, nor
   * when who gave it is gone.
   */
  isStillWanted(order: string): Promise<boolean> {
    const told = this.told.get(order);
    if (this.host.isBetweenNodes !== true || told === undefined) return Promise.resolve(true);
    if (this.isClosed) return Promise.resolve(false);
    this.say(told);
    return new Promise((resolve) => told.asked.push({ at: told.saidMs, answer: resolve }));
  }

  /** Called every half second. Answers the orders that nobody has answered for too long. */
  sweep(): string[] {
    const { now } = this;
    const unheard: string[] = [];
    for (const [order, told] of this.told) {
      if (told.endedMs !== null && now - told.endedMs > ENDED_MS) this.told.delete(order);
      else if (now - told.saidMs >= AGAIN_MS) this.say(told);
      this.answer(told, (asked) => (now - asked.at > FRESH_MS ? false : null));
      if (this.host.isBetweenNodes === true && told.endedMs === null && now - told.heardMs > UNHEARD_MS)
        unheard.push(order);
    }
    return unheard;
  }

  /** The actor ends: nothing is heard any more. */
  close(): void {
    this.isClosed = true;
    for (const told of this.told.values()) this.answer(told, () => false);
  }

  /** `judge`: null where it is not known yet. */
  private answer({ asked }: Told<R>, judge: (one: Told<R>["asked"][number]) => boolean | null): void {
    for (const one of [...asked]) {
      const isWanted = judge(one);
      if (isWanted === null) continue;
      asked.splice(asked.indexOf(one), 1);
      one.answer(isWanted);
    }
  }
}
