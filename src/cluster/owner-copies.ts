/**
 * Copies partitions from their owners where this node lacks what the log does not have any more: one at a time for each
 * actor.
 */
import { DbError } from "../protocol/errors.js";
import type { ClusterView } from "./cluster-map.js";
import type { PartitionCopy } from "./partition-copy.js";

/** A node that serves a partition, and where it is reached. */
export interface Source {
  readonly node: string;
  readonly address: string;
}

export interface OwnerCopiesOptions {
  /** Has another node's state of the partition brought into the folder; gives its bytes. */
  readonly fetch: (partition: number, address: string, folder: string, signal: AbortSignal) => Promise<number>;
  readonly log: (level: "error" | "warn" | "info", message: string, fields: object) => void;
}

export class OwnerCopies {
  private last: Promise<unknown> = Promise.resolve();
  private current = new AbortController();

  constructor(private readonly options: OwnerCopiesOptions) {}

  /** False: it could not be copied, which was told, or it was abandoned. */
  take(partition: number, copy: PartitionCopy, source: Source): Promise<boolean> {
    const { signal } = this.current;
    const done = this.last.then(() => this.takeNow(partition, copy, source, signal));
    this.last = done;
    return done;
  }

  private async takeNow(
    partition: number,
    copy: PartitionCopy,
    { node, address }: Source,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { fetch, log } = this.options;
    if (signal.aborted) return false;
    const began = performance.now();
    log("info", "the partition is copied from its owner", { partition, from: node });
    let bytes = 0;
    try {
      await copy.replace(async (folder) => {
        bytes = await fetch(partition, address, folder, signal);
      });
    } catch (error) {
      if (signal.aborted) return false;
      const why = error instanceof Error ? error.message : String(error);
      log("warn", "the partition could not be copied; it is tried again", { partition, from: node, why });
      return false;
    }
    const seconds = Math.round(performance.now() - began) / 1000;
    log("info", "the partition was copied", { partition, from: node, bytes, seconds, upTo: copy.durable });
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
