/**
 * Verifies a token of an issuer (RFC 7519, RFC 8725): signature by one of its public keys, issuer, audience, times. The
 * signature is checked by WebCrypto on a thread of its own. Called by bearer-tokens.ts and oidc-sign-in.ts; no state.
 */
import type { errors, JWTPayload, JWTVerifyGetKey } from "jose";
import type { KnownProvider, TokenAddress } from "../../directory/oidc-providers.js";
import { DbError } from "../../protocol/errors.js";
import { CLOCK_SKEW_SECONDS, TOKEN_ALGORITHMS } from "../../protocol/oidc.js";
import type { Issuers } from "./issuers.js";

export interface TokenRules {
  readonly audience: readonly string[];
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Of a sign-in's ID token. */
  readonly nonce?: string;
}

/** Throws the errors of tokens (`token_…`, `missing_claims`), and `issuer_…`. */
export async function checkedToken(
  issuers: Issuers,
  provider: KnownProvider,
  token: string,
  rules: TokenRules,
): Promise<JWTPayload> {
  checkAlgorithm(provider, token);
  const claims = await withKeys(issuers, provider, (keys) => verified(issuers, provider, token, { keys, ...rules }));
  if (rules.nonce !== undefined && claims.nonce !== rules.nonce) {
    throw new DbError("sign_in_failed", "The token is of another sign-in; begin it anew.");
  }
  return claims;
}

/** The claims as the token says them, not verified: they tell whom to ask. Throws `unauthorized`. */
export function unverifiedClaims(token: string): TokenAddress {
  const { iss, aud, azp, client_id } = partOf(token, 1);
  if (typeof iss !== "string") throw new DbError("unauthorized", "The token is not valid.");
  const texts = (values: readonly unknown[]) => values.filter((each) => typeof each === "string");
  return { issuer: iss, audiences: texts(Array.isArray(aud) ? aud : [aud]), parties: texts([azp, client_id]) };
}

/** The header (0) or the claims (1), not verified. */
function partOf(token: string, index: 0 | 1): Readonly<Record<string, unknown>> {
  try {
    const part = JSON.parse(Buffer.from(token.split(".")[index]!, "base64url").toString()) as unknown;
    if (typeof part === "object" && part !== null) return part as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new DbError("unauthorized", "The token is not valid.");
}

/** Before any key is looked for: what nothing or a shared secret signs is never accepted. */
function checkAlgorithm({ spec }: KnownProvider, token: string): void {
  const accepted: readonly string[] = spec.algorithms ?? TOKEN_ALGORITHMS;
  const { alg } = partOf(token, 0);
  if (typeof alg === "string" && accepted.includes(alg)) return;
  throw new DbError("token_algorithm_refused", `The token is not signed by one of ${accepted.join(", ")}.`);
}

async function withKeys(
  issuers: Issuers,
  provider: KnownProvider,
  verify: (keys: JWTVerifyGetKey) => Promise<JWTPayload>,
): Promise<JWTPayload> {
  try {
    return await verify(await issuers.keys(provider));
  } catch (error) {
    if (!(error instanceof DbError) || error.code !== "token_key_unknown") throw error;
    return verify(await issuers.keysAgain(provider));
  }
}

async function verified(
  issuers: Issuers,
  provider: KnownProvider,
  token: string,
  { keys, audience, nowMs }: TokenRules & { readonly keys: JWTVerifyGetKey },
): Promise<JWTPayload> {
  const { spec } = provider;
  const jose = await import("jose");
  try {
    const { payload } = await jose.jwtVerify(token, keys, {
      issuer: spec.issuer,
      audience: [...audience],
      algorithms: [...(spec.algorithms ?? TOKEN_ALGORITHMS)],
      clockTolerance: spec.clock_skew_seconds ?? CLOCK_SKEW_SECONDS,
      currentDate: new Date(nowMs),
      requiredClaims: ["sub", "exp"],
    });
    return payload;
  } catch (error) {
    // What is not about the token is about the key, which its issuer has published.
    throw error instanceof jose.errors.JOSEError ? refusalOf(jose.errors, error) : issuers.unusable(provider, error);
  }
}

function refusalOf(kinds: typeof errors, error: errors.JOSEError): DbError {
  if (error instanceof kinds.JWTExpired) return new DbError("token_expired");
  if (error instanceof kinds.JWSSignatureVerificationFailed) return new DbError("token_signature_wrong");
  if (error instanceof kinds.JWKSNoMatchingKey) return new DbError("token_key_unknown");
  if (error instanceof kinds.JWKSMultipleMatchingKeys) {
    return new DbError("token_key_unknown", "The token names no key (kid), and its issuer has several.");
  }
  if (error instanceof kinds.JOSEAlgNotAllowed) return new DbError("token_algorithm_refused");
  if (error instanceof kinds.JWTClaimValidationFailed) return claimRefusal(error);
  return new DbError("unauthorized", "The token is not valid.");
}

function claimRefusal({ claim, reason, message }: errors.JWTClaimValidationFailed): DbError {
  if (reason === "missing") return new DbError("missing_claims", `The token has no claim ${claim}.`);
  if (claim === "nbf" && reason === "check_failed") return new DbError("token_not_yet_valid");
  if (claim === "aud") return new DbError("token_audience_wrong");
  if (claim === "iss") return new DbError("token_issuer_unknown");
  return new DbError("unauthorized", `The token is not valid: ${message}.`);
}
