/**
 * scrypt (RFC 7914) as a task for a thread of its own: a tenth of a second of computing and 32 MiB that neither the
 * actor's loop nor the pool that storage's fsyncs run in should give. Also PBKDF2 (RFC 8018), for SCRAM.
 * workers/task.ts runs it.
 */
import { pbkdf2Sync, scryptSync } from "node:crypto";
import { saslprep } from "@mongodb-js/saslprep";

/** scrypt's parameters; N is 2 to the power of `logN`. */
export interface PasswordCost {
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

/** PBKDF2's, with HMAC-SHA-256. */
export interface IterationCost {
  readonly iterations: number;
}

export interface DeriveKeyJob {
  readonly password: string;
  readonly salt: Uint8Array;
  readonly cost: PasswordCost | IterationCost;
  /** Bytes of the key. */
  readonly length: number;
}

/** Runs the job elsewhere. Rejects with `overloaded` when too many jobs wait. */
export type DeriveKey = (job: DeriveKeyJob) => Promise<Uint8Array>;

/** Characters are composed first (NFC, RFC 8265's OpaqueString), so that one password typed on two systems is one. */
export function deriveKey({ password, salt, cost, length }: DeriveKeyJob): Uint8Array {
  if ("iterations" in cost) return pbkdf2Sync(preparedForSasl(password), salt, cost.iterations, length, "sha256");
  const N = 2 ** cost.logN;
  // scrypt needs 128·N·r bytes and a little more; Node's default bound is exactly too small for N = 2^15, r = 8.
  const maxmem = 128 * cost.r * (N + cost.p + 2) * 2;
  return scryptSync(password.normalize("NFC"), salt, length, { N, r: cost.r, p: cost.p, maxmem });
}

/**
 * SASLprep (RFC 4013); a password that it does not allow stays as it is, as PostgreSQL's clients and server have it.
 */
function preparedForSasl(password: string): string {
  try {
    return saslprep(password) || password;
  } catch {
    return password;
  }
}
