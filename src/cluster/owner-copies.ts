/**
 * Brings partitions here where this node lacks what the log does not have any more: from their owners, or from what is
 * kept outside of all nodes. One at a time for each actor.
 */
import { DbError } from "../protocol/errors.js";
import type { BehindCopies } from "./behind-copies.js";
import type { ClusterView } from "./cluster-map.js";
import type { Claim, StoredCheckpoint } from "./log-service.js";
import type { PartitionCopy } from "./partition-copy.js";

/** A node that serves a partition, and where it is reached. */
export interface Source {
  readonly node: string;
  readonly address: string;
}

type Bring = (folder: string, signal: AbortSignal) => Promise<number>;

export interface OwnerCopiesOptions {
  /** Has another node's state of the partition brought into the folder; gives its bytes. */
  readonly fetch: (partition: number, address: string, folder: string, signal: AbortSignal) => Promise<number>;
  /** The same of what is kept outside of all nodes. Absent: nothing is. */
  readonly restore?: (
    partition: number,
    checkpoint: StoredCheckpoint,
    folder: string,
    signal: AbortSignal,
  ) => Promise<number>;
  readonly log: (level: "error" | "warn" | "info", message: string, fields: object) => void;
}

export class OwnerCopies {
  private last: Promise<unknown> = Promise.resolve();
  private current = new AbortController();

  constructor(private readonly options: OwnerCopiesOptions) {}

  /** False: it could not be copied, which was told, or it was abandoned. */
  take(partition: number, copy: PartitionCopy, { node, address }: Source): Promise<boolean> {
    const { fetch } = this.options;
    return this.bring(partition, copy, node, null, (folder, signal) => fetch(partition, address, folder, signal));
  }

  /** From outside of all nodes, where that is more than this node has. */
  async restore(
    partition: number,
    copy: PartitionCopy,
    { checkpoints }: Pick<ClusterView, "checkpoints">,
  ): Promise<boolean> {
    const { restore } = this.options;
    const kept = checkpoints.get(partition);
    if (restore === undefined || kept === undefined || kept.sequence <= copy.durable) return false;
    const from = `checkpoint ${kept.id}`;
    return this.bring(partition, copy, from, kept.sequence, (folder, signal) =>
      restore(partition, kept, folder, signal),
    );
  }

  /** The same of a copy that cannot follow under the owner of that epoch. */
  async restoreBehind(
    { partition, epoch }: Pick<Claim, "partition" | "epoch">,
    copy: PartitionCopy,
    view: Pick<ClusterView, "checkpoints">,
    behind: BehindCopies,
  ): Promise<void> {
    const kept = view.checkpoints.get(partition)?.sequence ?? 0;
    if (this.options.restore === undefined || kept <= copy.durable) return;
    if (await this.restore(partition, copy, view)) behind.delete(partition);
    // The store may answer the next time, and nobody serves the partition meanwhile.
    else behind.copyFailed(partition, epoch);
  }

  private bring(
    partition: number,
    copy: PartitionCopy,
    from: string,
    sequence: number | null,
    bring: Bring,
  ): Promise<boolean> {
    const { signal } = this.current;
    const done = this.last.then(() => this.bringNow(partition, copy, from, sequence, signal, bring));
    this.last = done;
    return done;
  }

  private async bringNow(
    partition: number,
    copy: PartitionCopy,
    from: string,
    sequence: number | null,
    signal: AbortSignal,
    bring: Bring,
  ): Promise<boolean> {
    const { log } = this.options;
    if (signal.aborted) return false;
    const began = performance.now();
    const what = sequence === null ? "the partition is copied from its owner" : "the partition is restored";
    log("info", what, { partition, from });
    let bytes = 0;
    try {
      await copy.replace(async (folder) => {
        bytes = await bring(folder, signal);
      }, sequence);
    } catch (error) {
      if (signal.aborted) return false;
      const why = error instanceof Error ? error.message : String(error);
      log("warn", "the partition could not be copied; it is tried again", { partition, from, why });
      return false;
    }
    const seconds = Math.round(performance.now() - began) / 1000;
    log("info", "the partition was copied", { partition, from, bytes, seconds, upTo: copy.durable });
    return true;
  }

  /** Ends those that are under way or wait. */
  abandon(): void {
    this.current.abort(new DbError("shutting_down"));
    this.current = new AbortController();
  }
}

/** The partition's owner, where another node can reach it. */
export function sourceIn({ owners, members }: ClusterView, partition: number): Source | null {
  const node = owners.get(partition)?.node;
  const member = node === undefined ? undefined : members.get(node);
  return member?.address === undefined || member.isFenced ? null : { node: node!, address: member.address };
}
