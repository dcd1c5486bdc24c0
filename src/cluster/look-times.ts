/**
 * When a thread reads the cluster's view: at once when etcd tells of a change, seldom while it tells nothing and is
 * heard, often while it is not. Each read costs the node and etcd some milliseconds of CPU.
 */
import type { ClusterMap, MapChanges } from "./cluster-map.js";

/** Milliseconds between two reads, `soon` ≤ `often` ≤ `seldom`. Whoever asks `isDue` does so each `soon`. */
export interface LookPeriods {
  readonly soon: number;
  readonly often: number;
  readonly seldom: number;
}

export class LookTimes {
  private readonly changes: MapChanges;
  private hasChanged = false;
  private beganMs = Number.NEGATIVE_INFINITY;

  constructor(
    map: Pick<ClusterMap, "changes">,
    private readonly periods: LookPeriods,
  ) {
    this.changes = map.changes(() => {
      this.hasChanged = true;
    });
  }

  /** Changes are told within moments, as far as is known here. */
  get areTold(): boolean {
    return this.changes.isLive;
  }

  /** `need`: how often it has to be read though etcd tells nothing. */
  isDue(need: keyof LookPeriods): boolean {
    if (this.hasChanged) return true;
    const { soon } = this.periods;
    const period = this.periods[need === "seldom" && !this.areTold ? "often" : need];
    // Timers are a little early at times.
    return performance.now() - this.beganMs >= period - soon / 2;
  }

  /** A read begins. */
  begins(): void {
    this.hasChanged = false;
    this.beganMs = performance.now();
  }

  close(): void {
    this.changes.close();
  }
}
