/** Places new tenants, and makes the switch at the end of a move. Called by the `Directory`. */
import type { PartitionLoad } from "../protocol/placement.js";
import { type DirectoryContext, read } from "./directory-context.js";
import { getInstallation, getTenantByNumber, putInstallation, putTenant } from "./directory-store.js";
import { existingTenant } from "./users.js";

export interface TenantPlace {
  readonly number: number;
  readonly partition: number;
}

/** Differences below these steps do not count. */
const LOAD_STEP = 0.1;
const BYTES_STEP = 1024 ** 3;

/**
 * The partition for a new tenant: of those whose actors have used the least time lately, the one that holds the least,
 * then the one with the fewest tenants, then the first. Idle installations of little data go by tenants alone.
 */
export function leastLoaded(tenantsPerPartition: readonly number[], loads: readonly PartitionLoad[]): number {
  const rank = tenantsPerPartition.map((tenants, partition) => {
    const load = loads.find((one) => one.partition === partition);
    // If loads of others are known, a partition without a report is not serving at the moment.
    const isSilent = load === undefined && loads.length > 0 ? 1 : 0;
    const busy = Math.floor((load?.actorLoad ?? 0) / LOAD_STEP);
    const stored = Math.floor((load?.storedBytes ?? 0) / BYTES_STEP);
    return { isSilent, busy, stored, tenants, partition };
  });
  rank.sort(
    (a, b) =>
      a.isSilent - b.isSilent ||
      a.busy - b.busy ||
      a.stored - b.stored ||
      a.tenants - b.tenants ||
      a.partition - b.partition,
  );
  return rank[0]!.partition;
}

/** Throws `tenant_not_found`. */
export function placeOfTenant(context: DirectoryContext, id: string): TenantPlace {
  return read(context, (tx) => {
    const { number, partition } = existingTenant(tx, id);
    return { number, partition };
  });
}

/** The partition of the tenant of that number; null when there is none. */
export function partitionOfNumber(context: DirectoryContext, number: number): number | null {
  return read(context, (tx) => getTenantByNumber(tx, number)?.partition ?? null);
}

/** How many tenants each partition has. */
export function tenantsPerPartition(context: DirectoryContext): readonly number[] {
  return read(context, (tx) => {
    const counts = getInstallation(tx)!.tenantsPerPartition;
    return Array.from({ length: Math.max(context.partitions, counts.length) }, (_, i) => counts[i] ?? 0);
  });
}

/**
 * The tenant is in partition `to` from this commit on. The returned function announces it, which must wait until the
 * commit is on disk: what is acknowledged in the new place must not be looked for in the old one after a crash.
 */
export function relocateTenant(context: DirectoryContext, id: string, to: number): () => void {
  const tx = context.begin(false);
  try {
    const tenant = existingTenant(tx, id);
    const installation = getInstallation(tx)!;
    const counts = [...installation.tenantsPerPartition];
    while (counts.length <= to) counts.push(0);
    counts[tenant.partition]!--;
    counts[to]!++;
    putInstallation(tx, { ...installation, tenantsPerPartition: counts });
    putTenant(tx, { ...tenant, partition: to });
    const version = tx.commit();
    return () => context.onIdentityChanged({ kind: "moved", tenantId: id, partition: to, version });
  } catch (error) {
    tx.rollback();
    throw error;
  }
}
