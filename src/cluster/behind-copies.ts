/**
 * A node's copies that cannot follow, and when each is looked at again. What was found holds under the owner of then:
 * another one may have what the copy lacks. Owned by tenures.ts.
 */
import type { NodeClock } from "./lease.js";

/** A copy that cannot follow is looked at again after that. */
const BEHIND_MS = 30_000;
/** After the first failed copy from the owner, which is often not open yet; then twice as long each time. */
const COPY_AGAIN_MS = 1000;

interface Mark {
  readonly untilMs: number;
  /** Of the partition's owner when it was made. */
  readonly epoch: number;
  /** Copies from that owner that failed one after another. */
  readonly failures: number;
}

export class BehindCopies {
  private readonly marks = new Map<number, Mark>();

  constructor(private readonly clock: Pick<NodeClock, "monotonicMs">) {}

  /** The copy cannot follow under the owner of that epoch. */
  add(partition: number, epoch: number): void {
    const failures = this.failures(partition, epoch);
    this.marks.set(partition, { untilMs: this.clock.monotonicMs() + BEHIND_MS, epoch, failures });
  }

  /** The owner's state could not be copied. */
  copyFailed(partition: number, epoch: number): void {
    const failures = this.failures(partition, epoch) + 1;
    const waitMs = Math.min(BEHIND_MS, COPY_AGAIN_MS * 2 ** (failures - 1));
    this.marks.set(partition, { untilMs: this.clock.monotonicMs() + waitMs, epoch, failures });
  }

  private failures(partition: number, epoch: number): number {
    const mark = this.marks.get(partition);
    return mark === undefined || mark.epoch < epoch ? 0 : mark.failures;
  }

  /** It follows again, or is gone. */
  delete(partition: number): void {
    this.marks.delete(partition);
  }

  /** `epoch`: of the owner as it is recorded now. */
  has(partition: number, epoch: number): boolean {
    const mark = this.marks.get(partition);
    if (mark === undefined) return false;
    if (mark.epoch < epoch) {
      this.marks.delete(partition);
      return false;
    }
    return this.clock.monotonicMs() < mark.untilMs;
  }
}
