/** Opens a partition's shard on disk: its commit log and, behind it, RocksDB. The only place that knows the layout. */
import { join } from "node:path";
import { CachedEngine } from "./cached-engine.js";
import { FileCommitLog, type FileCommitLogOptions } from "./file-commit-log.js";
import { checkShardDirectory, markOpened, type ShardIdentity } from "./format.js";
import { RocksEngine, type RocksEngineOptions } from "./rocksdb-engine.js";
import { Shard, type ShardOptions } from "./shard.js";

export type ShardOnDiskOptions = Omit<ShardOptions, "engine" | "log"> &
  Omit<RocksEngineOptions, "directory"> &
  Omit<FileCommitLogOptions, "directory"> & {
    /** For records read by key; absent or 0: none. */
    readonly recordCacheBytes?: number;
    /** Which partition this is; absent: a directory by itself, which is made at the first time. */
    readonly identity?: ShardIdentity;
  };

/** Throws `partition_damaged` or `internal_error` with what to do when the directory cannot be used. */
export async function openShardOnDisk(directory: string, options: ShardOnDiskOptions): Promise<Shard> {
  checkShardDirectory(directory, options.identity ?? null);
  const rocks = await RocksEngine.open({ ...options, directory: join(directory, "rocksdb") });
  const { recordCacheBytes = 0 } = options;
  const engine = recordCacheBytes > 0 ? new CachedEngine(rocks, recordCacheBytes) : rocks;
  try {
    const log = await FileCommitLog.open({ ...options, directory: join(directory, "log") });
    const shard = await Shard.open({ ...options, engine, log });
    markOpened(directory);
    return shard;
  } catch (error) {
    await engine.close();
    throw error;
  }
}
