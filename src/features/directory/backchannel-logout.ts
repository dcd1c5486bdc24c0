/**
 * Back-channel logout (OpenID Connect Back-Channel Logout 1.0): a provider tells that a user has signed out, by a token
 * that it signs. Called by oidc-routes.ts; keeps which tokens have been used.
 */
import { createHash } from "node:crypto";
import type { JWTPayload } from "jose";
import type { Directory } from "../../directory/directory.js";
import type { KnownProvider } from "../../directory/oidc-providers.js";
import { DbError } from "../../protocol/errors.js";
import { CLOCK_SKEW_SECONDS } from "../../protocol/oidc.js";
import type { Issuers } from "./issuers.js";
import { checkedToken, unverifiedClaims } from "./token-check.js";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** A token may be that old when it comes. */
const AGE_MS_MAX = 5 * 60_000;
const USED_MAX = 10_000;

export interface BackchannelOptions {
  readonly directory: Pick<Directory, "providerOfClient" | "endFederatedSessions">;
  readonly issuers: Issuers;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class BackchannelLogouts {
  /** By what identifies a token: when it would be too old anyway. */
  private readonly used = new Map<string, number>();

  constructor(private readonly options: BackchannelOptions) {}

  /** Ends the sessions of the user that the token is about. Throws invalid_request for any other token. */
  async logOut(token: string): Promise<{ readonly name: string | null; readonly ended: boolean }> {
    const { provider, claims } = await this.checked(token).catch((error: unknown) => {
      if (!(error instanceof DbError) || (error.status !== 401 && error.status !== 403)) throw error;
      throw refused(error.message);
    });
    this.useOnce(provider, claims);
    const name = this.options.directory.endFederatedSessions(provider, claims.sub!);
    return { name, ended: name !== null };
  }

  private async checked(token: string): Promise<{ readonly provider: KnownProvider; readonly claims: JWTPayload }> {
    const { directory, issuers, now } = this.options;
    const { issuer, audiences } = unverifiedClaims(token);
    const provider = directory.providerOfClient(issuer, audiences);
    const { client_id, clock_skew_seconds = CLOCK_SKEW_SECONDS } = provider.spec;
    const claims = await checkedToken(issuers, provider, token, { audience: [client_id!], nowMs: now() });
    const { events, iat, jti, nonce } = claims;
    if (typeof events !== "object" || events === null || !(EVENT in events)) throw refused("It has no logout event.");
    if (nonce !== undefined) throw refused("It has a nonce: it is an ID token.");
    if (typeof jti !== "string") throw refused("It has no claim jti.");
    const age = iat === undefined ? Number.POSITIVE_INFINITY : now() - iat * 1000;
    if (age > AGE_MS_MAX + clock_skew_seconds * 1000) throw refused("It is too old, or has no claim iat.");
    return { provider, claims };
  }

  /** Whoever gets hold of a token must not end later sessions with it. */
  private useOnce({ key, spec }: KnownProvider, { jti }: JWTPayload): void {
    const now = this.options.now();
    for (const [id, until] of this.used) {
      if (until > now && this.used.size < USED_MAX) break;
      this.used.delete(id);
    }
    const id = createHash("sha256")
      .update(JSON.stringify([key, jti]))
      .digest("base64");
    if (this.used.has(id)) throw refused("It was used before.");
    const { clock_skew_seconds = CLOCK_SKEW_SECONDS } = spec;
    this.used.set(id, now + AGE_MS_MAX + 2 * clock_skew_seconds * 1000);
  }
}

function refused(why: string): DbError {
  return new DbError("invalid_request", `The logout token is refused. ${why}`, { field: "logout_token" });
}
