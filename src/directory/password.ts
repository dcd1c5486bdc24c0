/**
 * Passwords: scrypt (RFC 7914), kept as PHC strings (`$scrypt$ln=15,r=8,p=1$salt$hash`). The computing itself is done
 * by a task thread (derive-key.ts). Called by the directory's sign-in and user administration.
 */

import { randomBytes, timingSafeEqual } from "node:crypto";
import { DbError } from "../protocol/errors.js";
import { PASSWORD_BYTES_MAX, PASSWORD_CHARACTERS_MIN } from "../protocol/limits.js";
import type { DeriveKey, PasswordCost } from "./derive-key.js";

/** scrypt's parameters for the configured cost. Its default, 15, takes 32 MiB and about a tenth of a second per run. */
export function passwordCost(logN: number): PasswordCost {
  return { logN, r: 8, p: 1 };
}

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PHC_FORM = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

export interface PasswordHasher {
  /** The string to keep. Throws `overloaded` when too many runs wait. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one that was hashed; `outdated` asks for a new hash. Without a stored hash (no such
   * user) the answer is no, after the same work. Throws `overloaded` when too many runs wait.
   */
  verify(password: string, stored: string | undefined): Promise<{ matches: boolean; outdated: boolean }>;
}

export interface PasswordHasherOptions {
  readonly cost: PasswordCost;
  readonly deriveKey: DeriveKey;
}

/** Throws `invalid_request` unless the password is long enough and not too long. */
export function checkNewPassword(password: string): void {
  if ([...password].length < PASSWORD_CHARACTERS_MIN) {
    throw new DbError("invalid_request", `The password must have at least ${PASSWORD_CHARACTERS_MIN} characters.`);
  }
  checkPasswordBytes(password);
}

/** Throws `invalid_request` when the password is longer than any that would be compared. */
export function checkPasswordBytes(password: string): void {
  if (isTooLong(password)) {
    throw new DbError("invalid_request", `The password must have at most ${PASSWORD_BYTES_MAX} bytes.`);
  }
}

/** A password that nobody needs to remember: 144 random bits. */
export function generatePassword(): string {
  return randomBytes(18).toString("base64url");
}

export function passwordHasher(options: PasswordHasherOptions): PasswordHasher {
  const { cost, deriveKey } = options;
  const absentUser = format(cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      return format(cost, salt, await deriveKey({ password, salt, cost, length: HASH_BYTES }));
    },
    async verify(password, stored) {
      if (isTooLong(password)) return { matches: false, outdated: false };
      const { cost: kept, salt, hash } = parse(stored ?? absentUser);
      const derived = await deriveKey({ password, salt, cost: kept, length: hash.length });
      const matches = timingSafeEqual(derived, hash) && stored !== undefined;
      return { matches, outdated: kept.logN < cost.logN || kept.r < cost.r || kept.p < cost.p };
    },
  };
}

function isTooLong(password: string): boolean {
  return password.length > PASSWORD_BYTES_MAX || Buffer.byteLength(password) > PASSWORD_BYTES_MAX;
}

function format(cost: PasswordCost, salt: Uint8Array, hash: Uint8Array): string {
  return `$scrypt$ln=${cost.logN},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}

function parse(stored: string): { cost: PasswordCost; salt: Buffer; hash: Buffer } {
  const match = PHC_FORM.exec(stored);
  if (match === null) throw new Error("a stored password hash is not in the scrypt format");
  const [, logN, r, p, salt, hash] = match as unknown as [string, string, string, string, string, string];
  return {
    cost: { logN: Number(logN), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, "base64"),
    hash: Buffer.from(hash, "base64"),
  };
}
