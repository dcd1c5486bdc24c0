/**
 * Verifiers of SCRAM-SHA-256 (RFC 5802, RFC 7677): what is kept of a password so that a client can prove that it knows
 * it and never sends it. Kept beside the password's hash, in PostgreSQL's form
 * (`SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`), and sealed where the installation's secret is itself sealed.
 * Called by the directory's sign-in and user administration; no state.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { keyFor, sealBytes, unsealBytes } from "../protocol/sealing.js";
import type { DeriveKey } from "./derive-key.js";
import { usernameKey } from "./directory-store.js";

export interface ScramVerifier {
  readonly salt: Buffer;
  readonly iterations: number;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

export interface ScramVerifiers {
  /** What is stored of it. Throws `overloaded` when too many runs wait. */
  make(userId: string, password: string): Promise<string>;
  /** Null: there is none, or it was sealed under another secret. */
  open(userId: string, stored: string | undefined): ScramVerifier | null;
  /**
   * Whether one is to be made of the next password that is seen: there is none that can be read, or the configured cost
   * has changed.
   */
  isOutdated(userId: string, stored: string | undefined): boolean;
  /** Of a user who does not exist: the same salt each time, so that names cannot be probed. Nothing proves it. */
  pretended(username: string): ScramVerifier;
}

export interface ScramOptions {
  readonly secret: Uint8Array;
  readonly sealsNew: boolean;
  readonly iterations: number;
  readonly deriveKey: DeriveKey;
}

const SALT_BYTES = 16;
const KEY_BYTES = 32;
const MARK = "sealed:";
const FORM = /^SCRAM-SHA-256\$(\d+):([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)$/;

export function scramVerifiers({ secret, sealsNew, iterations, deriveKey }: ScramOptions): ScramVerifiers {
  const sealKey = keyFor(secret, "tessera/SCRAM verifiers");
  const pretenceKey = keyFor(secret, "tessera/SCRAM salts of nobody");
  const ownerOf = (userId: string) => `SCRAM verifier of ${userId}`;
  const open = (userId: string, stored: string | undefined): ScramVerifier | null => {
    if (stored === undefined) return null;
    if (!stored.startsWith(MARK)) return parse(stored);
    const plain = unsealBytes(Buffer.from(stored.slice(MARK.length), "base64"), ownerOf(userId), sealKey);
    return plain === null ? null : parse(plain.toString());
  };
  return {
    async make(userId, password) {
      const salt = randomBytes(SALT_BYTES);
      const text = format(
        verifierOf(await deriveKey({ password, salt, cost: { iterations }, length: KEY_BYTES }), salt, iterations),
      );
      return sealsNew ? MARK + sealBytes(Buffer.from(text), ownerOf(userId), sealKey).toString("base64") : text;
    },
    open,
    isOutdated: (userId, stored) => open(userId, stored)?.iterations !== iterations,
    pretended(username) {
      const of = (what: string) => hmac(pretenceKey, `${what} of ${usernameKey(username)}`);
      const salt = of("salt").subarray(0, SALT_BYTES);
      return { salt, iterations, storedKey: of("stored key"), serverKey: of("server key") };
    },
  };
}

function verifierOf(saltedPassword: Uint8Array, salt: Buffer, iterations: number): ScramVerifier {
  const storedKey = sha256(hmac(saltedPassword, "Client Key"));
  return { salt, iterations, storedKey, serverKey: hmac(saltedPassword, "Server Key") };
}

/** RFC 5802, chapter 3: the client's key is in the proof, under a signature that only the stored key gives. */
export function isProof({ storedKey }: ScramVerifier, authMessage: string, proof: Uint8Array): boolean {
  if (proof.length !== KEY_BYTES) return false;
  const signature = hmac(storedKey, authMessage);
  const clientKey = signature.map((byte, i) => byte ^ proof[i]!);
  return timingSafeEqual(sha256(clientKey), storedKey);
}

/** By which the client sees that the server knows it. */
export function serverSignature({ serverKey }: ScramVerifier, authMessage: string): Buffer {
  return hmac(serverKey, authMessage);
}

function format({ salt, iterations, storedKey, serverKey }: ScramVerifier): string {
  const text = (bytes: Buffer) => bytes.toString("base64");
  return `SCRAM-SHA-256$${iterations}:${text(salt)}$${text(storedKey)}:${text(serverKey)}`;
}

function parse(stored: string): ScramVerifier {
  const match = FORM.exec(stored);
  if (match === null) throw new Error("a stored SCRAM verifier is not in its format");
  const [, iterations, salt, storedKey, serverKey] = match as unknown as [string, string, string, string, string];
  const bytes = (text: string) => Buffer.from(text, "base64");
  return {
    salt: bytes(salt),
    iterations: Number(iterations),
    storedKey: bytes(storedKey),
    serverKey: bytes(serverKey),
  };
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
