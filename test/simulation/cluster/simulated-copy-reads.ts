/**
 * Copies of partitions that a simulated actor reads for clients whose answers may be stale. The copies, and how new
 * they are, are the real code (partition-copy.ts, copy-reads.ts), as is the shard that follows; the disks and engines
 * are those of the node, which the owner of the partition uses, too.
 */
import { OutputGate } from "../../../src/actor/output-gate.js";
import { CopyReads } from "../../../src/cluster/copy-reads.js";
import type { LogService } from "../../../src/cluster/log-service.js";
import { PartitionCopy, type ServedCopy } from "../../../src/cluster/partition-copy.js";
import { DbError } from "../../../src/protocol/errors.js";
import { momentBefore, momentNow } from "../../../src/protocol/moment.js";
import type { CommitLog } from "../../../src/storage/commit-log.js";
import { FollowedLog } from "../../../src/storage/followed-log.js";
import { LayeredEngine } from "../../../src/storage/layered-engine.js";
import { Shard } from "../../../src/storage/shard.js";
import type { FaultyDisk, FaultyEngine } from "../faulty-storage.js";
import { LARGE_SIZES, LOG_OPTIONS } from "./simulated-sizes.js";

/** What such a read gives, and as of when that is, by the loop's clock. */
export interface StaleRead {
  readonly asOfMs: number;
  readonly lists: readonly (Uint8Array | undefined)[];
}

export interface CopyReadsPlace {
  readonly service: Pick<LogService, "tail">;
  readonly disks: readonly FaultyDisk[];
  readonly engines: FaultyEngine[];
  /** The partition is this node's, or about to be. */
  isOwn(partition: number): boolean;
  openLog(partition: number): Promise<CommitLog>;
  complain(what: string): void;
}

/** Of an actor's thread, with which it ends. */
export class SimulatedCopyReads {
  private readonly copies = new Map<number, PartitionCopy>();
  private readonly shards = new Map<number, Shard>();
  private readonly reads: CopyReads;
  private isEnded = false;

  constructor(private readonly place: CopyReadsPlace) {
    this.reads = new CopyReads({
      known: (partition) => this.copies.get(partition) ?? null,
      copyOf: (partition) => (place.isOwn(partition) ? null : this.copyOf(partition)),
      reported: (partition) => (place.isOwn(partition) ? null : 0),
      open: (partition) => this.open(partition),
      warn: (message, fields) => {
        const { why } = fields as { readonly why: string };
        if (/damaged/.test(why)) place.complain(`${message}: ${why}`);
      },
    });
  }

  /** The thread has ended: what it waits for never comes, so that it writes nothing beside the next one. */
  end(): void {
    this.isEnded = true;
  }

  private readonly tail: LogService["tail"] = async (...asked) => {
    const page = await this.place.service.tail(...asked);
    return this.isEnded ? new Promise<never>(() => undefined) : page;
  };

  private copyOf(partition: number): PartitionCopy {
    let copy = this.copies.get(partition);
    if (copy === undefined) {
      copy = new PartitionCopy({
        ...{ service: { tail: this.tail }, partition, directory: `/p${partition}` },
        log: { ...LOG_OPTIONS, disk: this.place.disks[partition]! },
        apply: () => Promise.reject(new Error("there is not so much")),
        // No partition's files are replaced here.
        prepare: async () => undefined,
      });
      this.copies.set(partition, copy);
    }
    return copy;
  }

  private async open(partition: number): Promise<ServedCopy> {
    const { engines } = this.place;
    const gate = new OutputGate();
    const log = await this.place.openLog(partition);
    const layers = new LayeredEngine(engines[partition]!);
    const shard = await Shard.open({
      ...{ engine: layers, layers, log, follows: true, largeSizes: LARGE_SIZES },
      onDurable: (sequence) => gate.open(sequence),
      onFlushFailed: (first, _last, error) => gate.refuse(first, error),
      onFailed: (error) => gate.refuse(0, error),
    });
    gate.open(shard.committedSequence);
    this.shards.set(partition, shard);
    const followed = new FollowedLog(shard, {
      took: () => undefined,
      durable: () => new Promise((resolve, reject) => gate.pass(shard.committedSequence, resolve, reject)),
      close: async () => {
        this.shards.delete(partition);
        await shard.close();
        engines[partition] = engines[partition]!.reopened();
      },
    });
    return {
      ...{ log: followed, tenants: 0 },
      get failed() {
        return shard.failed;
      },
    };
  }

  /** For good: the partition is about to be this node's. */
  async close(partition: number): Promise<void> {
    const copy = this.copies.get(partition);
    this.copies.delete(partition);
    await copy?.close();
  }

  /** Null: this node has no copy that is new enough. */
  async read(partition: number, maxMs: number, keys: readonly Uint8Array[]): Promise<StaleRead | null> {
    const notBefore = momentBefore(momentNow(), maxMs);
    const moment = await this.reads.fresh(partition, notBefore);
    const shard = this.shards.get(partition);
    if (moment === null || shard === undefined) return null;
    if (moment.monotonicMs < notBefore.monotonicMs)
      this.place.complain(`a copy of ${partition} as of ${moment.monotonicMs} was read for ${notBefore.monotonicMs}`);
    const transaction = shard.begin({ readOnly: true });
    try {
      return { asOfMs: moment.monotonicMs, lists: keys.map((key) => transaction.get(key)) };
    } catch (error) {
      if (error instanceof DbError && error.code !== "partition_damaged") return null;
      throw error;
    } finally {
      transaction.rollback();
    }
  }

  /** Closes what has not been read for long. */
  rest(): void {
    this.reads.rest();
  }
}
