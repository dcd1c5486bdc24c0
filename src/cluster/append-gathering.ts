/**
 * When the next append of a partition begins. An append costs as much for one commit as for a hundred: some
 * milliseconds of CPU in etcd's members and the nodes, and a wait for disks. So after an append that answered many
 * clients, the next one waits a moment for what these clients write next (PostgreSQL's `commit_delay` does the same).
 * It begins as soon as most of the clients have written again. Without the wait, clients form two groups, each of which
 * waits for the other's append.
 *
 * A client that waits for its commits has one under way, so there are as many clients as commits were under way at
 * once lately. Where nobody comes, some appends begin at once before a wait is tried again: more of them after each
 * try. A few clients never wait.
 */

/** From so many commits under way, their clients are waited for. */
export const MANY_COMMITS = 8;
/** So many of the newest appends tell how many clients there are. */
const LATELY = 4;
/** Of the clients: enough. */
const ENOUGH = 0.85;
/** The wait is at most so long, by the time that the append before has taken, and in all. */
const SHARE_OF_APPEND = 1.5;
const WAIT_MS_MAX = 8;
/** Of the commits that were waited for: if no more of them come, the wait was in vain. */
const FEW = 0.1;
/** Appends that begin at once after waits in vain: twice as many after each one more. */
const PAUSE_MAX = 16;

export class AppendGathering {
  /** Commits that were under way at once, at the ends of the newest appends. */
  private readonly underWay: number[] = [];
  private wanted = 0;
  /** By the process's clock, in milliseconds. */
  private until = 0;
  private pause = 1;
  private paused = 0;
  private endWait: (() => void) | null = null;

  constructor(private readonly manyCommits = MANY_COMMITS) {}

  /** An append of so many commits has ended after so long, and so many wait for the next one. */
  appended(commits: number, queued: number, tookMs: number): void {
    this.wanted = 0;
    if (this.underWay.push(commits + queued) > LATELY) this.underWay.shift();
    const clients = Math.max(...this.underWay);
    if (clients < this.manyCommits) return;
    if (this.paused > 0) {
      this.paused--;
      return;
    }
    this.wanted = Math.floor(clients * ENOUGH);
    this.until = performance.now() + Math.min(WAIT_MS_MAX, tookMs * SHARE_OF_APPEND);
  }

  /** Resolves when the next append may begin. Null: at once. `queued` tells how many commits it would have. */
  wait(queued: () => number): Promise<void> | null {
    const missing = this.wanted - queued();
    const leftMs = this.until - performance.now();
    if (missing <= 0 || leftMs <= 0) return null;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.endWait = null;
        this.ended(this.wanted - queued() > missing * (1 - FEW));
        resolve();
      };
      const timer = setTimeout(end, leftMs);
      this.endWait = end;
    });
  }

  /** One more commit has come. */
  came(queued: number): void {
    if (queued >= this.wanted) this.endWait?.();
  }

  private ended(inVain: boolean): void {
    this.paused = inVain ? this.pause : 0;
    this.pause = inVain ? Math.min(PAUSE_MAX, 2 * this.pause) : 1;
  }
}
