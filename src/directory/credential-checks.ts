/**
 * Checks of a password or a code that the throttle counts: every guess, whatever route it comes by, goes through here.
 * Called by sign-in.ts and mfa.ts.
 */

import { DbError } from "../protocol/errors.js";
import type { DirectoryContext } from "./directory-context.js";
import { usernameKey } from "./directory-store.js";
import { useRecoveryCode, useTimeCode } from "./one-time-code.js";
import type { MfaRecord, UserRecord } from "./records.js";

/** Whose guesses are counted together. */
export function loginSubject(username: string, remoteAddress: string): string {
  return `login\n${usernameKey(username)}\n${remoteAddress}`;
}

/** Signed-in callers who confirm their password are counted apart: a stolen token must not be able to guess on. */
export function confirmSubject(userId: string): string {
  return `confirm\n${userId}`;
}

/**
 * Whether the password is the user's, and whether its hash wants renewing. An unknown user costs the same time.
 * Throws `rate_limited` or `overloaded`.
 */
export async function checkPassword(
  context: DirectoryContext,
  subject: string,
  password: string,
  user: UserRecord | undefined,
): Promise<{ matches: boolean; outdated: boolean }> {
  const attempt = context.throttle.attempt(subject);
  let answer: { matches: boolean; outdated: boolean };
  try {
    // An issuer's user has no hash, and is as one who does not exist.
    answer = await context.hasher.verify(password, user?.passwordHash || undefined);
  } catch (error) {
    attempt.abandoned();
    throw error;
  }
  if (answer.matches) attempt.succeeded();
  else attempt.failed();
  return answer;
}

/** What is stored of a password that the user has from now on. Throws `overloaded`. */
export async function passwordSecrets(
  { hasher, verifiers }: DirectoryContext,
  userId: string,
  password: string,
): Promise<Pick<UserRecord, "passwordHash" | "scram">> {
  const passwordHash = await hasher.hash(password);
  return { passwordHash, scram: await verifiers.make(userId, password) };
}

/**
 * The second factor with the code used up. Throws `invalid_credentials` or `rate_limited`. Counted per user whatever
 * the address, because whoever guesses here has shown the password or a token already.
 */
export function takeCode(
  context: DirectoryContext,
  userId: string,
  mfa: MfaRecord,
  code: string,
  recoveryCodes: "recovery codes too" | "time codes only",
): MfaRecord {
  const attempt = context.throttle.attempt(`code\n${userId}`);
  const used =
    useTimeCode(mfa, code, context.now(), context.factors.open(userId, mfa.secret)) ??
    (recoveryCodes === "recovery codes too" ? useRecoveryCode(mfa, code) : null);
  if (used === null) {
    attempt.failed();
    throw new DbError("invalid_credentials", "The code is wrong or was already used.");
  }
  attempt.succeeded();
  return used;
}
