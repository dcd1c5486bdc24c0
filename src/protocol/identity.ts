/**
 * The caller's identity: what a verified token or API key stands for. The directory (partition 0's actor) makes
 * identities from its records. The gateway caches them, passes them on with every request, and drops what an
 * `IdentityChange` names.
 */

export const ROLES = ["super_admin", "admin", "user"] as const;
export type Role = (typeof ROLES)[number];

/** Administrators of a tenant are superusers of it. */
export function administers({ roles }: { readonly roles: readonly string[] }): boolean {
  return roles.includes("admin") || roles.includes("super_admin");
}

export const PERMISSIONS = ["ReadOnly", "FullAccess"] as const;
/** What an API key may do; a person who signed in has FullAccess. */
export type Permission = (typeof PERMISSIONS)[number];

/**
 * A token bucket: `perSecond` tokens flow in each second, `burst` is the most it holds. `perSecond` 0 means no limit.
 */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

export function rateLimitText({ perSecond, burst }: RateLimit): string {
  return `${perSecond},${burst}`;
}

/** Of what `rateLimitText` made. */
export function rateLimitOf(text: string): RateLimit {
  const [perSecond, burst] = text.split(",").map(Number) as [number, number];
  return { perSecond, burst };
}

/** The tenant that owns the installation; its number is reserved. */
export const SYSTEM_TENANT = "system";
export const SYSTEM_TENANT_NUMBER = 1;

export interface Identity {
  readonly userId: string;
  /** The API key that was shown; null for a person who signed in. */
  readonly keyId: string | null;
  readonly username: string;
  readonly tenantId: string;
  /** Equals `tenantId` unless the user's record says otherwise. */
  readonly companyId: string;
  /** The tenant's prefix in storage. */
  readonly tenantNumber: number;
  /** The partition whose actor owns the tenant's data. */
  readonly partition: number;
  readonly roles: readonly Role[];
  readonly permission: Permission;
  /** A token whose `epoch` claim differs was revoked. */
  readonly tokenEpoch: number;
  /** False when the user, its tenant or the key is disabled. */
  readonly active: boolean;
  /** The tenant's own limit; null means the configured one. */
  readonly rateLimit: RateLimit | null;
  /** When the API key stops working, ms since 1970; null for never, and for people by our own tokens. */
  readonly expiresAtMs: number | null;
  /**
   * Roles of the tenant's own (CREATE ROLE) that an issuer's claims gave; absent: the role of the username, if there is
   * one.
   */
  readonly memberOf?: readonly string[];
  /** The issuer's claims as JSON; absent: the user is not an issuer's. */
  readonly claims?: string;
  /** Of an API key that may do less than its user: a `Lead` as JSON (lead.ts). */
  readonly lead?: string;
  /**
   * Sequence of the newest commit that this identity reflects. An identity that is older than the newest
   * `IdentityChange` about it may serve the request that asked for it but must not be cached.
   */
  readonly version: number;
}

/** What makes of a caller more or less than its user: to be handed on wherever something acts for the caller. */
export type CallerBounds = Pick<Identity, "memberOf" | "claims" | "lead">;

export function callerBounds({ memberOf, claims, lead }: CallerBounds): CallerBounds {
  return {
    ...(memberOf !== undefined && { memberOf }),
    ...(claims !== undefined && { claims }),
    ...(lead !== undefined && { lead }),
  };
}

/**
 * Sent before the reply to the change leaves: cached identities of what it names are out of date. `ended`: they were
 * disabled or removed, so their running requests end.
 */
export type IdentityChange =
  | { readonly kind: "user"; readonly userId: string; readonly ended?: boolean; readonly version: number }
  | {
      readonly kind: "key";
      readonly keyId: string;
      readonly keyHash: string;
      readonly ended?: boolean;
      readonly version: number;
    }
  | { readonly kind: "tenant"; readonly tenantId: string; readonly ended?: boolean; readonly version: number }
  /** The tenant is in that partition now; nothing else has changed. */
  | { readonly kind: "moved"; readonly tenantId: string; readonly partition: number; readonly version: number }
  /** Anything may have changed. */
  | { readonly kind: "all"; readonly version: number };

/** By what a change names those whom it is about. */
export interface IdentityNames {
  readonly userId: string;
  /** null, "" or absent: no API key was shown. */
  readonly keyId?: string | null;
  readonly tenantId: string;
}

/** Whether the identity is among what changed. */
export function isAbout(change: IdentityChange, { userId, keyId, tenantId }: IdentityNames): boolean {
  switch (change.kind) {
    case "user":
      return userId === change.userId;
    case "key":
      return keyId === change.keyId;
    case "tenant":
      return tenantId === change.tenantId;
    case "moved":
      return false;
    case "all":
      return true;
  }
}
