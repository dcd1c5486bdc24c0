/**
 * The directory's part in backups of the whole installation: what such a backup has of it, and putting that into
 * another installation. Tenants get their content first, under numbers that nobody can address yet; one transaction at
 * the end makes them known. Called by the `Directory`; state is in the records.
 */
import { DbError } from "../protocol/errors.js";
import { SYSTEM_TENANT } from "../protocol/identity.js";
import type { Transaction } from "../storage/store.js";
import { type DirectoryContext, read, write } from "./directory-context.js";
import {
  addApiKey,
  addOidcProvider,
  addUser,
  getInstallation,
  getTenant,
  getUserByName,
  listAllApiKeys,
  listAllOidcProviders,
  listAllUsers,
  listSchedules,
  listTenants,
  oidcProviderFor,
  putInstallation,
  putSchedule,
  putTenant,
  removeOidcProvider,
  removeSchedule,
  removeUser,
} from "./directory-store.js";
import { leastLoaded } from "./placement.js";
import type {
  ApiKeyRecord,
  InstallationRecord,
  OidcProviderRecord,
  ScheduleRecord,
  TenantRecord,
  UserRecord,
} from "./records.js";
import { requireDeleted } from "./tenant-deletion.js";

export interface WholeRecords {
  readonly createdAt: number;
  readonly tenants: readonly TenantRecord[];
  readonly users: readonly UserRecord[];
  readonly apiKeys: readonly ApiKeyRecord[];
  readonly schedules: readonly ScheduleRecord[];
  readonly oidcProviders: readonly OidcProviderRecord[];
}

export interface RestorePlan {
  /** The backup's id. */
  readonly backup: string;
  /** Null: everything, accounts and all, into an installation that has nothing. */
  readonly tenants: readonly string[] | null;
  /** Named tenants that are here already lose their content. */
  readonly replace: boolean;
}

/** Where the content of a tenant of the backup goes. */
export interface PlannedTenant {
  readonly tenantId: string;
  readonly number: number;
  readonly partition: number;
  /** The installation knows it already. */
  readonly isKnown: boolean;
}

const EVERYTHING = { limit: Number.POSITIVE_INFINITY };

export function readWhole(context: DirectoryContext): WholeRecords {
  return read(context, (tx) => ({
    createdAt: getInstallation(tx)!.createdAt,
    tenants: listTenants(tx, EVERYTHING).records.filter(({ ending }) => !ending),
    users: listAllUsers(tx),
    apiKeys: listAllApiKeys(tx),
    schedules: listSchedules(tx),
    oidcProviders: listAllOidcProviders(tx),
  }));
}

/**
 * Decides where the tenants go, and keeps their numbers from others. Throws conflict when the installation is not empty
 * and no tenants are named, or when named ones are in the way; not_found when the backup has no such tenant.
 */
export function planRestore(context: DirectoryContext, records: WholeRecords, plan: RestorePlan): PlannedTenant[] {
  return write(context, (tx) => {
    const installation = getInstallation(tx)!;
    const known = listTenants(tx, EVERYTHING).records;
    const planned =
      plan.tenants === null
        ? planAll(context, records, known)
        : planNamed(context, records, plan, new Map(known.map((tenant) => [tenant.id, tenant])), installation);
    if (plan.tenants !== null) refuseTakenNames(records, planned, (name) => getUserByName(tx, name) !== undefined);
    for (const { tenantId, number } of planned) requireDeleted(tx, { id: tenantId, number });
    const highest = Math.max(...planned.map(({ number }) => number));
    putInstallation(tx, {
      ...installation,
      nextTenantNumber: Math.max(installation.nextTenantNumber, highest + 1),
    });
    return planned;
  });
}

function planAll(
  { partitions }: DirectoryContext,
  { tenants }: WholeRecords,
  known: readonly TenantRecord[],
): PlannedTenant[] {
  const other = known.find(({ id }) => id !== SYSTEM_TENANT);
  if (other !== undefined) {
    throw new DbError(
      "conflict",
      `The installation is not empty: it has the tenant "${other.id}". Restore into a new installation, or name the tenants to restore ("tenants").`,
      { field: "tenants" },
    );
  }
  const system = known[0]!;
  // By its number, so that doing it again after a crash finds what was left.
  return tenants.map(({ id, number }) =>
    id === SYSTEM_TENANT
      ? { tenantId: id, number: system.number, partition: system.partition, isKnown: true }
      : { tenantId: id, number, partition: number % partitions, isKnown: false },
  );
}

function planNamed(
  { partitions }: DirectoryContext,
  records: WholeRecords,
  { tenants, replace }: RestorePlan,
  known: ReadonlyMap<string, TenantRecord>,
  { nextTenantNumber, tenantsPerPartition }: InstallationRecord,
): PlannedTenant[] {
  let number = nextTenantNumber;
  const counts = Array.from({ length: partitions }, (_, partition) => tenantsPerPartition[partition] ?? 0);
  return [...new Set(tenants)].map((tenantId) => {
    if (!records.tenants.some(({ id }) => id === tenantId)) {
      throw new DbError("not_found", `tenants: the backup has no tenant "${tenantId}".`, { field: "tenants" });
    }
    const here = known.get(tenantId);
    if (here !== undefined) {
      if (!replace) {
        const message = `Tenant "${tenantId}" already exists. Send "replace": true to replace its content with the backup's.`;
        throw new DbError("conflict", message, { field: "replace" });
      }
      return { tenantId, number: here.number, partition: here.partition, isKnown: true };
    }
    const partition = leastLoaded(counts, []);
    counts[partition]!++;
    return { tenantId, number: number++, partition, isKnown: false };
  });
}

/** Of two providers with the same issuer and audience the one that is here stays. */
function addIfFree(tx: Transaction, provider: OidcProviderRecord): void {
  const { issuer, audience } = provider.spec;
  if (audience.every((each) => oidcProviderFor(tx, issuer, each) === undefined)) addOidcProvider(tx, provider);
}

/** Names of users are unique in an installation. */
function refuseTakenNames(
  { users }: WholeRecords,
  planned: readonly PlannedTenant[],
  isTaken: (name: string) => boolean,
): void {
  const added = new Set(planned.filter(({ isKnown }) => !isKnown).map(({ tenantId }) => tenantId));
  const taken = users.find(({ tenantId, username }) => added.has(tenantId) && isTaken(username));
  if (taken === undefined) return;
  throw new DbError(
    "conflict",
    `User "${taken.username}" of tenant "${taken.tenantId}" has a name that is already taken. Delete that user first, or create the tenant and restore its content with "replace".`,
  );
}

/**
 * Every planned tenant has its content: from this commit on the installation knows them, and their users and keys.
 * Throws conflict if other changes got in the way.
 */
export function finishRestore(
  context: DirectoryContext,
  records: WholeRecords,
  plan: RestorePlan,
  planned: readonly PlannedTenant[],
): void {
  write(context, (tx, announce) => {
    const installation = getInstallation(tx)!;
    const isAll = plan.tenants === null;
    const known = listTenants(tx, EVERYTHING).records;
    if (isAll) {
      planAll(context, records, known);
      // With their keys.
      for (const user of listAllUsers(tx)) removeUser(tx, user);
      for (const { id } of listSchedules(tx)) removeSchedule(tx, id);
      for (const schedule of records.schedules) putSchedule(tx, schedule);
      for (const provider of listAllOidcProviders(tx)) removeOidcProvider(tx, provider);
    } else refuseTakenNames(records, planned, (name) => getUserByName(tx, name) !== undefined);
    const counts = Array.from(
      { length: Math.max(context.partitions, installation.tenantsPerPartition.length) },
      (_, partition) => installation.tenantsPerPartition[partition] ?? 0,
    );
    for (const { tenantId, number, partition, isKnown } of planned) {
      if (isKnown && !isAll) continue;
      if (!isKnown && getTenant(tx, tenantId) !== undefined) {
        throw new DbError("conflict", `Tenant "${tenantId}" was created by somebody else in the meantime.`);
      }
      const record = records.tenants.find(({ id }) => id === tenantId)!;
      putTenant(tx, { ...record, number, partition });
      if (!isKnown) counts[partition]!++;
      for (const user of records.users) if (user.tenantId === tenantId) addUser(tx, user);
      for (const provider of records.oidcProviders) {
        if (provider.tenantId === tenantId) addIfFree(tx, provider);
      }
      for (const key of records.apiKeys) if (key.tenantId === tenantId) addApiKey(tx, key);
    }
    const { createdAt } = isAll ? records : installation;
    putInstallation(tx, { ...installation, createdAt, tenantsPerPartition: counts });
    announce({ kind: "all" });
  });
}
