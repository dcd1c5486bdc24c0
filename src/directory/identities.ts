/** Identities of users behind tokens, and of API keys, for the gateway to cache. Called by the `Directory`. */

import { administers, type Identity } from "../protocol/identity.js";
import type { Lead } from "../protocol/lead.js";
import type { Transaction } from "../storage/store.js";
import { type DirectoryContext, read } from "./directory-context.js";
import { getApiKeyByHash, getTenant, getUser } from "./directory-store.js";
import { isProviderThere } from "./oidc-providers.js";
import type { FederatedRecord, UserRecord } from "./records.js";

function claimedOf({ memberOf, claims }: Pick<FederatedRecord, "memberOf" | "claims">) {
  return { claims, ...(memberOf.length > 0 && { memberOf }) };
}

/** A key on a lead administers nothing, whoever made it. */
function boundsOfLead(lead: Lead, key: string, owner: Identity): Pick<Identity, "roles" | "memberOf" | "lead"> {
  const text = JSON.stringify({ ...lead, key, administrator: administers(owner) } satisfies Lead);
  return { roles: ["user"], ...(lead.role !== undefined && { memberOf: [lead.role] }), lead: text };
}

export function identityOfUser(context: DirectoryContext, userId: string): Identity | null {
  return read(context, (tx) => {
    const user = getUser(tx, userId);
    return user === undefined ? null : identityOf(context, tx, user);
  });
}

export function identityOfKeyHash(context: DirectoryContext, hash: string): Identity | null {
  return read(context, (tx) => {
    const key = getApiKeyByHash(tx, hash);
    if (key === undefined) return null;
    // A user's keys are removed with it.
    const owner = identityOf(context, tx, getUser(tx, key.userId)!);
    return {
      ...owner,
      keyId: key.id,
      permission: key.permission,
      ...(key.lead !== undefined && boundsOfLead(key.lead, key.id, owner)),
      active: owner.active && key.isActive,
      expiresAtMs: key.expiresAt,
    };
  });
}

export function identityOf(context: DirectoryContext, tx: Transaction, user: UserRecord): Identity {
  const tenant = getTenant(tx, user.tenantId)!;
  const { federated } = user;
  const hasIssuer = federated === undefined || isProviderThere(context, tx, federated);
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
    active: user.isActive && !tenant.disabled && hasIssuer,
    rateLimit: tenant.rateLimit ?? null,
    expiresAtMs: null,
    ...(federated !== undefined && claimedOf(federated)),
    version: tx.snapshot,
  };
}
