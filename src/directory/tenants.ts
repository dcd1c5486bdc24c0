/** Tenants: first boot, create, list, change. Called by the `Directory`; state is in the records. */

import { randomUUID } from "node:crypto";
import type { CreateTenantRequest, Listed, Page, TenantView, UpdateTenantRequest } from "../protocol/accounts.js";
import { DbError } from "../protocol/errors.js";
import { type RateLimit, SYSTEM_TENANT, SYSTEM_TENANT_NUMBER } from "../protocol/identity.js";
import { TENANT_NAME_CHARACTERS_MAX } from "../protocol/limits.js";
import type { PartitionLoad } from "../protocol/placement.js";
import { passwordSecrets } from "./credential-checks.js";
import { type DirectoryContext, read, write } from "./directory-context.js";
import {
  addUser,
  boundedPage,
  getInstallation,
  getTenant,
  getTenantByNumber,
  listTenants,
  putInstallation,
  putTenant,
} from "./directory-store.js";
import { checkPasswordBytes, generatePassword } from "./password.js";
import { leastLoaded } from "./placement.js";
import type { TenantRecord } from "./records.js";
import { requireDeleted } from "./tenant-deletion.js";
import { existingTenant } from "./users.js";
import { tenantView } from "./views.js";

const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** See `Directory.bootstrap`. */
export async function bootstrap(
  context: DirectoryContext,
  options: { readonly adminPassword?: string },
): Promise<{ password: string } | null> {
  if (read(context, getInstallation) !== undefined) return null;
  const password = options.adminPassword ?? generatePassword();
  checkPasswordBytes(password);
  const id = randomUUID();
  const secrets = await passwordSecrets(context, id, password);
  const createdAt = context.now();
  const tenant: TenantRecord = {
    id: SYSTEM_TENANT,
    number: SYSTEM_TENANT_NUMBER,
    partition: 0,
    name: "System",
    disabled: false,
    createdAt,
  };
  write(context, (tx) => {
    putInstallation(tx, { createdAt, nextTenantNumber: SYSTEM_TENANT_NUMBER + 1, tenantsPerPartition: [1] });
    putTenant(tx, tenant);
    addUser(tx, {
      id,
      username: "admin",
      email: null,
      tenantId: tenant.id,
      companyId: tenant.id,
      roles: ["super_admin", "admin"],
      ...secrets,
      isActive: true,
      isVerified: true,
      mfa: null,
      createdAt,
      lastLogin: null,
      tokenEpoch: 0,
    });
  });
  return options.adminPassword === undefined ? { password } : null;
}

/**
 * Places the tenant where there is least to do (placement.ts), as far as `loads` tells. Throws `conflict` ("already
 * exists"), `invalid_request`.
 */
export function createTenant(
  context: DirectoryContext,
  request: CreateTenantRequest,
  loads: readonly PartitionLoad[],
): TenantView {
  const { id, name = id, rateLimit } = request;
  if (!SLUG.test(id)) {
    throw new DbError(
      "invalid_request",
      "A tenant's id must have 1 to 63 characters of a-z, 0-9, - and _, beginning with a letter or digit.",
    );
  }
  checkName(name);
  if (rateLimit !== undefined) checkRateLimit(rateLimit);
  return write(context, (tx) => {
    requireDeleted(tx, { id });
    if (getTenant(tx, id) !== undefined) throw new DbError("conflict", `Tenant "${id}" already exists.`);
    const installation = getInstallation(tx)!;
    const tenantsPerPartition = Array.from(
      { length: Math.max(context.partitions, installation.tenantsPerPartition.length) },
      (_, partition) => installation.tenantsPerPartition[partition] ?? 0,
    );
    const partition = leastLoaded(tenantsPerPartition.slice(0, context.partitions), loads);
    tenantsPerPartition[partition]!++;
    const number = installation.nextTenantNumber;
    const tenant: TenantRecord = {
      id,
      number,
      partition,
      name,
      disabled: false,
      ...(rateLimit === undefined ? {} : { rateLimit }),
      createdAt: context.now(),
    };
    putInstallation(tx, { ...installation, nextTenantNumber: number + 1, tenantsPerPartition });
    putTenant(tx, tenant);
    return tenantView(tenant);
  });
}

/** In order of id. */
export function listAllTenants(context: DirectoryContext, page: Page): Listed<TenantView> {
  return read(context, (tx) => {
    const { records, total } = listTenants(tx, boundedPage(page));
    return { items: records.map(tenantView), total };
  });
}

export function tenantById(context: DirectoryContext, id: string): TenantView {
  return read(context, (tx) => tenantView(existingTenant(tx, id)));
}

export function tenantOfNumber(context: DirectoryContext, number: number): TenantView | null {
  const tenant = read(context, (tx) => getTenantByNumber(tx, number));
  return tenant === undefined ? null : tenantView(tenant);
}

/** Throws `tenant_not_found`, `invalid_request`, `forbidden` (the system tenant cannot be disabled). */
export function updateTenant(context: DirectoryContext, id: string, update: UpdateTenantRequest): TenantView {
  if (update.name !== undefined) checkName(update.name);
  if (update.rateLimit) checkRateLimit(update.rateLimit);
  return write(context, (tx, announce) => {
    const { rateLimit: oldLimit, ...rest } = existingTenant(tx, id);
    if (update.isActive === false && id === SYSTEM_TENANT) {
      throw new DbError("forbidden", "The system tenant cannot be disabled; nobody has permission.");
    }
    // Absent leaves the tenant's limit as it is, null takes it away.
    const rateLimit = update.rateLimit === undefined ? oldLimit : (update.rateLimit ?? undefined);
    const tenant: TenantRecord = {
      ...rest,
      name: update.name ?? rest.name,
      disabled: update.isActive === undefined ? rest.disabled : !update.isActive,
      ...(rateLimit === undefined ? {} : { rateLimit }),
    };
    putTenant(tx, tenant);
    announce({ kind: "tenant", tenantId: id, ended: tenant.disabled });
    return tenantView(tenant);
  });
}

function checkName(name: string): void {
  if (name.trim() === "" || name.length > TENANT_NAME_CHARACTERS_MAX) {
    throw new DbError("invalid_request", `A tenant's name must have 1 to ${TENANT_NAME_CHARACTERS_MAX} characters.`);
  }
}

function checkRateLimit({ perSecond, burst }: RateLimit): void {
  const valid = Number.isFinite(perSecond) && perSecond >= 0 && Number.isFinite(burst) && burst >= 1;
  if (!valid)
    throw new DbError("invalid_request", "A rate limit needs per_second of at least 0 and burst of at least 1.");
}
