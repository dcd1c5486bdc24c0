/**
 * A tenant's provider as it is stored: encrypted (AES-256-GCM, NIST SP 800-38D) under a key that is derived (HKDF,
 * RFC 5869) from the installation's key file, and bound to its tenant. Called by the actor's TenantProviders; no state.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { ProviderKind } from "./provider-settings.js";

/** What a tenant chose. */
export interface OwnProvider {
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
}

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** `secret`: the content of the installation's key file. */
export function sealingKey(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, "", "tessera/providers of tenants", 32));
}

/** [version][iv][tag][JSON, encrypted]. */
export function seal(own: OwnProvider, tenant: number, key: Uint8Array): Uint8Array {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(boundTo(tenant));
  const text = Buffer.concat([cipher.update(JSON.stringify(own), "utf8"), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), text]);
}

/** Null: it was not sealed with this key for this tenant, or was changed. */
export function unseal(bytes: Uint8Array, tenant: number, key: Uint8Array): OwnProvider | null {
  if (bytes[0] !== VERSION || bytes.length <= 1 + IV_BYTES + TAG_BYTES) return null;
  const iv = bytes.subarray(1, 1 + IV_BYTES);
  const tag = bytes.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", key, iv).setAAD(boundTo(tenant)).setAuthTag(tag);
  try {
    const head = decipher.update(bytes.subarray(1 + IV_BYTES + TAG_BYTES));
    return JSON.parse(Buffer.concat([head, decipher.final()]).toString()) as OwnProvider;
  } catch {
    return null;
  }
}

function boundTo(tenant: number): Buffer {
  return Buffer.from(`provider of tenant ${tenant}`);
}
