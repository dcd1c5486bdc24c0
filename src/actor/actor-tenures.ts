/**
 * The seam to what an actor of a cluster needs (src/cluster/tenures.ts): which partitions it owns is decided there, and
 * where their commits go. On one machine there is none, and an actor owns what its settings say.
 */

import type { DbError } from "../protocol/errors.js";
import type { ClusterMetrics } from "../protocol/messages.js";
import type { Moment } from "../protocol/moment.js";
import type { CommitLog } from "../storage/commit-log.js";
import type { CopyLog } from "../storage/followed-log.js";
import { OutputGate } from "./output-gate.js";

export interface TenuresHost {
  /** Opens the partition, which this actor owns now. */
  open(partition: number): Promise<void>;
  /**
   * Serves it no more, as another node is to own it. Resolves when it is closed; false: that cannot be now, and it is
   * still served.
   */
  close(partition: number): Promise<boolean>;
  /** Something was put among the replies. */
  armTurn(): void;
  /** Opens this node's copy of a partition that another node owns, so that it can be read while it follows. */
  openCopy(partition: number): Promise<OpenedCopy>;
}

/** A copy that is read. */
export interface OpenedCopy {
  /** What it follows is appended there; `close` ends what reads it. */
  readonly log: CopyLog;
  /** So many tenants of it are in memory. */
  readonly tenants: number;
  /** It cannot be used any more. */
  readonly failed: DbError | null;
}

export interface ActorTenures {
  /** Owns partitions from now on, as they can be had. */
  begin(host: TenuresHost): void;
  /** The commit log of a partition that is being opened, in front of this node's own. */
  replicate(partition: number, local: CommitLog): Promise<CommitLog>;
  /**
   * Has a reply leave when it is known that the partition was owned when the reply was computed. One of both is called.
   */
  confirm(partition: number, send: () => void, fail: (error: DbError) => void): void;
  /**
   * Brings this node's copy of a partition up to date, unless it is that new already. Answers as of when it is, at
   * least; null: nothing that new can be had from it.
   */
  freshCopy(partition: number, notBefore: Moment): Promise<Moment | null>;
  metrics(): ClusterMetrics;
  /** No more partitions are opened. */
  stop(): Promise<void>;
  /** The partitions are closed: they are given to their next owners. */
  release(): Promise<void>;
}

/** In addition, holds replies until this node knows that it still owned the partition when they were computed. */
export class TenuredGate extends OutputGate {
  private unconfirmed = 0;

  constructor(private readonly confirm: (send: () => void, fail: (error: DbError) => void) => void) {
    super();
  }

  override get waiting(): number {
    return super.waiting + this.unconfirmed;
  }

  override isOpenFor(): boolean {
    return false;
  }

  override pass(sequence: number, send: () => void, fail: (error: DbError) => void): void {
    const settled = (then: () => void) => () => {
      this.unconfirmed--;
      then();
    };
    const confirm = (): void => {
      this.unconfirmed++;
      this.confirm(settled(send), (error) => settled(() => fail(error))());
    };
    super.pass(sequence, confirm, fail);
  }
}
