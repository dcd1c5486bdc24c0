/**
 * Holds replies of an owner until it knows that it was still the owner when they were computed (lease.ts). One per
 * partition.
 */
import { DbError } from "../protocol/errors.js";
import type { Lease } from "./lease.js";

interface Held {
  readonly send: () => void;
  readonly fail: (error: DbError) => void;
}

export class TenureGate {
  private held: Held[] = [];
  private isOver = false;

  constructor(private readonly lease: Pick<Lease, "holds">) {}

  get waiting(): number {
    return this.held.length;
  }

  /**
   * Call it when the reply has been computed and all that it has seen is durable. Exactly one of both is called, once.
   */
  pass(send: () => void, fail: (error: DbError) => void): void {
    if (this.isOver) fail(ended());
    else if (this.lease.holds) send();
    else this.held.push({ send, fail });
  }

  /** The node was still the owner when it began to renew, so replies from before that may leave. */
  renewed(): void {
    for (const { send } of this.held.splice(0)) send();
  }

  /** The partition is not this node's any more, or must be claimed anew. */
  end(): void {
    this.isOver = true;
    for (const { fail } of this.held.splice(0)) fail(ended());
  }
}

function ended(): DbError {
  const what = "The partition may have another owner. Whether changes that were not answered were made is not known.";
  return new DbError("partition_unavailable", what);
}
