/**
 * Secrets of second factors as they are stored: sealed, and bound to their user, where the installation's secret is
 * itself sealed. Called by mfa.ts and credential-checks.ts; no state.
 */
import { DbError } from "../protocol/errors.js";
import { keyFor, sealBytes, unsealBytes } from "../protocol/sealing.js";
import type { Transaction } from "../storage/store.js";
import { listAllUsers, putUser } from "./directory-store.js";

const MARK = "sealed:";

export interface FactorSecrets {
  /** What is stored of it. */
  seal(userId: string, secret: string): string;
  /** Throws `internal_error` when it was sealed under another secret of the installation. */
  open(userId: string, stored: string): string;
}

export function factorSecrets(installationSecret: Uint8Array, sealsNew: boolean): FactorSecrets {
  const key = keyFor(installationSecret, "tessera/second factors");
  const ownerOf = (userId: string) => `second factor of ${userId}`;
  return {
    seal: (userId, secret) =>
      sealsNew ? MARK + sealBytes(Buffer.from(secret), ownerOf(userId), key).toString("base64") : secret,
    open(userId, stored) {
      if (!stored.startsWith(MARK)) return stored;
      const plain = unsealBytes(Buffer.from(stored.slice(MARK.length), "base64"), ownerOf(userId), key);
      if (plain !== null) return plain.toString();
      throw new DbError(
        "internal_error",
        "The second factor cannot be read because the installation's secret has changed.",
        {
          hint: "An administrator can remove it with tessera reset-password --clear-mfa.",
        },
      );
    },
  };
}

/** Those that were stored before there was a key. */
export function sealStoredFactors(tx: Transaction, factors: FactorSecrets): void {
  for (const user of listAllUsers(tx)) {
    if (user.mfa === null || user.mfa.secret.startsWith(MARK)) continue;
    putUser(tx, { ...user, mfa: { ...user.mfa, secret: factors.seal(user.id, user.mfa.secret) } });
  }
}
