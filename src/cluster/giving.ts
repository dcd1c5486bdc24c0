/** Gives partitions that this node owns to the nodes that shall own them. Used by tenures.ts. */
import { randomUUID } from "node:crypto";
import { DbError } from "../protocol/errors.js";
import type { Tenure, TenuresHost, TenuresOptions } from "./tenures-options.js";

/** Between two log lines on a partition that stays, though another node is to own it. */
const TOLD_MS = 10_000;

export class Giving {
  /** Partitions that could not be given away, and when that was last told. */
  private readonly tied = new Map<number, number>();

  constructor(private readonly options: Pick<TenuresOptions, "service" | "failed" | "log">) {}

  /**
   * Nobody reads or writes the partition here any more when the successor is named; just before, `ended` is called. Its
   * files are closed meanwhile, and nothing else may be done with it here until this resolves.
   */
  async give(
    { partition, next, epoch, log }: Pick<Tenure, "epoch" | "log"> & { partition: number; next: string },
    host: Pick<TenuresHost, "close">,
    ended: () => void,
  ): Promise<void> {
    const closed = host.close(partition).catch((error: unknown) => {
      const why = `Partition ${partition} could not be closed: ${error}.`;
      this.options.failed(new DbError("partition_unavailable", why));
      throw error;
    });
    if (!(await Promise.race([log.ended.then(() => true), closed]))) {
      this.notGiven(partition, next);
      return;
    }
    this.tied.delete(partition);
    ended();
    const claim = { partition, node: next, tenure: randomUUID(), epoch };
    // If it is not known to be done, whoever is found to be the owner goes on.
    const [isGiven] = await Promise.all([this.options.service.claim(claim).catch(() => null), closed]);
    this.options.log("info", "the partition was given away", { partition, to: next, done: isGiven !== null });
  }

  /** It is tried again soon, so it is told now and then. */
  private notGiven(partition: number, to: string): void {
    const now = performance.now();
    if (now - (this.tied.get(partition) ?? Number.NEGATIVE_INFINITY) < TOLD_MS) return;
    this.tied.set(partition, now);
    const why = "a move, a backup or a restore is under way there, or the node is ending";
    this.options.log("info", "the partition could not be given away yet", { partition, to, why });
  }
}
