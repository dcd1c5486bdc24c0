/**
 * Collects paths that were reported as changed until it is quiet for a moment: a copy of a thousand files is reported
 * a few times, not a thousand times. Pure but for the timer, which tests replace.
 */

export interface ChangedPaths {
  /** Null: too many, or something was missed; all has to be looked at. */
  readonly paths: readonly string[] | null;
}

export interface Quiet {
  /** Milliseconds without a report before the collected paths are reported. */
  readonly quietMs: number;
  /** Milliseconds after the first report until the paths are reported although it is not quiet. */
  readonly waitMsMax: number;
  readonly pathsMax: number;
}

export interface Timers {
  now(): number;
  /** Calls back once, unless the returned function is called before. */
  later(ms: number, call: () => void): () => void;
}

export const TIMERS: Timers = {
  now: () => performance.now(),
  later: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

export class PathCollector {
  private paths: Set<string> | null = new Set();
  private firstAt = 0;
  private cancel: (() => void) | null = null;

  constructor(
    private readonly quiet: Quiet,
    private readonly tell: (changed: ChangedPaths) => void,
    private readonly timers: Timers = TIMERS,
  ) {}

  /** Null: nobody knows which. */
  add(path: string | null): void {
    if (path === null || this.paths === null || this.paths.size >= this.quiet.pathsMax) this.paths = null;
    else this.paths.add(path);
    const now = this.timers.now();
    if (this.cancel === null) this.firstAt = now;
    else this.cancel();
    const { quietMs, waitMsMax } = this.quiet;
    const wait = Math.max(0, Math.min(quietMs, this.firstAt + waitMsMax - now));
    this.cancel = this.timers.later(wait, () => this.flush());
  }

  close(): void {
    this.cancel?.();
    this.cancel = null;
  }

  private flush(): void {
    const paths = this.paths === null ? null : [...this.paths];
    this.cancel = null;
    this.paths = new Set();
    this.tell({ paths });
  }
}
