/** What is there under the keys of a commit, before it. For layered-engine.ts. */
import { tenantOfKey } from "./keys.js";
import type { Operation } from "./operation.js";

/**
 * The values of keys that are wanted, read together for each tenant, in the order of the operations. Null: of one that
 * is not wanted.
 */
export function valuesBefore(
  operations: readonly Operation[],
  wants: (tenant: number, key: Uint8Array) => boolean,
  read: (tenant: number, keys: readonly Uint8Array[]) => readonly (Uint8Array | undefined)[],
): readonly (Uint8Array | undefined | null)[] {
  const found = new Array<Uint8Array | undefined | null>(operations.length).fill(null);
  const places = new Map<number, number[]>();
  for (const [i, { key }] of operations.entries()) {
    const tenant = tenantOfKey(key);
    if (!wants(tenant, key)) continue;
    const ofTenant = places.get(tenant);
    if (ofTenant === undefined) places.set(tenant, [i]);
    else ofTenant.push(i);
  }
  for (const [tenant, ofTenant] of places) {
    const values = read(
      tenant,
      ofTenant.map((i) => operations[i]!.key),
    );
    for (const [j, i] of ofTenant.entries()) found[i] = values[j];
  }
  return found;
}
