/**
 * Holds replies until what they have seen is on disk. One per partition: the shard's durable watermark opens it.
 * A reply that depends on nothing in flight passes at once.
 */
import type { DbError } from "../protocol/errors.js";
import { UNDONE } from "../session/tenant.js";

interface Held {
  readonly sequence: number;
  readonly send: () => void;
  readonly fail: (error: DbError) => void;
}

export class OutputGate {
  private held: Held[] = [];
  private durable = 0;
  /** Why commits were undone last. */
  private refusal: DbError | null = null;

  /** Replies that wait for the disk. */
  get waiting(): number {
    return this.held.length;
  }

  /** Whether a reply that has seen no later commit may leave at once. */
  isOpenFor(sequence: number): boolean {
    return sequence <= this.durable;
  }

  /** `sequence`: the newest commit that the reply has seen, or UNDONE. One of `send` and `fail` is called, once. */
  pass(sequence: number, send: () => void, fail: (error: DbError) => void): void {
    if (sequence <= this.durable) send();
    else if (sequence === UNDONE && this.refusal !== null) fail(this.refusal);
    else this.held.push({ sequence, send, fail });
  }

  /** Every commit up to `sequence` is on disk. */
  open(sequence: number): void {
    this.durable = sequence;
    const { held } = this;
    if (held.length === 0) return;
    this.held = held.filter((reply) => reply.sequence > sequence);
    for (const reply of held) if (reply.sequence <= sequence) reply.send();
  }

  /** The commits from `first` on were undone: replies that have seen any of them must not leave. */
  refuse(first: number, error: DbError): void {
    this.refusal = error;
    const { held } = this;
    this.held = held.filter((reply) => reply.sequence < first);
    for (const reply of held) if (reply.sequence >= first) reply.fail(error);
  }
}
