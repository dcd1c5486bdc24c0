/**
 * Passwords: scrypt (RFC 7914) through node:crypto, kept as PHC strings (`$scrypt$ln=15,r=8,p=1$salt$hash`).
 * The hasher owns a small queue, because every run takes 32 MiB and one of the few threads of libuv's pool, which
 * storage needs too. Called by the directory's sign-in and user administration.
 */

import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { DbError } from "../protocol/errors.js";
import { PASSWORD_BYTES_MAX, PASSWORD_CHARACTERS_MIN } from "../protocol/limits.js";

/** scrypt's parameters; N is 2 to the power of `logN`. */
export interface PasswordCost {
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MiB and about a tenth of a second per run, as OWASP's password storage guide advises (2^15, 8, with p lowered). */
export const DEFAULT_PASSWORD_COST: PasswordCost = { logN: 15, r: 8, p: 1 };

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
  /** scrypt runs at a time. */
  readonly inFlightMax: number;
  /** Runs that may wait for their turn. */
  readonly waitingMax: number;
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
  const { cost } = options;
  const enter = boundedTurns(options.inFlightMax, options.waitingMax);
  const absentUser = format(cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      return format(cost, salt, await enter(() => derive(password, salt, cost, HASH_BYTES)));
    },
    async verify(password, stored) {
      if (isTooLong(password)) return { matches: false, outdated: false };
      const { cost: kept, salt, hash } = parse(stored ?? absentUser);
      const derived = await enter(() => derive(password, salt, kept, hash.length));
      const matches = timingSafeEqual(derived, hash) && stored !== undefined;
      return { matches, outdated: kept.logN < cost.logN || kept.r < cost.r || kept.p < cost.p };
    },
  };
}

function isTooLong(password: string): boolean {
  return password.length > PASSWORD_BYTES_MAX || Buffer.byteLength(password) > PASSWORD_BYTES_MAX;
}

/** Characters are composed first (NFC, RFC 8265's OpaqueString), so that one password typed on two systems is one. */
function derive(password: string, salt: Uint8Array, cost: PasswordCost, length: number): Promise<Buffer> {
  const N = 2 ** cost.logN;
  // scrypt needs 128·N·r bytes and a little more; Node's default bound is exactly too small for N = 2^15, r = 8.
  const maxmem = 128 * cost.r * (N + cost.p + 2) * 2;
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFC"), salt, length, { N, r: cost.r, p: cost.p, maxmem }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
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

/** Runs at most `inFlightMax` works at a time, in order of arrival; refuses more than `waitingMax` waiting ones. */
function boundedTurns(inFlightMax: number, waitingMax: number): <T>(work: () => Promise<T>) => Promise<T> {
  let inFlight = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (inFlight < inFlightMax) {
      inFlight++;
    } else {
      if (waiting.length >= waitingMax) {
        throw new DbError("overloaded", "Too many sign-ins are waiting; retry shortly.", { retry_after_seconds: 1 });
      }
      // The turn that ends hands its place over, so `inFlight` stays as it is.
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) inFlight--;
      else next();
    }
  };
}
