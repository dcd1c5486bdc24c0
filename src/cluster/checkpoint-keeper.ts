/**
 * Keeps checkpoints of the partitions that this node owns in a store outside of all nodes. All that RocksDB has of a
 * partition was acknowledged, so whatever is copied is right to keep. A checkpoint counts when etcd has it, which is
 * asked once all of it is in the store. Runs in a thread of its own (checkpoint-thread.ts).
 */
import { createHash, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { copyEngine } from "../storage/engine-copy.js";
import { FORMAT_VERSION, readShardFormat } from "../storage/format.js";
import { partitionDirectory } from "../storage/partition-directory.js";
import { appliedBy } from "../storage/recovery.js";
import { RocksEngine } from "../storage/rocksdb-engine.js";
import { isFillingAt } from "./cell-room.js";
import type { ClusterView } from "./cluster-map.js";
import type { LogService, Owner, Revision, StoredCheckpoint } from "./log-service.js";
import type { ObjectStore } from "./object-store.js";
import { checkpointPrefix, partitionPrefix, writeCheckpoint } from "./stored-checkpoint.js";

export interface CheckpointKeeperOptions {
  readonly node: string;
  readonly dataDirectory: string;
  readonly installation: string;
  /** The cluster's own id. */
  readonly cluster: string;
  readonly service: Pick<LogService, "checkpoint" | "setCheckpoint" | "owner" | "usage">;
  readonly view: () => Promise<ClusterView>;
  readonly store: ObjectStore;
  /** As the configuration names it. */
  readonly place: string;
  readonly key: Uint8Array;
  /** Between two checkpoints of a partition. */
  readonly everyMs: number;
  /** What the node claimed at that revision or before, an earlier process of it did, and nothing serves it yet. */
  readonly since: Revision;
  /** Of stored-checkpoint.ts. */
  readonly partBytes?: number;
  readonly signal: AbortSignal;
  readonly log: (level: "warn" | "info", message: string, fields: object) => void;
}

/** Between two of a partition while etcd is filling, and after one that failed. */
const SOON_MS = 60_000;

/** It is not this node's to keep any more, or is so by another claim: the next round sees which. */
class OwnerChanged extends DbError {
  constructor() {
    super("partition_unavailable", "Another node owns the partition by now, or this one has claimed it anew.");
  }
}

export class CheckpointKeeper {
  private readonly scratch: string;
  /** Ids begin so: of which cluster, and which place it is. */
  private readonly place: string;
  /** By partition: the recorded checkpoint, and since when this thread has known it, by the monotonic clock. */
  private readonly known = new Map<number, { readonly revision: number; readonly sinceMs: number }>();
  private readonly failedMs = new Map<number, number>();

  /** Removes what an earlier process has left. */
  constructor(private readonly options: CheckpointKeeperOptions) {
    this.scratch = join(options.dataDirectory, "stored-checkpoints");
    this.place = `${options.cluster}/${createHash("sha256").update(options.place).digest("hex").slice(0, 12)}`;
    rmSync(this.scratch, { recursive: true, force: true });
  }

  /** Makes those that are due, one after another. Rejects with `log_unavailable`. */
  async round(): Promise<void> {
    const { service, view, signal } = this.options;
    const now = await view();
    const isFilling = isFillingAt(await service.usage());
    for (const [partition, owner] of now.owners) {
      if (signal.aborted) return;
      const newest = now.durable.get(partition)?.get(this.options.node) ?? 0;
      if (!this.isOurs(owner) || !this.isDue(partition, newest, now.checkpoints.get(partition), isFilling)) continue;
      await this.make(partition, owner).catch((error: unknown) => {
        if (signal.aborted) return;
        const isNew = error instanceof OwnerChanged;
        if (!isNew) this.failedMs.set(partition, performance.now());
        const why = error instanceof Error ? error.message : String(error);
        this.options.log(isNew ? "info" : "warn", "no checkpoint of the partition could be kept; it is tried again", {
          partition,
          why,
        });
      });
    }
  }

  private isOurs({ node, epoch }: Owner): boolean {
    return node === this.options.node && epoch > this.options.since;
  }

  private isDue(partition: number, newest: number, kept: StoredCheckpoint | undefined, isFilling: boolean): boolean {
    const now = performance.now();
    if (now - (this.failedMs.get(partition) ?? Number.NEGATIVE_INFINITY) < SOON_MS) return false;
    // What is kept in another place does not count when that is gone.
    if (kept === undefined || !kept.id.startsWith(`${this.place}/`)) return newest > 0;
    const known = this.known.get(partition);
    const sinceMs = known?.revision === kept.revision ? known.sinceMs : now;
    this.known.set(partition, { revision: kept.revision, sinceMs });
    const { everyMs } = this.options;
    // Neither a process that was started again begins anew, nor does a clock that was set back put it off.
    const ageMs = Math.max(now - sinceMs, Date.now() - kept.madeMs);
    return newest > kept.sequence && ageMs >= (isFilling ? Math.min(everyMs, SOON_MS) : everyMs);
  }

  private async make(partition: number, { epoch }: Owner): Promise<void> {
    const { node, dataDirectory, installation, service, store, key, signal, log, partBytes } = this.options;
    const [began, madeMs] = [performance.now(), Date.now()];
    const name = { installation, partition, id: `${this.place}/${node}/${randomUUID()}` };
    await rm(this.scratch, { recursive: true, force: true });
    await mkdir(this.scratch, { recursive: true });
    const from = join(this.scratch, "rocksdb");
    try {
      await this.checkOwner(partition, epoch);
      const before = await service.checkpoint(partition);
      await copyEngine(join(partitionDirectory(dataDirectory, partition), "rocksdb"), from);
      const sequence = await sequenceOf(from);
      if (sequence < (before?.sequence ?? 0)) {
        const why = `it ends at commit ${sequence}, and ${before!.sequence} is kept`;
        throw new DbError("partition_unavailable", `This node's state is older: ${why}.`);
      }
      await this.checkOwner(partition, epoch);
      const write = {
        ...name,
        ...{ store, key, sequence, signal, from, partBytes },
        format: readShardFormat(partitionDirectory(dataDirectory, partition))?.format ?? FORMAT_VERSION,
        scratch: join(this.scratch, "part"),
      };
      const bytes = await writeCheckpoint(write);
      // Each names the one that it replaces: what was begun by now cannot be recorded after this one, later ones can.
      const earlier = await this.earlier(partition, before);
      // Of unknown outcome it stays: it may be recorded yet. The next success deletes it.
      const change = { partition, epoch, sequence, madeMs, id: name.id, revision: before?.revision ?? 0 };
      const revision = await service.setCheckpoint(change);
      const own = checkpointPrefix(name);
      const isGone = (object: string) => object.startsWith(own) === (revision === null);
      await this.forget(partition, earlier.filter(isGone));
      if (revision === null) throw new OwnerChanged();
      this.known.set(partition, { revision, sinceMs: performance.now() });
      this.failedMs.delete(partition);
      const seconds = Math.round(performance.now() - began) / 1000;
      log("info", "a checkpoint of the partition is kept", { partition, upTo: sequence, bytes, seconds });
    } finally {
      await rm(this.scratch, { recursive: true, force: true });
    }
  }

  /** What would not be recorded in the end is neither copied nor sent. */
  private async checkOwner(partition: number, epoch: Revision): Promise<void> {
    if ((await this.options.service.owner(partition))?.epoch !== epoch) throw new OwnerChanged();
  }

  /** Objects of this cluster's checkpoints, of the recorded one wherever it is. Other clusters may use the store. */
  private async earlier(partition: number, recorded: StoredCheckpoint | null): Promise<readonly string[]> {
    const { installation, store } = this.options;
    const prefixes = [`${partitionPrefix(installation, partition)}${this.place}/`];
    if (recorded !== null && !recorded.id.startsWith(`${this.place}/`))
      prefixes.push(checkpointPrefix({ installation, partition, id: recorded.id }));
    const found: string[] = [];
    for (const prefix of prefixes) found.push(...(await store.list(prefix)));
    return found;
  }

  private async forget(partition: number, objects: readonly string[]): Promise<void> {
    try {
      for (const object of objects) await this.options.store.delete(object);
    } catch (error) {
      // The next one deletes them.
      const why = error instanceof Error ? error.message : String(error);
      this.options.log("warn", "an older checkpoint of the partition could not be deleted", { partition, why });
    }
  }
}

/** The newest commit of a copy of RocksDB's directory. */
async function sequenceOf(directory: string): Promise<number> {
  const engine = await RocksEngine.open({ directory, isCopy: true, cacheBytes: 1024 * 1024, threads: 1 });
  try {
    return appliedBy(engine);
  } finally {
    await engine.close();
  }
}
