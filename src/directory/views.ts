/** Records as clients see them, without any hash or secret. Called by every part of the directory. */

import type { ApiKeyView, TenantView, UserView } from "../protocol/accounts.js";
import { DbError } from "../protocol/errors.js";
import type { ApiKeyRecord, TenantRecord, UserRecord } from "./records.js";

/** Throws forbidden: an issuer's users have neither a password here nor what needs one. */
export function requirePassword({ username, federated }: UserRecord): void {
  if (federated === undefined) return;
  throw new DbError(
    "forbidden",
    `"${username}" signs in with ${federated.issuer} and has no password, second factor or API key here. That provider has them, or make a user of its own for programs.`,
  );
}

export function userView(user: UserRecord): UserView {
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    tenant_id: user.tenantId,
    company_id: user.companyId,
    roles: user.roles,
    is_active: user.isActive,
    is_verified: user.isVerified,
    mfa_enabled: user.mfa?.enabled === true,
    created_at: isoTime(user.createdAt),
    last_login: user.lastLogin === null ? null : isoTime(user.lastLogin),
  };
}

export function apiKeyView(key: ApiKeyRecord): ApiKeyView {
  return {
    id: key.id,
    name: key.name,
    key_preview: key.preview,
    permission: key.permission,
    lead: key.lead ?? null,
    is_active: key.isActive,
    expires_at: key.expiresAt === null ? null : isoTime(key.expiresAt),
    created_at: isoTime(key.createdAt),
    last_used: key.lastUsed === null ? null : isoTime(key.lastUsed),
    usage_count: key.usageCount,
  };
}

export function tenantView(tenant: TenantRecord): TenantView {
  const limit = tenant.rateLimit;
  return {
    id: tenant.id,
    name: tenant.name,
    partition: tenant.partition,
    is_active: !tenant.disabled,
    rate_limit: limit === undefined ? null : { per_second: limit.perSecond, burst: limit.burst },
    created_at: isoTime(tenant.createdAt),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
