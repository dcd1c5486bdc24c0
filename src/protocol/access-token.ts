/**
 * Access tokens: JSON Web Tokens (RFC 7519) signed with HS256 and the installation's secret. The directory signs them,
 * the gateway verifies them. The algorithm, issuer and audience are pinned on both sides, so neither `alg: none` nor a
 * token made for another purpose passes. The verifier owns a bounded cache of tokens it has already verified.
 */

import { createSigner, createVerifier, TOKEN_ERROR_CODES } from "fast-jwt";
import { DbError } from "./errors.js";
import type { Role } from "./identity.js";

export const TOKEN_ISSUER = "tessera";
const ACCESS_AUDIENCE = "tessera:access";

/** Tokens are about 400 bytes; longer ones are refused before any work. */
const TOKEN_CHARS_MAX = 4096;

export interface AccessClaims {
  /** User id. */
  readonly sub: string;
  readonly username: string;
  readonly tenant_id: string;
  readonly company_id: string;
  readonly roles: readonly Role[];
  /** Must equal the user's `tokenEpoch`. */
  readonly epoch: number;
  /** Seconds since 1970. */
  readonly iat: number;
  readonly exp: number;
}

export interface VerifierOptions {
  /** Milliseconds since 1970; the wall clock when absent. */
  readonly now?: () => number;
  /** Tokens kept as verified; 10,000 when absent. */
  readonly cacheEntriesMax?: number;
}

/** Longer tokens of other issuers are refused before any work. */
export const FOREIGN_TOKEN_CHARS_MAX = 8192;

/** The other issuer that made the token, as the token says it; null: none. Nothing is verified here. */
export function foreignIssuerOf(token: string): string | null {
  if (token.length > FOREIGN_TOKEN_CHARS_MAX) return null;
  const parts = token.split(".");
  if (parts.length !== 3) return null;
  try {
    const { iss } = JSON.parse(Buffer.from(parts[1]!, "base64url").toString()) as { readonly iss?: unknown };
    return typeof iss === "string" && iss !== TOKEN_ISSUER ? iss : null;
  } catch {
    return null;
  }
}

/** Returns the function that signs access tokens. */
export function accessTokenSigner(secret: Uint8Array): (claims: AccessClaims) => string {
  const sign = createSigner({
    key: Buffer.from(secret),
    algorithm: "HS256",
    iss: TOKEN_ISSUER,
    aud: ACCESS_AUDIENCE,
  });
  return (claims) => sign({ ...claims });
}

/**
 * Returns the function that checks an access token and gives its claims. It throws `unauthorized` (bad, foreign or
 * expired token) or `missing_claims`. Whether the user still exists, is active and has the same epoch is for the
 * caller to check against the user's `Identity`.
 */
export function verifyAccessToken(secret: Uint8Array, options: VerifierOptions = {}): (token: string) => AccessClaims {
  const now = options.now ?? Date.now;
  const cacheEntriesMax = options.cacheEntriesMax ?? 10_000;
  const verified = new Map<string, AccessClaims>();
  // Expiry is checked here on every call, so that a cached token expires on time and by the injected clock.
  const verify = createVerifier({
    key: Buffer.from(secret),
    algorithms: ["HS256"],
    allowedIss: TOKEN_ISSUER,
    allowedAud: ACCESS_AUDIENCE,
    requiredClaims: ["iss", "aud"],
    ignoreExpiration: true,
    cache: false,
  });

  return (token) => {
    let claims = verified.get(token);
    if (claims === undefined) {
      if (token.length > TOKEN_CHARS_MAX) throw new DbError("unauthorized", "The token is too long.");
      claims = checkedClaims(verifiedPayload(verify, token));
      if (verified.size >= cacheEntriesMax) verified.delete(verified.keys().next().value as string);
      verified.set(token, claims);
    }
    if (claims.exp * 1000 <= now()) {
      verified.delete(token);
      throw new DbError("unauthorized", "The token has expired; sign in again.");
    }
    return claims;
  };
}

function verifiedPayload(verify: (token: string) => unknown, token: string): Record<string, unknown> {
  try {
    return verify(token) as Record<string, unknown>;
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === TOKEN_ERROR_CODES.missingRequiredClaim) throw new DbError("missing_claims");
    throw new DbError("unauthorized", "The token is not valid; POST /v1/auth/login gives a new one.");
  }
}

function checkedClaims(payload: Record<string, unknown>): AccessClaims {
  const { sub, username, tenant_id, company_id, roles, epoch, iat, exp } = payload;
  const complete =
    typeof sub === "string" &&
    typeof username === "string" &&
    typeof tenant_id === "string" &&
    typeof company_id === "string" &&
    Array.isArray(roles) &&
    typeof epoch === "number" &&
    typeof iat === "number" &&
    typeof exp === "number";
  if (!complete) throw new DbError("missing_claims");
  return { sub, username, tenant_id, company_id, roles: roles as Role[], epoch, iat, exp };
}
