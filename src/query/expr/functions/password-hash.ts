/**
 * crypt() and gen_salt() of pgcrypto: bcrypt and MD5-crypt. Bcrypt runs on the process's pool of threads, one call at a
 * time for each thread that asks, so that the pool is free for the disk. MD5-crypt gives way between calls.
 */
import { createHash, randomBytes } from "node:crypto";
import { sqlError } from "../../../protocol/errors.js";
import type { Value } from "../../../values/values.js";
import type { DeferredContext } from "../expr.js";

/** A call takes about 2^cost × 0.05 ms: at most 1.6 s. Nothing can end a call that has begun. */
const BCRYPT_COST_MAX = 15;
const BCRYPT_COST_DEFAULT = 6;
const SALTS = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BCRYPT_DIGITS = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** `rounds` 0: the usual number. Throws 22023, 0A000. */
export function newSalt(type: string, rounds: number): string {
  switch (type.toLowerCase()) {
    case "bf": {
      const cost = rounds === 0 ? BCRYPT_COST_DEFAULT : rounds;
      if (cost < 4 || cost > 31) throw sqlError("22023", "gen_salt: Incorrect number of rounds");
      refuseCost(cost);
      return `$2a$${String(cost).padStart(2, "0")}$${bcryptText(randomBytes(16))}`;
    }
    case "md5":
      if (rounds !== 0 && rounds !== 1000) throw sqlError("22023", "gen_salt: Incorrect number of rounds");
      return `$1$${Array.from(randomBytes(8), (byte) => SALTS[byte & 63]).join("")}`;
    case "des":
    case "xdes":
      throw noDes();
    default:
      throw sqlError("22023", "gen_salt: Unknown salt algorithm", { hint: "Known are bf and md5." });
  }
}

function refuseCost(cost: number): void {
  if (cost <= BCRYPT_COST_MAX) return;
  throw sqlError("54000", `a bcrypt cost of ${cost} is too high`, {
    hint: `The cost may be up to ${BCRYPT_COST_MAX}: each step more takes twice as long.`,
  });
}

const noDes = () =>
  sqlError("0A000", "passwords hashed with DES are not supported", { hint: "Use gen_salt('bf') or gen_salt('md5')." });

/** 16 bytes in 22 characters. */
function bcryptText(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += BCRYPT_DIGITS[(held >> bits) & 63];
    }
    held &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BCRYPT_DIGITS[(held << (6 - bits)) & 63];
}

let lastCall: Promise<unknown> = Promise.resolve();

/** The values of crypt(password, salt) for several calls. */
export async function crypted(
  [passwords, salts]: readonly (readonly Value[])[],
  count: number,
  context: DeferredContext,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  for (let i = 0; i < count; i++) {
    const [password, salt] = [passwords![i] as string, salts![i] as string];
    if (salt.startsWith("$1$")) {
      if (context.shouldYield()) await context.yieldTurn();
      values.push(md5Crypt(password, salt));
      continue;
    }
    const before = lastCall;
    const call = before.then(() => {
      context.checkpoint();
      return bcrypt(password, salt);
    });
    lastCall = call.catch(() => undefined);
    values.push(await call);
  }
  return values;
}

/** Throws 22023, 54000, 0A000. */
async function bcrypt(password: string, salt: string): Promise<string> {
  const match = /^\$2([abxy])\$(\d\d)\$([./A-Za-z0-9]{22})/.exec(salt);
  if (match === null || match[1] === "x") {
    if (!salt.startsWith("$") && /^(?:_[./A-Za-z0-9]{8}|[./A-Za-z0-9]{2})/.test(salt)) throw noDes();
    throw sqlError("22023", "invalid salt", { hint: "Make one with gen_salt('bf'), or give a hash made with it." });
  }
  const [, kind, digits, text] = match as unknown as [string, string, string, string];
  const cost = Number(digits);
  if (cost < 4 || cost > 31) throw sqlError("22023", "invalid salt");
  refuseCost(cost);
  // The versions differ in nothing that matters here; the hash has the name of the salt's.
  // Loaded with the first call: most servers have none.
  const { hash } = await import("@node-rs/bcrypt");
  return `$2${kind}${(await hash(password, cost, bcryptBytes(text))).slice(3)}`;
}

/** 22 characters as the 16 bytes that they stand for; of the last one two bits count. */
function bcryptBytes(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const character of text) {
    held = (held << 6) | BCRYPT_DIGITS.indexOf(character);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 255);
    held &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}

const md5 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const running = createHash("md5");
  for (const part of parts) running.update(part);
  return running.digest();
};

const MD5_ROUNDS = 1000;
const MD5_SALT_MAX = 8;
/** Bytes of the digest in the order in which they are written, three at a time. */
const MD5_ORDER = [0, 6, 12, 1, 7, 13, 2, 8, 14, 3, 9, 15, 4, 10, 5];

/** Poul-Henning Kamp's MD5-crypt (FreeBSD's crypt-md5.c). */
function md5Crypt(password: string, setting: string): string {
  const salt = setting.slice(3).split("$")[0]!.slice(0, MD5_SALT_MAX);
  const bytes = Buffer.from(password);
  const first = md5(bytes, salt, bytes);
  const parts: Uint8Array[] = [bytes, Buffer.from(`$1$${salt}`)];
  for (let left = bytes.length; left > 0; left -= 16) parts.push(first.subarray(0, Math.min(16, left)));
  for (let bits = bytes.length; bits > 0; bits >>= 1) {
    parts.push((bits & 1) !== 0 ? Buffer.of(0) : bytes.subarray(0, 1));
  }
  let result = md5(...parts);
  for (let round = 0; round < MD5_ROUNDS; round++) {
    const pieces: (string | Uint8Array)[] = [(round & 1) !== 0 ? bytes : result];
    if (round % 3 !== 0) pieces.push(salt);
    if (round % 7 !== 0) pieces.push(bytes);
    pieces.push((round & 1) !== 0 ? result : bytes);
    result = md5(...pieces);
  }
  let text = "";
  for (let i = 0; i < 5; i++) {
    const [a, b, c] = [MD5_ORDER[3 * i]!, MD5_ORDER[3 * i + 1]!, MD5_ORDER[3 * i + 2]!];
    text += sixBits((result[a]! << 16) | (result[b]! << 8) | result[c]!, 4);
  }
  return `$1$${salt}$${text}${sixBits(result[11]!, 2)}`;
}

function sixBits(number: number, characters: number): string {
  let text = "";
  for (let i = 0; i < characters; i++) text += SALTS[(number >> (6 * i)) & 63];
  return text;
}
