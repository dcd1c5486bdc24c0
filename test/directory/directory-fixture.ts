/** A directory on a shard in memory, with a clock that tests set and cheap password hashes. */

import { loadConfig } from "../../src/config/load-config.js";
import { deriveKey } from "../../src/directory/derive-key.js";
import { Directory, type DirectoryOptions } from "../../src/directory/directory.js";
import type { SignedIn } from "../../src/protocol/accounts.js";
import type { IdentityChange } from "../../src/protocol/identity.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";

export const ADMIN_PASSWORD = "correct horse battery";
export const SECRET = new Uint8Array(32).fill(7);
export const CHEAP = { logN: 4, r: 8, p: 1 };
export const SECOND = 1000;
export const HOUR = 3600 * SECOND;

export interface Fixture {
  readonly directory: Directory;
  readonly shard: Shard;
  /** Milliseconds; tests add to it. */
  readonly clock: { now: number };
  /** What was announced, oldest first. */
  readonly changes: IdentityChange[];
  /** Another directory over the same records, as after a restart. */
  reopen(options?: Partial<DirectoryOptions>): Directory;
  signIn(username: string, password: string): Promise<SignedIn>;
}

export async function openShard(): Promise<Shard> {
  return Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
}

/** With tenant `system`, user `admin` and `ADMIN_PASSWORD`. */
export async function openDirectory(
  env: Record<string, string> = {},
  options: Partial<DirectoryOptions> = {},
): Promise<Fixture> {
  const shard = await openShard();
  const clock = { now: Date.parse("2026-01-01T00:00:00Z") };
  const changes: IdentityChange[] = [];
  const reopen = (more: Partial<DirectoryOptions> = {}) =>
    new Directory({
      begin: (readOnly) => shard.begin({ readOnly }),
      deriveKey: async (job) => deriveKey(job),
      now: () => clock.now,
      secret: SECRET,
      config: loadConfig({ env }).auth,
      partitions: 1,
      onIdentityChanged: (change) => changes.push(change),
      passwordCost: CHEAP,
      ...options,
      ...more,
    });
  const directory = reopen();
  await directory.bootstrap({ adminPassword: ADMIN_PASSWORD });
  const signIn = async (username: string, password: string) => {
    const answer = await directory.login({ username, password, remoteAddress: "192.0.2.1" });
    if ("mfa_required" in answer) throw new Error("a second factor was asked for");
    return answer;
  };
  return { directory, shard, clock, changes, reopen, signIn };
}
