/**
 * Second factors: time-based codes (TOTP, RFC 6238: SHA-1, six digits, 30 seconds, as authenticator apps expect) and
 * recovery codes. Pure functions over a user's `MfaRecord`; mfa.ts and sign-in.ts call them and store what they return.
 */

import { createHash, randomBytes } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import type { MfaRecord } from "./records.js";

const ISSUER = "Tessera";
const PERIOD_SECONDS = 30;
/** Steps before and after the present one whose codes are taken, for clocks that differ. */
const WINDOW_STEPS = 1;
const RECOVERY_CODES = 10;
/** Lower-case base32 (RFC 4648): no character that is easily mistaken for another. */
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const RECOVERY_CODE_CHARACTERS = 10;

/** A new second factor that waits for its first right code, with the recovery codes to show once. */
export function newSecondFactor(): { mfa: MfaRecord; recoveryCodes: string[] } {
  const recoveryCodes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  const mfa: MfaRecord = {
    secret: new Secret({ size: 20 }).base32,
    enabled: false,
    lastUsedStep: 0,
    recoveryCodeHashes: recoveryCodes.map(recoveryCodeHash),
  };
  return { mfa, recoveryCodes };
}

/** The address that authenticator apps read from a QR code. */
export function otpauthUrl(mfa: MfaRecord, username: string): string {
  return new TOTP({ issuer: ISSUER, label: username, secret: mfa.secret, period: PERIOD_SECONDS }).toString();
}

/**
 * The second factor with the code marked as used, or null when the code is wrong, too old or was used before. `secret`:
 * in the open.
 */
export function useTimeCode(mfa: MfaRecord, code: string, nowMs: number, secret = mfa.secret): MfaRecord | null {
  const token = code.replaceAll(" ", "");
  if (!/^\d{6}$/.test(token)) return null;
  const delta = TOTP.validate({
    token,
    secret: Secret.fromBase32(secret),
    period: PERIOD_SECONDS,
    timestamp: nowMs,
    window: WINDOW_STEPS,
  });
  if (delta === null) return null;
  const step = Math.floor(nowMs / 1000 / PERIOD_SECONDS) + delta;
  // RFC 6238, section 5.2: a code must not be accepted a second time.
  return step > mfa.lastUsedStep ? { ...mfa, lastUsedStep: step } : null;
}

/** The second factor without the recovery code, or null when there is no such code (left). */
export function useRecoveryCode(mfa: MfaRecord, code: string): MfaRecord | null {
  const hash = recoveryCodeHash(code);
  if (!mfa.recoveryCodeHashes.includes(hash)) return null;
  return { ...mfa, recoveryCodeHashes: mfa.recoveryCodeHashes.filter((kept) => kept !== hash) };
}

function newRecoveryCode(): string {
  const characters = Array.from(randomBytes(RECOVERY_CODE_CHARACTERS), (byte) => ALPHABET[byte % ALPHABET.length]);
  return `${characters.slice(0, 5).join("")}-${characters.slice(5).join("")}`;
}

/** A fast hash is enough: a recovery code has 50 random bits. */
function recoveryCodeHash(code: string): string {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, "");
  return createHash("sha256").update(plain).digest("hex");
}
