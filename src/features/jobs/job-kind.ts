/**
 * A kind of background work: how many jobs of it a tenant may have, and how one runs, from its beginning or from where
 * it was left. features/features.ts lists all kinds.
 */

import type { Partition } from "../../actor/partition.js";
import type { Request } from "../../actor/request.js";
import type { Config } from "../../protocol/config.js";
import type { DbError } from "../../protocol/errors.js";
import type { JobRecord } from "../../protocol/placement.js";

/** A job while it runs. */
export interface Job {
  readonly record: JobRecord;
  readonly partition: Partition;
  /** Fires when the run must stop: the job was cancelled, the tenant moves, or the actor closes. */
  readonly signal: AbortSignal;
  /**
   * Works with the tenant's data as the user who made the job, in a request without a client and in the tenant's turns.
   * Rejects if the job is stopped first.
   */
  work<T>(work: (request: Request) => Promise<T>): Promise<T>;
}

export interface JobKind {
  readonly name: string;
  /** Jobs of one tenant that run at the same time, and that may wait. */
  bounds(config: Config): { readonly runningMax: number; readonly waitingMax: number };
  /**
   * Resolves when the job was ended (its record is removed in the same transaction), or after `signal` has fired. What
   * it throws otherwise is a fault of ours: the record stays, and the next start of the actor runs the job again.
   */
  run(job: Job): Promise<void>;
  /**
   * Ends the job for good, as failed by `error`, whether it runs or waits; resolves when its record is gone. The run,
   * if any, is stopped afterwards. Absent: such jobs belong to the tenant, and go on without their maker.
   */
  fail?(job: Job, error: DbError): Promise<void>;
}
