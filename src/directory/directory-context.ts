/**
 * The context that every part of the directory uses, and the two ways in which it touches records. Made once by the
 * `Directory`, which owns it.
 */

import type { AuthConfig } from "../protocol/config.js";
import type { IdentityChange } from "../protocol/identity.js";
import type { Transaction } from "../storage/store.js";
import type { ClientSecrets } from "./client-secrets.js";
import type { FactorSecrets } from "./factor-secrets.js";
import type { LoginThrottle } from "./login-throttle.js";
import type { NewUserPace } from "./new-user-pace.js";
import type { PasswordHasher } from "./password.js";
import type { ScramVerifiers } from "./scram.js";
import type { SignInTokens } from "./sign-in-tokens.js";

export interface DirectoryContext {
  /** A transaction on partition 0's shard. */
  readonly begin: (readOnly: boolean) => Transaction;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly config: AuthConfig;
  /** How many partitions new tenants are placed on. */
  readonly partitions: number;
  readonly onIdentityChanged: (change: IdentityChange) => void;
  readonly hasher: PasswordHasher;
  readonly verifiers: ScramVerifiers;
  readonly throttle: LoginThrottle;
  readonly newUsers: NewUserPace;
  readonly tokens: SignInTokens;
  readonly factors: FactorSecrets;
  readonly clientSecrets: ClientSecrets;
}

type Unversioned<T> = T extends unknown ? Omit<T, "version"> : never;
/** Notes a change that the gateway must hear of once it is committed. */
export type Announce = (change: Unversioned<IdentityChange>) => void;

export function read<T>(context: Pick<DirectoryContext, "begin">, work: (tx: Transaction) => T): T {
  const tx = context.begin(true);
  try {
    return work(tx);
  } finally {
    tx.rollback();
  }
}

/**
 * Runs `work` in one transaction, commits it and announces what it noted. Nothing may be awaited inside, so no other
 * transaction of this actor comes between and the commit cannot conflict.
 */
export function write<T>(context: DirectoryContext, work: (tx: Transaction, announce: Announce) => T): T {
  const tx = context.begin(false);
  const changes: Unversioned<IdentityChange>[] = [];
  let result: T;
  try {
    result = work(tx, (change) => changes.push(change));
  } catch (error) {
    tx.rollback();
    throw error;
  }
  const version = tx.commit();
  for (const change of changes) context.onIdentityChanged({ ...change, version });
  return result;
}
