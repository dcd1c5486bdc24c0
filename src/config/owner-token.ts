/**
 * An access token for whoever has the data directory, which its files let them make. Called by the command line before
 * it starts a server of its own there. Opens partition 0's shard, where the directory is, under the data directory's
 * lock.
 */
import { existsSync } from "node:fs";
import { read } from "../directory/directory-context.js";
import { getUserByName } from "../directory/directory-store.js";
import { signInTokens } from "../directory/sign-in-tokens.js";
import type { Config } from "../protocol/config.js";
import { DbError } from "../protocol/errors.js";
import { readInstallation } from "../storage/installation.js";
import { partitionDirectory } from "../storage/partition-directory.js";
import { openShardOnDisk } from "../storage/shard-on-disk.js";
import { lockDataDirectory } from "./data-lock.js";
import { openSecret } from "./sealed-secret.js";

const LIFETIME_SECONDS = 86_400;

/**
 * Null: there is no installation yet. Throws `DataDirectoryError` when a server is running there, and `not_found` when
 * there is no such user.
 */
export async function ownerToken(config: Config, username: string): Promise<string | null> {
  const { dir } = config.data;
  const directory = partitionDirectory(dir, 0);
  if (!existsSync(directory)) return null;
  const unlock = lockDataDirectory(dir);
  try {
    const id = readInstallation(dir)?.id;
    const shard = await openShardOnDisk(directory, {
      ...(id === undefined ? {} : { identity: { installation: id, partition: 0 } }),
      secret: config.storage.encryption ? openSecret(dir, config.secrets) : null,
      segmentBytes: config.storage.logSegmentBytes,
      retentionBytes: config.storage.logRetentionBytes,
    });
    try {
      const user = read({ begin: (readOnly) => shard.begin({ readOnly }) }, (tx) => getUserByName(tx, username));
      if (user === undefined) throw new DbError("not_found", `User "${username}" does not exist.`);
      return signInTokens(openSecret(dir, config.secrets)).access(user, Date.now(), LIFETIME_SECONDS);
    } finally {
      await shard.close();
    }
  } finally {
    unlock();
  }
}
