/**
 * What verified claims of an issuer mean here: the tenant, the roles, the user's name. A claim that is missing or has a
 * value that the provider's description does not know refuses; nothing stands in for it. Called by bearer-tokens.ts and
 * oidc-sign-in.ts; pure.
 */
import type { JWTPayload } from "jose";
import type { FederatedUser } from "../../directory/federated-users.js";
import type { KnownProvider } from "../../directory/oidc-providers.js";
import { DbError } from "../../protocol/errors.js";
import { CLOCK_SKEW_SECONDS, rolesOf, tenantByClaim } from "../../protocol/oidc.js";

const VALUES_MAX = 500;

/** Throws `missing_claims`, `claim_unknown`. */
export function claimedUser(provider: KnownProvider, claims: JWTPayload): FederatedUser {
  const { spec } = provider;
  const { email } = claims;
  const skew = spec.clock_skew_seconds ?? CLOCK_SKEW_SECONDS;
  return {
    by: provider,
    subject: textOf(claims, "sub"),
    tenantId: tenantOf(provider, claims),
    name: nameOf(provider, claims),
    email: typeof email === "string" && email.length <= 320 ? email : null,
    ...rolesBy(provider, claims),
    claims: JSON.stringify(claims),
    expiresAtMs: (claims.exp! + skew) * 1000,
  };
}

function tenantOf({ tenant, spec }: KnownProvider, claims: JWTPayload): string {
  if (tenant !== null) return tenant;
  if (spec.tenant !== undefined) return spec.tenant;
  const value = textOf(claims, spec.tenant_claim!);
  const found = tenantByClaim(spec, value);
  if (found === null) throw unknown(spec.tenant_claim!, value, "stands for no tenant");
  return found;
}

function nameOf({ spec }: KnownProvider, claims: JWTPayload): string {
  const claim = spec.username_claim ?? "sub";
  // Whoever may write any address into their profile must not get another's name.
  if (claim === "email" && claims.email_verified !== true) {
    throw new DbError("claim_unknown", "The claim email names the user, but email_verified is not true.");
  }
  const name = textOf(claims, claim);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  if (/[\u0000-\u001f\u007f]/.test(name)) throw unknown(claim, name, "is no name");
  return name;
}

function rolesBy({ spec }: KnownProvider, claims: JWTPayload) {
  const claim = spec.roles_claim;
  const values = valuesOf(claims, claim);
  const entries: string[] = [];
  for (const value of values) {
    if (Object.hasOwn(spec.roles, value)) entries.push(spec.roles[value]!);
    else if (spec.ignore_unknown_roles !== true) throw unknown(claim, value, "stands for no role");
  }
  if (entries.length === 0) throw new DbError("claim_unknown", `The claim ${claim} names no role that is known here.`);
  return rolesOf(entries);
}

function valuesOf(claims: JWTPayload, claim: string): readonly string[] {
  const value = claimOf(claims, claim);
  if (typeof value === "string" && value !== "") return /^sco?pe?$/.test(claim) ? value.split(" ") : [value];
  if (Array.isArray(value) && value.length > VALUES_MAX) {
    throw new DbError("claim_unknown", `The claim ${claim} has more than ${VALUES_MAX} values.`);
  }
  const isList = Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
  if (isList) return value as string[];
  throw missing(claim, value);
}

function textOf(claims: JWTPayload, claim: string): string {
  const value = claimOf(claims, claim);
  if (typeof value === "string" && value !== "") return value;
  throw missing(claim, value);
}

/** By its whole name, or by the names of nested objects with dots between. */
function claimOf(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let at: unknown = claims;
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

function missing(claim: string, value: unknown): DbError {
  const what = value === undefined ? "has no claim" : "has no usable value in the claim";
  return new DbError("missing_claims", `The token ${what} ${claim}, which says what the user may do here.`);
}

function unknown(claim: string, value: string, what: string): DbError {
  return new DbError(
    "claim_unknown",
    `The value ${JSON.stringify(value.slice(0, 100))} of the claim ${claim} ${what}.`,
  );
}
