/**
 * The records of the directory and how they are stored: JSON, so that an unknown future field survives a reader's eyes.
 * Written and read through directory-store.ts only.
 */

import type { Permission, RateLimit, Role } from "../protocol/identity.js";
import type { Lead } from "../protocol/lead.js";
import type { OidcProviderSpec } from "../protocol/oidc.js";
import type { MoveState } from "../protocol/placement.js";

/** What the installation knows about itself; one record. */
export interface InstallationRecord {
  readonly createdAt: number;
  /** The next tenant's number; numbers are never used again. */
  readonly nextTenantNumber: number;
  /** How many tenants each partition has, by partition. */
  readonly tenantsPerPartition: readonly number[];
}

export interface TenantRecord {
  /** Slug, 1 to 63 characters of a-z, 0-9, `-` and `_`. */
  readonly id: string;
  /** Storage prefix, u32: 0 is reserved, 1 is the system tenant. */
  readonly number: number;
  readonly partition: number;
  readonly name: string;
  readonly disabled: boolean;
  /** It is being deleted: nobody finds it by its id, and its accounts are being removed. */
  readonly ending?: true;
  readonly rateLimit?: RateLimit;
  /** Milliseconds since 1970, as every time in these records. */
  readonly createdAt: number;
}

/** The newest move of a tenant between partitions: written when it begins and when it ends. */
export interface MoveRecord {
  readonly id: string;
  readonly tenantId: string;
  /** The tenant's number. */
  readonly tenant: number;
  readonly from: number;
  readonly to: number;
  readonly startedAt: number;
  readonly state: MoveState;
  readonly entries: number;
  readonly bytes: number;
  /** Null: it has not ended. */
  readonly finishedAt: number | null;
  /** How long requests waited. */
  readonly heldMs: number | null;
  readonly error: string | null;
}

/** The deletion of a tenant, kept for a while after it. */
export interface DeletionRecord {
  readonly id: string;
  readonly tenantId: string;
  /** The tenant's number. */
  readonly tenant: number;
  /** Nobody is left who knows the tenant's users, keys, providers and schedules. */
  readonly accountsGone: boolean;
  /** Partitions that may have something of the tenant. */
  readonly left: readonly number[];
  readonly startedAt: number;
  /** Null: it has not ended. */
  readonly finishedAt: number | null;
}

/** Backups that are made by themselves (features/backup/schedules.ts). Times in milliseconds since 1970. */
export interface ScheduleRecord {
  readonly id: string;
  /** Null: the whole installation. */
  readonly tenantId: string | null;
  /** croner's: five fields, or six with seconds first. */
  readonly cron: string;
  /** An IANA time zone. */
  readonly timezone: string;
  /** After this many backups a full one is made; those between are incremental. */
  readonly fullEvery: number;
  /** How many are kept, and for how many days; null: no bound. */
  readonly keep: number | null;
  readonly keepDays: number | null;
  /** Sealed with the installation's key file, base64; null: not encrypted. */
  readonly passphrase: string | null;
  readonly enabled: boolean;
  readonly createdAt: number;
  /** Null: disabled, or there will be none. */
  readonly nextAt: number | null;
  /** One is due, or runs: the time that it is for, how often it was tried, and when it is tried next. */
  readonly due: { readonly at: number; readonly attempts: number; readonly notBefore: number } | null;
  readonly last: ScheduledResult | null;
  readonly lastSuccessAt: number | null;
  /** Runs that ended, and attempts that failed. */
  readonly completed: number;
  readonly failures: number;
}

export interface ScheduledResult {
  readonly dueAt: number;
  readonly finishedAt: number;
  readonly backup: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A second factor: TOTP (RFC 6238) and recovery codes. */
export interface MfaRecord {
  /** Base32, sealed where the installation's secret is (factor-secrets.ts). */
  readonly secret: string;
  /** False between enrolment and the first right code. */
  readonly enabled: boolean;
  /** The newest time step whose code was used; that code and older ones are refused. */
  readonly lastUsedStep: number;
  /** SHA-256, hex; each is removed when used. */
  readonly recoveryCodeHashes: readonly string[];
}

export interface UserRecord {
  readonly id: string;
  /** As it was typed; unique in the installation without regard to case. */
  readonly username: string;
  readonly email: string | null;
  readonly tenantId: string;
  readonly companyId: string;
  readonly roles: readonly Role[];
  readonly passwordHash: string;
  /** Of the same password, for SCRAM (scram.ts); absent: not made yet. A secret as the hash is. */
  readonly scram?: string;
  readonly isActive: boolean;
  readonly isVerified: boolean;
  readonly mfa: MfaRecord | null;
  readonly createdAt: number;
  readonly lastLogin: number | null;
  /** A user of an issuer, who has no password here. */
  readonly federated?: FederatedRecord;
  /** Raised to revoke every token that was given out before. */
  readonly tokenEpoch: number;
}

/** What an issuer said of its user at the last sign-in. */
export interface FederatedRecord {
  /** "corp" of the configuration, "acme/corp" of a tenant. */
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** Roles of the tenant's own. */
  readonly memberOf: readonly string[];
  /** JSON. */
  readonly claims: string;
}

/** A provider of OpenID Connect that an administrator of the tenant has described. */
export interface OidcProviderRecord {
  readonly tenantId: string;
  /** Without the client's secret. */
  readonly spec: OidcProviderSpec;
  /** Sealed with the installation's secret, base64; null: a public client. */
  readonly clientSecret: string | null;
  readonly createdAt: number;
}

export interface ApiKeyRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly name: string;
  /** SHA-256 of the whole key, hex. */
  readonly hash: string;
  /** The first and last characters, for telling keys apart. */
  readonly preview: string;
  readonly permission: Permission;
  readonly lead?: Lead;
  readonly isActive: boolean;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly lastUsed: number | null;
  readonly usageCount: number;
}

export function encodeRecord(record: object): Uint8Array {
  return Buffer.from(JSON.stringify(record));
}

export function decodeRecord<T>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as T;
}
