/**
 * Users whom an issuer vouches for. Each is stored when first seen, so that an administrator can see and disable it,
 * and so that what it makes has an owner; what it may do comes from the claims. Called by the `Directory`.
 */
import { createHash } from "node:crypto";
import type { SignedIn } from "../protocol/accounts.js";
import { DbError } from "../protocol/errors.js";
import type { Identity, Role } from "../protocol/identity.js";
import { USERNAME_CHARACTERS_MAX } from "../protocol/limits.js";
import type { Transaction } from "../storage/store.js";
import { type DirectoryContext, read, write } from "./directory-context.js";
import { addUser, allTenantRecords, getTenant, getUser, getUserByName, putUser } from "./directory-store.js";
import { identityOf } from "./identities.js";
import { isAsDescribed, type KnownProvider } from "./oidc-providers.js";
import type { FederatedRecord, UserRecord } from "./records.js";
import { checkMaySignIn, signedInAnswer } from "./sign-in.js";

/** What verified claims say. */
export interface FederatedUser extends Omit<FederatedRecord, "provider" | "issuer"> {
  /** Whose description gave the claims their meaning. */
  readonly by: KnownProvider;
  readonly tenantId: string;
  /** As the issuer calls the user; here the provider's name comes before it. */
  readonly name: string;
  readonly email: string | null;
  readonly roles: readonly Role[];
  /** Milliseconds since 1970, with the clocks' difference that is allowed for. */
  readonly expiresAtMs: number;
}

export interface FederatedAnswer {
  readonly identity: Identity;
  readonly isNew: boolean;
}

/**
 * By a bearer token: its own claims count, not those of the last sign-in. null: the provider is described otherwise by
 * now, so they have to be read anew.
 */
export function federatedIdentity(context: DirectoryContext, who: FederatedUser): FederatedAnswer | null {
  const expiring = (identity: Identity): Identity => ({ ...identity, expiresAtMs: who.expiresAtMs });
  // The description and the identity's version are of one moment: a change that comes later is announced later.
  const known = read(context, (tx) => {
    if (!isAsDescribed(context, tx, who.by)) return null;
    const user = getUser(tx, idOf(who));
    return user === undefined ? "new" : identityOf(context, tx, claimed(user, who));
  });
  if (known === null) return null;
  if (known !== "new") return { identity: expiring(known), isNew: false };
  const made = write(context, (tx) =>
    isAsDescribed(context, tx, who.by) ? identityOf(context, tx, stored(context, tx, who)) : null,
  );
  return made && { identity: expiring(made), isNew: true };
}

/** The session that a sign-in with a password makes, too. */
export function federatedLogin(context: DirectoryContext, who: FederatedUser): SignedIn {
  return write(context, (tx, announce) => {
    if (!isAsDescribed(context, tx, who.by)) {
      throw new DbError("sign_in_failed", "The provider's description has changed meanwhile; begin the sign-in anew.");
    }
    const user = claimed(stored(context, tx, who), who);
    checkMaySignIn(user, getTenant(tx, user.tenantId)!.disabled);
    const signedIn = { ...user, email: who.email, lastLogin: context.now() };
    putUser(tx, signedIn);
    // Earlier sessions have the new roles and claims from now on.
    announce({ kind: "user", userId: user.id });
    return signedInAnswer(context, signedIn);
  });
}

/**
 * The user has signed out at the issuer: sessions that sign-ins with this provider have made end. Answers the user's
 * name; null: there is none.
 */
export function endFederatedSessions(context: DirectoryContext, by: KnownProvider, subject: string): string | null {
  return write(context, (tx, announce) => {
    const tenants = by.tenant ?? by.spec.tenant;
    const ids = tenants === undefined ? allTenantRecords(tx).map(({ id }) => id) : [tenants];
    const users = ids.flatMap((tenantId) => getUser(tx, idOf({ by, tenantId, subject })) ?? []);
    const own = users.filter(({ federated }) => federated?.provider === by.key);
    for (const user of own) {
      putUser(tx, { ...user, tokenEpoch: user.tokenEpoch + 1 });
      announce({ kind: "user", userId: user.id });
    }
    return own[0]?.username ?? null;
  });
}

function claimed(user: UserRecord, { by, subject, memberOf, claims, roles }: FederatedUser): UserRecord {
  return { ...user, roles, federated: { provider: by.key, issuer: by.spec.issuer, subject, memberOf, claims } };
}

function idOf({ by, tenantId, subject }: Pick<FederatedUser, "by" | "tenantId" | "subject">): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([by.spec.issuer, tenantId, subject]))
    .digest("hex");
  return `oidc-${hash.slice(0, 32)}`;
}

/** Where a provider's users are of many tenants, each tenant has names of its own. */
function usernameOf({ by, tenantId, name }: FederatedUser): string {
  return by.spec.tenant_claim === undefined ? `${by.key}:${name}` : `${by.key}/${tenantId}:${name}`;
}

function stored(context: DirectoryContext, tx: Transaction, who: FederatedUser): UserRecord {
  const id = idOf(who);
  const { tenantId, email, roles } = who;
  const tenant = getTenant(tx, tenantId);
  if (tenant === undefined || tenant.ending) {
    throw new DbError("claim_unknown", `The token is of the tenant "${tenantId}", which does not exist.`);
  }
  const known = getUser(tx, id);
  if (known !== undefined) return known;
  const username = usernameOf(who);
  if (username.length > USERNAME_CHARACTERS_MAX) {
    throw new DbError("claim_unknown", `The user's name has more than ${USERNAME_CHARACTERS_MAX} characters.`);
  }
  if (getUserByName(tx, username) !== undefined) {
    throw new DbError(
      "claim_unknown",
      `"${username}" is another user of this issuer already. An administrator deletes that one first, or names a claim that is unique.`,
    );
  }
  context.newUsers.take(tenantId, tenant.rateLimit ?? null);
  const now = context.now();
  const user: UserRecord = {
    ...{ id, username, email, tenantId, companyId: tenantId, roles },
    ...{ passwordHash: "", isActive: true, isVerified: true, mfa: null },
    // Who was deleted and comes again has the same id: sessions of then do not come back.
    ...{ createdAt: now, lastLogin: null, tokenEpoch: now },
  };
  const made = claimed(user, who);
  addUser(tx, made);
  return made;
}
