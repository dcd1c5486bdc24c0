/**
 * Times of a shard's commits, in microseconds since the epoch. Each is later than the one before, whatever the wall
 * clock does.
 */
import { type Commit, lastMicrosOf } from "./commit-log.js";
import type { Operation } from "./operation.js";

export class CommitClock {
  /** The time of the newest change; every later one has a greater. */
  newest = 0;

  /** The wall clock; absent: the machine's. */
  constructor(private readonly wallClock?: () => number) {}

  now(): number {
    return this.wallClock === undefined ? Date.now() * 1000 : this.wallClock();
  }

  next(): number {
    this.newest = Math.max(this.now(), this.newest + 1);
    return this.newest;
  }

  /** Later changes get greater times than that one. */
  advance(micros: number): void {
    this.newest = Math.max(this.newest, micros);
  }

  /** With what followed keys held before (undefined: none is followed): such changes have times of their own. */
  followed(commit: Commit, before: readonly Operation[] | undefined): Commit {
    if (before === undefined) return commit;
    const followed = { ...commit, before };
    this.newest = lastMicrosOf(followed);
    return followed;
  }
}
