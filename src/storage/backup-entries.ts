/**
 * A tenant's entries as backups store them: without the tenant's number, so that a backup can be restored under
 * another one.
 */
import { SPACE, tenantPrefix } from "./keys.js";
import type { Operation } from "./operation.js";

const TENANT_BYTES = 4;

/**
 * Answers that are kept for retries belong to requests, not to the data; the removal of a branch is no part of its
 * tenant's.
 */
export function isBackedUp(key: Uint8Array): boolean {
  const space = key[TENANT_BYTES];
  return space !== SPACE.idempotency && !(space === SPACE.retired && !isOfOwn(key));
}

/** A key of the space "retired" that speaks of its own tenant's. */
function isOfOwn(key: Uint8Array): boolean {
  const at = TENANT_BYTES + 1;
  return Buffer.compare(key.subarray(0, TENANT_BYTES), key.subarray(at, at + TENANT_BYTES)) === 0;
}

/**
 * The removal of a branch, as earlier backups have it: taken for the tenant's own it would remove all of the tenant.
 */
export function isOfBranch(inner: Uint8Array): boolean {
  return inner[0] === SPACE.retired && inner.length === 1;
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
