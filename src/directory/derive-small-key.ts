/**
 * Keys whose computing takes less than a thread for it takes to start: a low cost of passwords, and what SCRAM keeps.
 * They are computed in libuv's pool, where storage's fsyncs run, too: each holds one of its threads for a few
 * milliseconds. workers/actor.ts asks first.
 */
import { pbkdf2, scrypt } from "node:crypto";
import { promisify } from "node:util";
import type { DeriveKeyJob } from "./derive-key.js";

/** 2 MiB, and some five milliseconds. */
const LOG_N_MAX = 11;
/** The default; some five milliseconds, too. */
const ITERATIONS_MAX = 15_000;
/** SASLprep leaves such passwords as they are; for others its tables are loaded. */
const PLAIN = /^[\x20-\x7e]+$/;

const derive = { scrypt: promisify<string, Uint8Array, number, object, Buffer>(scrypt), pbkdf2: promisify(pbkdf2) };

/** Null for a job that a task thread should do. The same key as `deriveKey` gives. */
export function deriveSmallKey({ password, salt, cost, length }: DeriveKeyJob): Promise<Uint8Array> | null {
  if ("iterations" in cost) {
    if (cost.iterations > ITERATIONS_MAX || !PLAIN.test(password)) return null;
    return derive.pbkdf2(password, salt, cost.iterations, length, "sha256");
  }
  const { logN, r, p } = cost;
  if (logN > LOG_N_MAX || r > 8 || p > 1) return null;
  return derive.scrypt(password.normalize("NFC"), salt, length, { N: 2 ** logN, r, p });
}
