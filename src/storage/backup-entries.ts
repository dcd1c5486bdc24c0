/**
 * A tenant's entries as backups store them: without the tenant's number, so that a backup can be restored under
 * another one.
 */
import { SPACE, tenantPrefix } from "./keys.js";
import type { Operation } from "./operation.js";

const TENANT_BYTES = 4;

/** Answers that are kept for retries belong to requests, not to the data. */
export function isBackedUp(key: Uint8Array): boolean {
  return key[TENANT_BYTES] !== SPACE.idempotency;
}

/**
 * The key without the tenant's number. A key of the space "retired" repeats the prefix that it speaks of, number and
 * all, so that one goes as well.
 */
export function keyInTenant(key: Uint8Array): Uint8Array {
  const inner = key.subarray(TENANT_BYTES);
  if (key[TENANT_BYTES] !== SPACE.retired) return inner;
  return Buffer.concat([inner.subarray(0, 1), inner.subarray(1 + TENANT_BYTES)]);
}

/** The key under that tenant's number. */
export function keyOfTenant(tenant: number, inner: Uint8Array): Buffer {
  const prefix = tenantPrefix(tenant);
  if (inner[0] !== SPACE.retired) return Buffer.concat([prefix, inner]);
  return Buffer.concat([prefix, inner.subarray(0, 1), prefix, inner.subarray(1)]);
}

/** Without the tenant's number, and without what is not backed up. */
export function operationsInTenant(operations: readonly Operation[]): Operation[] {
  return operations.filter(({ key }) => isBackedUp(key)).map(({ key, value }) => ({ key: keyInTenant(key), value }));
}
