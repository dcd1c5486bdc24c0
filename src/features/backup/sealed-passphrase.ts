/**
 * The passphrase of a schedule as it is stored: AES-256-GCM (NIST SP 800-38D) under a key that is derived (HKDF,
 * RFC 5869) from the installation's key file, and bound to its schedule. No state.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;

function keyOf(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", "tessera/passphrases of schedules", 32));
}

/** Base64 of iv · tag · ciphertext. */
export function sealPassphrase(passphrase: string, schedule: string, secret: Uint8Array): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret), iv).setAAD(Buffer.from(schedule));
  const text = Buffer.concat([cipher.update(passphrase, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64");
}

/** Null: it was sealed with another key file or for another schedule, or was changed. */
export function unsealPassphrase(sealed: string, schedule: string, secret: Uint8Array): string | null {
  const bytes = Buffer.from(sealed, "base64");
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv("aes-256-gcm", keyOf(secret), bytes.subarray(0, IV_BYTES));
    decipher.setAAD(Buffer.from(schedule)).setAuthTag(tag);
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString();
  } catch {
    return null;
  }
}
