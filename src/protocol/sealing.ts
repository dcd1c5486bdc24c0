/**
 * Stored secrets: encrypted (AES-256-GCM, NIST SP 800-38D) and bound to their owner. Keys for a purpose are derived
 * (HKDF, RFC 5869). Called by whoever stores a secret; no state.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + IV_BYTES + TAG_BYTES;

/** 32 bytes for that purpose alone. */
export function keyFor(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", purpose, 32));
}

/** Tells keys apart without telling them: 16 hexadecimal digits. */
export function keyId(key: Uint8Array): string {
  return createHash("sha256").update(keyFor(key, "tessera/id of a key")).digest("hex").slice(0, 16);
}

/** [version][iv][tag][plain, encrypted]. `owner`: what it belongs to; for another one it cannot be opened. */
export function sealBytes(plain: Uint8Array, owner: string, key: Uint8Array): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(owner));
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), text]);
}

/** Null: it was not sealed with this key for this owner, or was changed. */
export function unsealBytes(sealed: Uint8Array, owner: string, key: Uint8Array): Buffer | null {
  if (sealed[0] !== VERSION || sealed.length <= HEAD_BYTES) return null;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 1 + IV_BYTES))
    .setAAD(Buffer.from(owner))
    .setAuthTag(sealed.subarray(1 + IV_BYTES, HEAD_BYTES));
  try {
    const head = decipher.update(sealed.subarray(HEAD_BYTES));
    return Buffer.concat([head, decipher.final()]);
  } catch {
    return null;
  }
}
