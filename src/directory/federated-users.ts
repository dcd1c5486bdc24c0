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
import { addUser, getTenant, getUser, getUserByName, putUser } from "./directory-store.js";
import { identityOf } from "./identities.js";
import type { FederatedRecord, UserRecord } from "./records.js";
import { checkMaySignIn, signedInAnswer } from "./sign-in.js";

/** What verified claims say. */
export interface FederatedUser extends FederatedRecord {
  readonly tenantId: string;
  /** As the issuer calls the user; here the provider's name comes before it. */
  readonly name: string;
  readonly email: string | null;
  readonly roles: readonly Role[];
  /** Milliseconds since 1970, with the clocks' difference that is allowed for. */
  readonly expiresAtMs: number;
}

/** By a bearer token: its own claims count, not those of the last sign-in. */
export function federatedIdentity(
  context: DirectoryContext,
  who: FederatedUser,
): { readonly identity: Identity; readonly isNew: boolean } {
  const known = read(context, (tx) => {
    const user = getUser(tx, idOf(who));
    return user === undefined ? null : identityOf(context, tx, claimed(user, who));
  });
  const identity = known ?? write(context, (tx) => identityOf(context, tx, stored(context, tx, who)));
  return { identity: { ...identity, expiresAtMs: who.expiresAtMs }, isNew: known === null };
}

/** The session that a sign-in with a password makes, too. */
export function federatedLogin(context: DirectoryContext, who: FederatedUser): SignedIn {
  return write(context, (tx, announce) => {
    const user = claimed(stored(context, tx, who), who);
    checkMaySignIn(user, getTenant(tx, user.tenantId)!.disabled);
    const signedIn = { ...user, email: who.email, lastLogin: context.now() };
    putUser(tx, signedIn);
    // Earlier sessions have the new roles and claims from now on.
    announce({ kind: "user", userId: user.id });
    return signedInAnswer(context, signedIn);
  });
}

function claimed(user: UserRecord, { provider, issuer, subject, memberOf, claims, roles }: FederatedUser): UserRecord {
  return { ...user, roles, federated: { provider, issuer, subject, memberOf, claims } };
}

function idOf({ issuer, tenantId, subject }: FederatedUser): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([issuer, tenantId, subject]))
    .digest("hex");
  return `oidc-${hash.slice(0, 32)}`;
}

function stored(context: DirectoryContext, tx: Transaction, who: FederatedUser): UserRecord {
  const id = idOf(who);
  const { tenantId, email, roles } = who;
  if (getTenant(tx, tenantId) === undefined) {
    throw new DbError("claim_unknown", `The token is of the tenant "${tenantId}", which does not exist.`);
  }
  const known = getUser(tx, id);
  if (known !== undefined) return known;
  const username = `${who.provider}:${who.name}`;
  if (username.length > USERNAME_CHARACTERS_MAX) {
    throw new DbError("claim_unknown", `The user's name has more than ${USERNAME_CHARACTERS_MAX} characters.`);
  }
  if (getUserByName(tx, username) !== undefined) {
    throw new DbError(
      "claim_unknown",
      `"${username}" is another user of this issuer already. An administrator deletes that one first, or names a claim that is unique.`,
    );
  }
  const user: UserRecord = {
    ...{ id, username, email, tenantId, companyId: tenantId, roles },
    ...{ passwordHash: "", isActive: true, isVerified: true, mfa: null },
    ...{ createdAt: context.now(), lastLogin: null, tokenEpoch: 0 },
  };
  const made = claimed(user, who);
  addUser(tx, made);
  return made;
}
