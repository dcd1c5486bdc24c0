/**
 * A tenant's provider as it is stored: sealed under a key that is derived from the installation's secret, and bound to
 * its tenant. Called by the actor's TenantProviders; no state.
 */

import type { ProviderKind } from "../../protocol/provider-kinds.js";
import { keyFor, sealBytes, unsealBytes } from "../../protocol/sealing.js";

/** What a tenant chose. */
export interface OwnProvider {
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
}

/** `secret`: the installation's. */
export function sealingKey(secret: Uint8Array): Uint8Array {
  return keyFor(secret, "tessera/providers of tenants");
}

export function seal(own: OwnProvider, tenant: number, key: Uint8Array): Uint8Array {
  return sealBytes(Buffer.from(JSON.stringify(own)), boundTo(tenant), key);
}

/** Null: it was not sealed with this key for this tenant, or was changed. */
export function unseal(bytes: Uint8Array, tenant: number, key: Uint8Array): OwnProvider | null {
  const plain = unsealBytes(bytes, boundTo(tenant), key);
  return plain === null ? null : (JSON.parse(plain.toString()) as OwnProvider);
}

function boundTo(tenant: number): string {
  return `provider of tenant ${tenant}`;
}
