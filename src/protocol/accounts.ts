/**
 * Shapes of the account routes' answers, as clients read them (snake_case, ISO 8601 times). The directory makes them,
 * the gateway writes them out. None of them ever carries a password hash, a key hash or a second factor's secret.
 */

import type { Permission, RateLimit, Role } from "./identity.js";
import type { Lead } from "./lead.js";
import type { OidcProviderSpec } from "./oidc.js";

export interface UserView {
  readonly id: string;
  readonly username: string;
  readonly email: string | null;
  readonly tenant_id: string;
  readonly company_id: string;
  readonly roles: readonly Role[];
  readonly is_active: boolean;
  readonly is_verified: boolean;
  readonly mfa_enabled: boolean;
  readonly created_at: string;
  readonly last_login: string | null;
}

export interface SignedIn {
  readonly access_token: string;
  readonly token_type: "Bearer";
  /** Seconds. */
  readonly expires_in: number;
  readonly user: UserView;
}

/** The password was right; the second factor is still to be shown, together with `mfa_token`. */
export interface MfaRequired {
  readonly mfa_required: true;
  readonly mfa_token: string;
  /** Seconds. */
  readonly expires_in: number;
}

export interface MfaEnrolment {
  /** Base32, for typing into an authenticator by hand. */
  readonly secret: string;
  readonly otpauth_url: string;
  /** Each works once in place of a code. Shown here only. */
  readonly recovery_codes: readonly string[];
}

export interface ApiKeyView {
  readonly id: string;
  readonly name: string;
  readonly key_preview: string;
  readonly permission: Permission;
  /** Null: it may do what its user may, within its permission. */
  readonly lead: Lead | null;
  readonly is_active: boolean;
  readonly expires_at: string | null;
  readonly created_at: string;
  readonly last_used: string | null;
  readonly usage_count: number;
}

export interface ApiKeyCreated {
  readonly api_key: ApiKeyView;
  /** Shown here only; a hash is all that is kept. */
  readonly raw_key: string;
}

export type OidcProviderView = Omit<OidcProviderSpec, "client_secret"> & { readonly has_client_secret: boolean };

export interface TenantView {
  readonly id: string;
  readonly name: string;
  readonly partition: number;
  readonly is_active: boolean;
  readonly rate_limit: { readonly per_second: number; readonly burst: number } | null;
  readonly created_at: string;
}

export interface Page {
  /** At most this many, 1 to 1,000; 100 when absent. */
  readonly limit?: number;
  /** Skip this many; 0 when absent. */
  readonly offset?: number;
}

/** One page of a list and how many there are in all. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly total: number;
}

export interface LoginRequest {
  readonly username: string;
  readonly password: string;
  readonly remoteAddress: string;
}

/** What a client of SCRAM-SHA-256 makes its proof of. */
export interface ScramChallenge {
  /** Base64. */
  readonly salt: string;
  readonly iterations: number;
}

export interface ScramLoginRequest {
  readonly username: string;
  /** RFC 5802's AuthMessage: what both sides have said. */
  readonly auth_message: string;
  /** Base64. */
  readonly proof: string;
  readonly remoteAddress: string;
}

/** `server_signature`: base64, for the client. */
export type ScramSignedIn = (SignedIn | MfaRequired) & { readonly server_signature: string };

export interface VerifyMfaRequest {
  readonly mfa_token: string;
  /** Six digits, or a recovery code. */
  readonly code: string;
  readonly remoteAddress: string;
}

export interface RegisterRequest {
  readonly username: string;
  readonly email: string;
  readonly password: string;
}

export interface CreateUserRequest {
  readonly username: string;
  readonly password: string;
  readonly email?: string | null;
  /** `["user"]` when absent. */
  readonly roles?: readonly Role[];
  /** The tenant's id when absent. */
  readonly companyId?: string;
}

export interface CreateApiKeyRequest {
  readonly name: string;
  readonly permission: Permission;
  /** 1 to 36,500; never expires when absent. */
  readonly expiresInDays?: number;
  readonly lead?: Lead;
}

export interface CreateTenantRequest {
  /** Slug: 1 to 63 characters of a-z, 0-9, `-` and `_`, starting with a letter or digit. */
  readonly id: string;
  /** The id when absent. */
  readonly name?: string;
  readonly rateLimit?: RateLimit;
}

/** What is absent stays as it is. */
export interface UpdateTenantRequest {
  readonly name?: string;
  readonly isActive?: boolean;
  /** Null goes back to the configured limit. */
  readonly rateLimit?: RateLimit | null;
}

/** What the gateway counted of one key since its last report. */
export interface KeyUsage {
  readonly keyId: string;
  readonly count: number;
  readonly lastUsedMs: number;
}
