/** Opens a partition's shard on disk: its commit log and, behind it, RocksDB. The only place that knows the layout. */
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { CachedEngine } from "./cached-engine.js";
import type { CommitLog } from "./commit-log.js";
import { linkElsewhere, removeLeft } from "./engine-elsewhere.js";
import { FileCommitLog, type FileCommitLogOptions } from "./file-commit-log.js";
import { checkShardDirectory, markOpened, type ShardIdentity } from "./format.js";
import { LayeredEngine } from "./layered-engine.js";
import { appliedBy } from "./recovery.js";
import { RocksEngine, type RocksEngineOptions } from "./rocksdb-engine.js";
import { Shard } from "./shard.js";
import type { ShardOptions } from "./shard-options.js";

export type ShardOnDiskOptions = Omit<ShardOptions, "engine" | "log"> &
  Omit<RocksEngineOptions, "directory"> &
  Omit<FileCommitLogOptions, "directory"> & {
    /** For records read by key; absent or 0: none. */
    readonly recordCacheBytes?: number;
    /** Which partition this is; absent: a directory by itself, which is made at the first time. */
    readonly identity?: ShardIdentity;
    /** Told when the disk has no room for an open, so that the shard is only read; absent: then it is not opened. */
    readonly onReadOnly?: (error: DbError) => void;
    /** Puts another log in front of the one on disk, which it then owns; absent: there is none. */
    readonly replicate?: (local: CommitLog) => Promise<CommitLog>;
  };

/**
 * With `onReadOnly` and no byte left on the disk the shard is opened all the same, for reading: every commit is told
 * disk_full until it is opened again. Throws `partition_damaged` or `internal_error` with what to do when the directory
 * cannot be used.
 */
export async function openShardOnDisk(directory: string, options: ShardOnDiskOptions): Promise<Shard> {
  checkShardDirectory(directory, options.identity ?? null);
  const name = nameOf(options.identity);
  if (name !== null) removeLeft(name);
  const { rocks, isReadOnly } = await openEngine(join(directory, "rocksdb"), name, options);
  const { recordCacheBytes = 0 } = options;
  const layers = new LayeredEngine(rocks);
  const engine = recordCacheBytes > 0 ? new CachedEngine(layers, recordCacheBytes) : layers;
  try {
    const log = await openLog(join(directory, "log"), { ...options, isReadOnly, applied: appliedBy(engine) });
    const shard = await Shard.open({ ...options, engine, layers, log });
    await markOpened(directory);
    return shard;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function openLog(directory: string, options: ShardOnDiskOptions): Promise<CommitLog> {
  const local = await FileCommitLog.open({ ...options, directory });
  if (options.replicate === undefined) return local;
  try {
    return await options.replicate(local);
  } catch (error) {
    await local.close();
    throw error;
  }
}

interface OpenedEngine {
  readonly rocks: RocksEngine;
  readonly isReadOnly: boolean;
}

async function openEngine(directory: string, name: string | null, options: ShardOnDiskOptions): Promise<OpenedEngine> {
  try {
    return { rocks: await RocksEngine.open({ ...options, directory }), isReadOnly: false };
  } catch (error) {
    const { onReadOnly } = options;
    const isFull = error instanceof DbError && error.code === "disk_full";
    if (!isFull || name === null || onReadOnly === undefined) throw error;
    const rocks = await RocksEngine.open({
      ...options,
      directory: linkElsewhere(directory, name),
      afterClose: () => removeLeft(name),
    });
    onReadOnly(error);
    return { rocks, isReadOnly: true };
  }
}

/** Of the partition among all installations. */
function nameOf(identity: ShardIdentity | undefined): string | null {
  return identity === undefined ? null : `${identity.installation}-${identity.partition}`;
}
