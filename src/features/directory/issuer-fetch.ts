/**
 * Requests to issuers of OpenID Connect: only to those that are configured, within bounds of time and bytes. An issuer
 * that a tenant's administrator has named, and whatever an issuer's metadata names, has to have a public address.
 * Called by issuers.ts and oidc-sign-in.ts.
 */
import type { KnownProvider } from "../../directory/oidc-providers.js";
import { type Fetched, type FetchRequest, fetchBounded } from "../../net/fetch-bounded.js";

const ANSWER_BYTES_MAX = 256 * 1024;
const ANSWER_MS = 5_000;

export type IssuerFetch = (
  address: string,
  provider: KnownProvider,
  request: Pick<FetchRequest, "field" | "method" | "headers" | "body" | "takesErrors">,
) => Promise<Fetched>;

/** `tenantPrivateHosts`: of issuers that tenants may name although they are private. */
export function issuerFetch(tenantPrivateHosts: readonly string[]): IssuerFetch {
  return (address, { tenant, spec }, request) => {
    const { protocol, hostname } = new URL(spec.issuer);
    return fetchBounded(address, {
      ...request,
      // The operator has named the issuer itself; what its metadata names is the issuer's word.
      privateAllowed: tenant === null ? [hostname] : tenantPrivateHosts,
      schemes: protocol === "http:" ? ["http", "https"] : ["https"],
      hostsAllowed: ["*"],
      bytesMax: ANSWER_BYTES_MAX,
      timeoutMs: ANSWER_MS,
    });
  };
}
