/** Opens a partition's shard on disk: its commit log and, behind it, RocksDB. The only place that knows the layout. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { CachedEngine } from "./cached-engine.js";
import type { CommitLog } from "./commit-log.js";
import { linkElsewhere, removeLeft } from "./engine-elsewhere.js";
import { FileCommitLog, type FileCommitLogOptions } from "./file-commit-log.js";
import { checkShardDirectory, KEYS_FOLDER, markOpened, type ShardIdentity } from "./format.js";
import { LayeredEngine } from "./layered-engine.js";
import { appliedBy } from "./recovery.js";
import { RocksEngine, type RocksEngineOptions } from "./rocksdb-engine.js";
import { Shard } from "./shard.js";
import type { ShardOptions } from "./shard-options.js";
import type { ShardSealing } from "./shard-sealing.js";

export type ShardOnDiskOptions = Omit<ShardOptions, "engine" | "log" | "keys"> &
  Omit<RocksEngineOptions, "directory"> &
  Omit<FileCommitLogOptions, "directory" | "seal"> & {
    /** For records read by key; absent or 0: none. */
    readonly recordCacheBytes?: number;
    /** Which partition this is; absent: a directory by itself, which is made at the first time. */
    readonly identity?: ShardIdentity;
    /** The installation's, where what is stored is encrypted (storage.encryption); absent: it is not. */
    readonly secret?: Uint8Array | null;
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
  const { recordCacheBytes = 0, secret = null, identity = null } = options;
  const sealing = await openSealing(directory, secret, identity);
  const { rocks, isReadOnly } = await openEngine(join(directory, "rocksdb"), name, options);
  try {
    const layers = new LayeredEngine(sealing?.engine(rocks) ?? rocks);
    const engine = recordCacheBytes > 0 ? new CachedEngine(layers, recordCacheBytes) : layers;
    const seal = sealing?.log ?? null;
    const log = await openLog(join(directory, "log"), { ...options, isReadOnly, seal, applied: appliedBy(engine) });
    const shard = await Shard.open({ ...options, engine, layers, log, keys: sealing?.keys ?? null });
    if (!isReadOnly) await sealing?.opened(shard, layers);
    await markOpened(directory);
    return shard;
  } catch (error) {
    await rocks.close();
    throw error;
  }
}

/** What encrypts the shard; null: nothing does, and no code for it is loaded. */
async function openSealing(
  directory: string,
  secret: Uint8Array | null,
  identity: ShardIdentity | null,
): Promise<ShardSealing | null> {
  if (secret !== null) return (await import("./shard-sealing.js")).openShardSealing(directory, secret, identity);
  if (!existsSync(join(directory, KEYS_FOLDER))) return null;
  throw new DbError("internal_error", `${directory} is encrypted: set storage.encryption = true to open it.`);
}

async function openLog(
  directory: string,
  options: ShardOnDiskOptions & Pick<FileCommitLogOptions, "seal">,
): Promise<CommitLog> {
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
      filesAtClose: false,
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
