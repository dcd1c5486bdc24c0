/**
 * When a thread reads the cluster's view: at once when etcd tells of a change, seldom while it tells nothing and is
 * heard, often while it is not. Each read costs the node and etcd some milliseconds of CPU, and a timer that wakes a
 * thread for nothing is not free either: so there is one, for the next read.
 */
import type { ClusterMap, MapChanges } from "./cluster-map.js";

/** Milliseconds between two reads, `soon` ≤ `often` ≤ `seldom`. */
export interface LookPeriods {
  readonly soon: number;
  readonly often: number;
  readonly seldom: number;
}

export interface LookHost {
  /** How often it has to be read though etcd tells nothing. Call `again` when that may be more often than before. */
  need(): keyof LookPeriods;
  /** Reads. Must not reject. */
  look(): Promise<void>;
}

export class LookTimes {
  private readonly changes: MapChanges;
  private hasChanged = false;
  private beganMs = Number.NEGATIVE_INFINITY;
  private host: LookHost | null = null;
  private timer: NodeJS.Timeout | null = null;
  /** The read that is under way. */
  looking: Promise<void> | null = null;

  constructor(
    map: Pick<ClusterMap, "changes">,
    private readonly periods: LookPeriods,
  ) {
    this.changes = map.changes(() => this.lookSoon());
  }

  /** As if a change had been told. */
  lookSoon(): void {
    this.hasChanged = true;
    this.again();
  }

  /** Changes are told within moments, as far as is known here. */
  get areTold(): boolean {
    return this.changes.isLive;
  }

  start(host: LookHost): void {
    this.host = host;
    this.again();
  }

  again(): void {
    const { host } = this;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (host === null || this.looking !== null) return;
    const leftMs = this.periodOf(host) - (performance.now() - this.beganMs);
    this.timer = setTimeout(() => void this.look(), Math.max(0, leftMs));
  }

  private periodOf(host: LookHost): number {
    if (this.hasChanged) return this.periods.soon;
    const need = host.need();
    return this.periods[need === "seldom" && !this.areTold ? "often" : need];
  }

  /** Reads now, unless that is under way. */
  look(): Promise<void> {
    if (this.host === null || this.looking !== null) return this.looking ?? Promise.resolve();
    this.hasChanged = false;
    this.beganMs = performance.now();
    this.looking = this.host.look().finally(() => {
      this.looking = null;
      this.again();
    });
    this.again();
    return this.looking;
  }

  /** Reads what is there from now on. */
  lookAfresh(): void {
    void (this.looking ?? Promise.resolve()).then(() => this.look());
  }

  close(): void {
    this.host = null;
    this.again();
    this.changes.close();
  }
}
