/**
 * Confirms that this node owned a partition when a reply had been computed (`cluster.reads`): by its lease, which costs
 * a comparison, or by asking etcd, which rests on no clock.
 */
import { DbError } from "../protocol/errors.js";
import type { LeaseMemory } from "./lease-memory.js";
import type { LogService } from "./log-service.js";
import { TenureGate } from "./tenure-gate.js";

export interface Confirmations {
  pass(send: () => void, fail: (error: DbError) => void): void;
  end(): void;
}

/** Between two looks at the lease while replies wait for it. */
const LOOK_MS = 25;

/** Of all partitions of an actor, in one life of the node. */
export class LeaseConfirmations implements Confirmations {
  private readonly gate: TenureGate;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly lease: LeaseMemory,
    private readonly life: number,
    private readonly armTurn: () => void,
  ) {
    this.gate = new TenureGate({
      get holds() {
        return lease.holdsIn(life);
      },
    });
  }

  pass(send: () => void, fail: (error: DbError) => void): void {
    this.gate.pass(send, fail);
    if (this.gate.waiting > 0) this.timer ??= setTimeout(() => this.look(), LOOK_MS);
  }

  private look(): void {
    this.timer = null;
    if (this.lease.holdsIn(this.life)) {
      this.gate.renewed();
      this.armTurn();
    } else if (this.gate.waiting > 0) this.timer = setTimeout(() => this.look(), LOOK_MS);
  }

  end(): void {
    this.gate.end();
    this.close();
  }

  /** What waits goes on waiting, for good. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}

interface Asking {
  readonly send: () => void;
  readonly fail: (error: DbError) => void;
}

/** Of one partition: all replies that come while a question is under way are confirmed by the next. */
export class QuorumConfirmations implements Confirmations {
  private asking: Asking[] = [];
  private isAsking = false;

  constructor(
    private readonly service: Pick<LogService, "owner">,
    private readonly partition: number,
    private readonly epoch: number,
    private readonly armTurn: () => void,
  ) {}

  pass(send: () => void, fail: (error: DbError) => void): void {
    this.asking.push({ send, fail });
    void this.ask();
  }

  end(): void {
    for (const { fail } of this.asking.splice(0)) fail(unconfirmed());
  }

  private async ask(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    while (this.asking.length > 0) {
      const replies = this.asking.splice(0);
      // What is not known in time is not said.
      const owner = await this.service.owner(this.partition).catch(() => null);
      const isOurs = owner?.epoch === this.epoch;
      for (const { send, fail } of replies) {
        if (isOurs) send();
        else fail(unconfirmed());
      }
      this.armTurn();
    }
    this.isAsking = false;
  }
}

function unconfirmed(): DbError {
  const what =
    "It is not known whether the partition has another owner. Whether changes were made is not known either.";
  return new DbError("partition_unavailable", what);
}
