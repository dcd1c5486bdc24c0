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
  readonly directory: Pick<Directory, "providersOfClient" | "endFederatedSessions">;
  readonly issuers: Issuers;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class BackchannelLogouts {
  /** By what identifies a token: when it would be too old anyway. */
  private readonly used = new Map<string, number>();

  constructor(private readonly options: BackchannelOptions) {}

  /**
   * Ends the sessions of the user that the token is about, with each provider whose description accepts it. Throws
   * invalid_request where none does, and `issuer_…` where the keys of one cannot be had: the token may come again.
   */
  async logOut(token: string): Promise<{ readonly name: string | null; readonly ended: boolean }> {
    const accepted: { readonly provider: KnownProvider; readonly claims: JWTPayload }[] = [];
    const errors: DbError[] = [];
    const outcomes = await Promise.allSettled(
      this.meant(token).map(async (provider) => ({ provider, claims: await this.checked(provider, token) })),
    );
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") accepted.push(outcome.value);
      else if (outcome.reason instanceof DbError) errors.push(outcome.reason);
      else throw outcome.reason;
    }
    const unused = accepted.filter(({ provider, claims }) => this.useOnce(provider, claims));
    const names = unused.map(({ provider, claims }) =>
      this.options.directory.endFederatedSessions(provider, claims.sub!),
    );
    const passing = errors.find((error) => !isRefusal(error));
    if (passing !== undefined) throw passing;
    if (accepted.length === 0) throw asRefusal(errors[0]!);
    if (unused.length === 0) throw refused("It was used before.");
    const name = names.find((each) => each !== null) ?? null;
    return { name, ended: name !== null };
  }

  private meant(token: string): readonly KnownProvider[] {
    try {
      const { issuer, audiences } = unverifiedClaims(token);
      return this.options.directory.providersOfClient(issuer, audiences);
    } catch (error) {
      throw error instanceof DbError && isRefusal(error) ? asRefusal(error) : error;
    }
  }

  private async checked(provider: KnownProvider, token: string): Promise<JWTPayload> {
    const { issuers, now } = this.options;
    const { client_id, clock_skew_seconds = CLOCK_SKEW_SECONDS } = provider.spec;
    const claims = await checkedToken(issuers, provider, token, { audience: [client_id!], nowMs: now() });
    const { events, iat, jti, nonce } = claims;
    if (typeof events !== "object" || events === null || !(EVENT in events)) throw refused("It has no logout event.");
    if (nonce !== undefined) throw refused("It has a nonce: it is an ID token.");
    if (typeof jti !== "string") throw refused("It has no claim jti.");
    const age = iat === undefined ? Number.POSITIVE_INFINITY : now() - iat * 1000;
    if (age > AGE_MS_MAX + clock_skew_seconds * 1000) throw refused("It is too old, or has no claim iat.");
    return claims;
  }

  /** Whoever gets hold of a token must not end later sessions with it: false where it was used before. */
  private useOnce({ key, spec }: KnownProvider, { jti }: JWTPayload): boolean {
    const now = this.options.now();
    for (const [id, until] of this.used) {
      if (until > now && this.used.size < USED_MAX) break;
      this.used.delete(id);
    }
    const id = createHash("sha256")
      .update(JSON.stringify([key, jti]))
      .digest("base64");
    if (this.used.has(id)) return false;
    const { clock_skew_seconds = CLOCK_SKEW_SECONDS } = spec;
    this.used.set(id, now + AGE_MS_MAX + 2 * clock_skew_seconds * 1000);
    return true;
  }
}

/** The token is at fault, and will be the next time. */
function isRefusal({ status }: DbError): boolean {
  return status === 400 || status === 401 || status === 403;
}

function asRefusal(error: DbError): DbError {
  return error.code === "invalid_request" ? error : refused(error.message);
}

function refused(why: string): DbError {
  return new DbError("invalid_request", `The logout token is refused. ${why}`, { field: "logout_token" });
}
