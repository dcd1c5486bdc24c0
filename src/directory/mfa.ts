/**
 * Enrolling, confirming and removing a user's second factor. Called by the `Directory`; state is in the user's record.
 */

import type { MfaEnrolment, UserView } from "../protocol/accounts.js";
import { DbError } from "../protocol/errors.js";
import type { Transaction } from "../storage/store.js";
import { checkPassword, confirmSubject, takeCode } from "./credential-checks.js";
import { type DirectoryContext, read, write } from "./directory-context.js";
import { getUser, putUser } from "./directory-store.js";
import { newSecondFactor, otpauthUrl } from "./one-time-code.js";
import type { UserRecord } from "./records.js";
import { requirePassword, userView } from "./views.js";

/** Makes a new secret, which counts only after `confirmMfa`; an unconfirmed earlier one is replaced. */
export function enrolMfa(context: DirectoryContext, userId: string): MfaEnrolment {
  return write(context, (tx) => {
    const user = existingUser(tx, userId);
    requirePassword(user);
    if (user.mfa?.enabled) {
      throw new DbError("conflict", "An authenticator already exists for this user; disable it first.");
    }
    const { mfa, recoveryCodes } = newSecondFactor();
    putUser(tx, { ...user, mfa: { ...mfa, secret: context.factors.seal(userId, mfa.secret) } });
    return { secret: mfa.secret, otpauth_url: otpauthUrl(mfa, user.username), recovery_codes: recoveryCodes };
  });
}

/** Switches the second factor on with its first code. Throws `invalid_credentials` on a wrong one. */
export function confirmMfa(context: DirectoryContext, userId: string, code: string): UserView {
  return write(context, (tx) => {
    const user = existingUser(tx, userId);
    if (user.mfa === null) throw new DbError("invalid_request", "There is no enrolment to confirm; enrol first.");
    if (user.mfa.enabled) throw new DbError("conflict", "The authenticator already exists and is confirmed.");
    const mfa = takeCode(context, userId, user.mfa, code, "time codes only");
    const enrolled = { ...user, mfa: { ...mfa, enabled: true } };
    putUser(tx, enrolled);
    return userView(enrolled);
  });
}

/** Needs the password and a code (or a recovery code), so that neither a stolen token nor one factor is enough. */
export async function disableMfa(
  context: DirectoryContext,
  userId: string,
  proof: { readonly code: string; readonly password: string },
): Promise<UserView> {
  const found = read(context, (tx) => existingUser(tx, userId));
  if (!found.mfa?.enabled) throw new DbError("invalid_request", "No authenticator is enabled for this user.");
  const { matches } = await checkPassword(context, confirmSubject(userId), proof.password, found);
  if (!matches) throw new DbError("invalid_credentials", "The password is wrong.");
  return write(context, (tx) => {
    const user = existingUser(tx, userId);
    if (!user.mfa?.enabled) throw new DbError("invalid_request", "No authenticator is enabled for this user.");
    takeCode(context, userId, user.mfa, proof.code, "recovery codes too");
    const without = { ...user, mfa: null };
    putUser(tx, without);
    return userView(without);
  });
}

function existingUser(tx: Transaction, userId: string): UserRecord {
  const user = getUser(tx, userId);
  if (user === undefined) throw new DbError("not_found", "The user does not exist.");
  return user;
}
