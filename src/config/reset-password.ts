/**
 * Sets a user's password while the server is stopped, for administrators who are locked out. Called by the command
 * line. Opens partition 0's shard, where the directory is, under the data directory's lock.
 */

import { existsSync } from "node:fs";
import { deriveKey } from "../directory/derive-key.js";
import { Directory } from "../directory/directory.js";
import { read } from "../directory/directory-context.js";
import { getUserByName } from "../directory/directory-store.js";
import type { Config } from "../protocol/config.js";
import { DbError } from "../protocol/errors.js";
import { readInstallation } from "../storage/installation.js";
import { partitionDirectory } from "../storage/partition-directory.js";
import type { Shard } from "../storage/shard.js";
import { openShardOnDisk } from "../storage/shard-on-disk.js";
import { DataDirectoryError, lockDataDirectory } from "./data-lock.js";
import { openSecret } from "./sealed-secret.js";

export interface ResetPasswordOptions {
  readonly config: Config;
  readonly username: string;
  /** A random one when absent. */
  readonly password?: string;
  /** Remove the second factor too, for who lost it. */
  readonly clearMfa?: boolean;
}

/**
 * Returns the new password; the user's tokens are revoked. Throws `DataDirectoryError` when a server is running or
 * there is no installation, `not_found` when there is no such user, `invalid_request` when the password is too short.
 */
export async function resetPassword(options: ResetPasswordOptions): Promise<string> {
  const { config, username } = options;
  const directory = partitionDirectory(config.data.dir, 0);
  if (!existsSync(directory)) throw new DataDirectoryError(`there is no installation in ${config.data.dir}`);
  const unlock = lockDataDirectory(config.data.dir);
  try {
    const id = readInstallation(config.data.dir)?.id;
    const shard = await openShardOnDisk(directory, {
      ...(id === undefined ? {} : { identity: { installation: id, partition: 0 } }),
      secret: config.storage.encryption ? openSecret(config.data.dir, config.secrets) : null,
      segmentBytes: config.storage.logSegmentBytes,
      retentionBytes: config.storage.logRetentionBytes,
    });
    try {
      return await resetIn(shard, options, username);
    } finally {
      // Makes the change durable.
      await shard.close();
    }
  } finally {
    unlock();
  }
}

async function resetIn(shard: Shard, options: ResetPasswordOptions, username: string): Promise<string> {
  const { config, password, clearMfa = false } = options;
  const begin = (readOnly: boolean) => shard.begin({ readOnly });
  const user = read({ begin }, (tx) => getUserByName(tx, username));
  if (user === undefined) throw new DbError("not_found", `User "${username}" does not exist.`);
  const accounts = new Directory({
    begin,
    // Nothing else runs, so the hash may be computed here.
    deriveKey: async (job) => deriveKey(job),
    now: Date.now,
    secret: openSecret(config.data.dir, config.secrets),
    sealsFactors: config.secrets.keyFile !== "",
    config: config.auth,
    // No tenant is placed here.
    partitions: 1,
    // No gateway is running that could have cached anything.
    onIdentityChanged: () => {},
  });
  const given = password === undefined ? {} : { password };
  const reset = await accounts.resetUserPassword(user.tenantId, user.id, { ...given, clearMfa });
  return reset.password ?? password!;
}
