/** Identities of users behind tokens, and of API keys, for the gateway to cache. Called by the `Directory`. */

import type { Identity } from "../protocol/identity.js";
import type { Transaction } from "../storage/store.js";
import { type DirectoryContext, read } from "./directory-context.js";
import { getApiKeyByHash, getTenant, getUser } from "./directory-store.js";
import type { UserRecord } from "./records.js";

export function identityOfUser(context: DirectoryContext, userId: string): Identity | null {
  return read(context, (tx) => {
    const user = getUser(tx, userId);
    return user === undefined ? null : identityOf(tx, user);
  });
}

export function identityOfKeyHash(context: DirectoryContext, hash: string): Identity | null {
  return read(context, (tx) => {
    const key = getApiKeyByHash(tx, hash);
    if (key === undefined) return null;
    // A user's keys are removed with it.
    const owner = identityOf(tx, getUser(tx, key.userId)!);
    return {
      ...owner,
      keyId: key.id,
      permission: key.permission,
      active: owner.active && key.isActive,
      expiresAtMs: key.expiresAt,
    };
  });
}

function identityOf(tx: Transaction, user: UserRecord): Identity {
  const tenant = getTenant(tx, user.tenantId)!;
  return {
    userId: user.id,
    keyId: null,
    username: user.username,
    tenantId: tenant.id,
    companyId: user.companyId,
    tenantNumber: tenant.number,
    partition: tenant.partition,
    roles: user.roles,
    permission: "FullAccess",
    tokenEpoch: user.tokenEpoch,
    active: user.isActive && !tenant.disabled,
    rateLimit: tenant.rateLimit ?? null,
    expiresAtMs: null,
    version: tx.snapshot,
  };
}
