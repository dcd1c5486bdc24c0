/**
 * Whom a bearer token of an issuer stands for. Every door that takes tokens asks the gateway's admission, which asks
 * here once a token and keeps the answer until the token expires. Made and called by directory-services.ts.
 */
import type { Directory } from "../../directory/directory.js";
import { DbError } from "../../protocol/errors.js";
import type { Identity } from "../../protocol/identity.js";
import { claimedUser } from "./claim-mapping.js";
import type { Issuers } from "./issuers.js";
import { checkedToken, unverifiedClaims } from "./token-check.js";

const TRIES_MAX = 3;

export class BearerTokens {
  constructor(
    private readonly directory: Directory,
    private readonly issuers: Issuers,
    private readonly now: () => number,
  ) {}

  /**
   * A description that changes while keys are fetched is read again. Throws DbError: `token_…`, `issuer_…`,
   * `missing_claims`, `claim_unknown`, `rate_limited`, `unauthorized`.
   */
  async identityOf(token: string): Promise<{ readonly identity: Identity; readonly isNew: boolean }> {
    const { issuer, audiences, parties } = unverifiedClaims(token);
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const provider = this.directory.providerOfToken(issuer, audiences, parties);
      const rules = { audience: provider.spec.audience, nowMs: this.now() };
      const claims = await checkedToken(this.issuers, provider, token, rules);
      const answer = this.directory.federatedIdentity(claimedUser(provider, claims));
      if (answer !== null) return answer;
    }
    throw new DbError("issuer_unavailable", "The provider's description is being changed; retry shortly.");
  }
}
