/**
 * The end of a tenant in the directory. From the first commit on nobody finds it by its id, and its credentials are
 * worth nothing. Its accounts are removed some at a time, because there may be many; then its record goes. What it has
 * in partitions is removed after that (features/placement/tenant-deletions.ts). Called by the `Directory`; state is in
 * the records.
 */
import { randomUUID } from "node:crypto";
import { DbError } from "../protocol/errors.js";
import { SYSTEM_TENANT } from "../protocol/identity.js";
import type { Transaction } from "../storage/store.js";
import { type DirectoryContext, write } from "./directory-context.js";
import {
  getInstallation,
  getTenant,
  listDeletions,
  listOidcProviders,
  listSchedules,
  putDeletion,
  putInstallation,
  putTenant,
  removeMove,
  removeOidcProvider,
  removeSchedule,
  removeTenant,
  removeUser,
  someUsers,
} from "./directory-store.js";
import type { DeletionRecord } from "./records.js";
import { existingTenant } from "./users.js";

/** Users of one commit. */
const USERS_AT_ONCE = 32;

/** For who would make a tenant of that id, or number. Throws conflict until nothing is left of the one that was. */
export function requireDeleted(
  tx: Transaction,
  { id, number }: { readonly id: string; readonly number?: number },
): void {
  const isIt = ({ tenantId, tenant }: DeletionRecord) => tenantId === id || tenant === number;
  const deletion = listDeletions(tx).find((each) => each.finishedAt === null && isIt(each));
  if (deletion === undefined) return;
  const { tenantId } = deletion;
  const hint = `GET /admin/tenants/${tenantId}/deletion tells when that is done.`;
  throw new DbError("conflict", `Tenant "${tenantId}" is still being deleted.`, { hint, retry_after_seconds: 1 });
}

/** Throws tenant_not_found, conflict (the system tenant). */
export function beginDeletion(context: DirectoryContext, id: string, left: readonly number[]): DeletionRecord {
  return write(context, (tx, announce) => {
    const tenant = existingTenant(tx, id);
    if (id === SYSTEM_TENANT) {
      throw new DbError("conflict", "The system tenant owns the installation and cannot be deleted.");
    }
    const deletion: DeletionRecord = {
      ...{ id: randomUUID(), tenantId: id, tenant: tenant.number, accountsGone: false, left },
      ...{ startedAt: context.now(), finishedAt: null },
    };
    putTenant(tx, { ...tenant, disabled: true, ending: true });
    putDeletion(tx, deletion);
    announce({ kind: "tenant", tenantId: id, ended: true });
    return deletion;
  });
}

/** With their keys. False: none is left. */
export function removeSomeAccounts(context: DirectoryContext, tenantId: string): boolean {
  return write(context, (tx) => {
    const users = someUsers(tx, tenantId, USERS_AT_ONCE);
    for (const user of users) removeUser(tx, user);
    return users.length > 0;
  });
}

/** Its number is never used again. */
export function forgetTenant(context: DirectoryContext, deletion: DeletionRecord): DeletionRecord {
  const { tenantId, tenant: number } = deletion;
  return write(context, (tx, announce) => {
    const tenant = getTenant(tx, tenantId)!;
    const installation = getInstallation(tx)!;
    const tenantsPerPartition = [...installation.tenantsPerPartition];
    tenantsPerPartition[tenant.partition]!--;
    putInstallation(tx, { ...installation, tenantsPerPartition });
    for (const provider of listOidcProviders(tx, tenantId)) removeOidcProvider(tx, provider);
    for (const schedule of listSchedules(tx)) if (schedule.tenantId === tenantId) removeSchedule(tx, schedule.id);
    removeMove(tx, number);
    removeTenant(tx, tenant);
    const forgotten = { ...deletion, accountsGone: true };
    putDeletion(tx, forgotten);
    // Whoever asked meanwhile was told of a tenant that is disabled.
    announce({ kind: "tenant", tenantId, ended: true });
    return forgotten;
  });
}
