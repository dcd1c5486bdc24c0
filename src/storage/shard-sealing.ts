/**
 * Encryption of one shard on disk: its keys, and what stands before its engine and its log. Loaded by shard-on-disk.ts
 * only where storage.encryption is on.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { keyFor } from "../protocol/sealing.js";
import { FIRST_BRANCH } from "./branch-list.js";
import { destroyKeys } from "./destroy-keys.js";
import { makeDirectoryDurably } from "./disk.js";
import type { Engine } from "./engine.js";
import { KEYS_FOLDER, readShardFormat, type ShardIdentity } from "./format.js";
import type { LayeredEngine } from "./layered-engine.js";
import { SealedEngine } from "./sealed-engine.js";
import { type RecordSeal, recordSeal } from "./sealed-record.js";
import type { Shard } from "./shard.js";
import { TenantKeys } from "./tenant-keys.js";

/** Of the key that seals data keys. */
const PURPOSE = "tessera/data keys of tenants";

export interface ShardSealing {
  readonly keys: TenantKeys;
  readonly log: RecordSeal;
  engine(rocks: Engine): Engine;
  /** The shard is open: does what a crash has left undone. */
  opened(shard: Shard, layers: LayeredEngine): Promise<void>;
}

/**
 * `secret`: the installation's. Throws internal_error with what to do where the directory was made without encryption,
 * and partition_damaged where a key does not open.
 */
export async function openShardSealing(
  directory: string,
  secret: Uint8Array,
  identity: ShardIdentity | null,
): Promise<ShardSealing> {
  const folder = join(directory, KEYS_FOLDER);
  if (!existsSync(folder)) {
    if (existsSync(join(directory, "log")) || readShardFormat(directory)?.unopened !== true) throw plain(directory);
    await makeDirectoryDurably(folder, directory);
  }
  const keys = new TenantKeys(folder, keyFor(secret, PURPOSE), identity);
  return {
    keys,
    log: recordSeal(keys),
    engine: (rocks) => new SealedEngine(rocks, keys),
    async opened(shard, layers) {
      const ended = keys.tenants().filter((tenant) => tenant >= FIRST_BRANCH && layers.branchOf(tenant) === null);
      for (const tenant of ended) await destroyKeys(shard, tenant);
    },
  };
}

function plain(directory: string): DbError {
  return new DbError(
    "internal_error",
    `storage.encryption is on, and ${directory} was made without it. To encrypt what is there, back up the whole installation, ` +
      "start with an empty data directory and storage.encryption = true, and restore the backup there.",
  );
}
