/** What is there under the keys of a commit, before it. For layered-engine.ts. */
import { isOfPast, tenantOfKey } from "./keys.js";
import type { Operation } from "./operation.js";

/**
 * The values of keys of tenants whose past is kept, read together for each tenant, in the order of the operations.
 * Null: nothing is kept of the key.
 */
export function valuesBefore(
  operations: readonly Operation[],
  keeps: (tenant: number) => boolean,
  read: (tenant: number, keys: readonly Uint8Array[]) => readonly (Uint8Array | undefined)[],
): readonly (Uint8Array | undefined | null)[] {
  const found = new Array<Uint8Array | undefined | null>(operations.length).fill(null);
  const byTenant = new Map<number, { readonly places: number[]; readonly keys: Uint8Array[] }>();
  let tenant = -1;
  let of: { readonly places: number[]; readonly keys: Uint8Array[] } | undefined;
  for (let i = 0; i < operations.length; i++) {
    const { key } = operations[i]!;
    if (tenantOfKey(key) !== tenant) {
      tenant = tenantOfKey(key);
      of = byTenant.get(tenant);
      if (of === undefined && keeps(tenant)) {
        of = { places: [], keys: [] };
        byTenant.set(tenant, of);
      }
    }
    if (of === undefined || !isOfPast(key)) continue;
    of.places.push(i);
    of.keys.push(key);
  }
  for (const [tenant, { places, keys }] of byTenant) {
    const values = read(tenant, keys);
    for (let j = 0; j < places.length; j++) found[places[j]!] = values[j];
  }
  return found;
}
