/**
 * Signing in: password, second factor, self-registration, changing one's password. Called by the `Directory`.
 * Between reading a user and writing it back a password is hashed, and the user may have changed meanwhile; so each
 * function reads the record again in the transaction that writes it.
 */

import type {
  LoginRequest,
  MfaRequired,
  RegisterRequest,
  SignedIn,
  UserView,
  VerifyMfaRequest,
} from "../protocol/accounts.js";
import { DbError } from "../protocol/errors.js";
import { USERNAME_CHARACTERS_MAX } from "../protocol/limits.js";
import type { Transaction } from "../storage/store.js";
import { checkPassword, confirmSubject, loginSubject, passwordSecrets, takeCode } from "./credential-checks.js";
import { type DirectoryContext, read, write } from "./directory-context.js";
import { getTenant, getUser, getUserByName, putUser } from "./directory-store.js";
import { checkNewPassword } from "./password.js";
import type { UserRecord } from "./records.js";
import { badMfaToken } from "./sign-in-tokens.js";
import { createUser } from "./users.js";
import { requirePassword, userView } from "./views.js";

/** Throws `invalid_credentials`, `forbidden` (disabled), `rate_limited` or `overloaded`. */
export async function login(context: DirectoryContext, request: LoginRequest): Promise<SignedIn | MfaRequired> {
  const { username, password, remoteAddress } = request;
  if (username.length > USERNAME_CHARACTERS_MAX) throw new DbError("invalid_credentials");
  const found = read(context, (tx) => getUserByName(tx, username));
  const subject = loginSubject(username, remoteAddress);
  const { matches, outdated } = await checkPassword(context, subject, password, found);
  if (!matches || found === undefined) throw new DbError("invalid_credentials");
  const renewed = await renewedSecrets(context, found, password, outdated);
  return write(context, (tx) => enter(context, tx, found, renewed));
}

/** What is stored of the password is made anew where it is missing or was made at another cost. */
async function renewedSecrets(
  { hasher, verifiers }: DirectoryContext,
  { id, scram }: UserRecord,
  password: string,
  outdated: boolean,
): Promise<Partial<UserRecord>> {
  return {
    ...(outdated ? { passwordHash: await hasher.hash(password) } : {}),
    ...(verifiers.isOutdated(id, scram) ? { scram: await verifiers.make(id, password) } : {}),
  };
}

/**
 * Lets in whoever has shown the password of the user as it was `found`, and stores what was `renewed`. Throws
 * `invalid_credentials` (the password was changed meanwhile), `forbidden`.
 */
export function enter(
  context: DirectoryContext,
  tx: Transaction,
  found: UserRecord,
  renewed: Partial<UserRecord>,
): SignedIn | MfaRequired {
  const user = getUser(tx, found.id);
  if (user === undefined || user.passwordHash !== found.passwordHash) throw new DbError("invalid_credentials");
  checkMaySignIn(user, getTenant(tx, user.tenantId)!.disabled);
  if (user.mfa?.enabled) {
    if (Object.keys(renewed).length > 0) putUser(tx, { ...user, ...renewed });
    const lifetime = context.config.mfaTokenLifetimeSeconds;
    const mfa_token = context.tokens.mfa(user, context.now(), lifetime);
    return { mfa_required: true, mfa_token, expires_in: lifetime };
  }
  const signedIn = { ...user, ...renewed, lastLogin: context.now() };
  putUser(tx, signedIn);
  return signedInAnswer(context, signedIn);
}

/**
 * The second step of a sign-in. Throws `unauthorized` (token), `invalid_credentials` (code), `forbidden`,
 * `rate_limited`.
 */
export function verifyMfa(context: DirectoryContext, request: VerifyMfaRequest): SignedIn {
  const { userId, epoch } = context.tokens.verifyMfa(request.mfa_token, context.now());
  return write(context, (tx) => {
    const user = getUser(tx, userId);
    if (!user?.mfa?.enabled || user.tokenEpoch !== epoch) throw badMfaToken();
    const mfa = takeCode(context, userId, user.mfa, request.code, "recovery codes too");
    checkMaySignIn(user, getTenant(tx, user.tenantId)!.disabled);
    const signedIn = { ...user, mfa, lastLogin: context.now() };
    putUser(tx, signedIn);
    return signedInAnswer(context, signedIn);
  });
}

/** Creates an unverified user in the configured tenant. Throws `forbidden` unless registration is on. */
export async function register(context: DirectoryContext, request: RegisterRequest): Promise<UserView> {
  const { enabled, tenant } = context.config.registration;
  if (!enabled) {
    throw new DbError(
      "forbidden",
      "Registration is switched off, so you do not have permission to create an account. Ask an administrator for one.",
    );
  }
  const { username, email, password } = request;
  return createUser(context, tenant, { username, email, password, roles: ["user"] }, false);
}

/** Revokes every token of the user, the caller's own too. Throws `invalid_credentials`, `invalid_request`. */
export async function changePassword(
  context: DirectoryContext,
  userId: string,
  oldPassword: string,
  newPassword: string,
): Promise<void> {
  const found = read(context, (tx) => getUser(tx, userId));
  if (found !== undefined) requirePassword(found);
  const { matches } = await checkPassword(context, confirmSubject(userId), oldPassword, found);
  if (!matches) throw new DbError("invalid_credentials", "The current password is wrong.");
  checkNewPassword(newPassword);
  const secrets = await passwordSecrets(context, userId, newPassword);
  write(context, (tx, announce) => {
    const user = getUser(tx, userId);
    if (user === undefined || user.passwordHash !== found?.passwordHash) throw new DbError("invalid_credentials");
    putUser(tx, { ...user, ...secrets, tokenEpoch: user.tokenEpoch + 1 });
    announce({ kind: "user", userId });
  });
}

export function checkMaySignIn(user: UserRecord, tenantDisabled: boolean): void {
  if (!user.isActive) {
    throw new DbError("forbidden", "The account is disabled; it has no permission to sign in.");
  }
  if (tenantDisabled) {
    throw new DbError("forbidden", `Tenant "${user.tenantId}" is disabled; its users have no permission to sign in.`);
  }
}

export function signedInAnswer(context: DirectoryContext, user: UserRecord): SignedIn {
  const lifetime = context.config.tokenLifetimeSeconds;
  return {
    access_token: context.tokens.access(user, context.now(), lifetime),
    token_type: "Bearer",
    expires_in: lifetime,
    user: userView(user),
  };
}
