/**
 * The tokens of a sign-in: access tokens (protocol/access-token.ts, which the gateway verifies) and the short-lived
 * ones between password and second factor. The latter have an audience and a key of their own, so neither kind can
 * ever pass as the other.
 */

import { createHmac } from "node:crypto";
import { createSigner, createVerifier } from "fast-jwt";
import { accessTokenSigner, TOKEN_ISSUER } from "../protocol/access-token.js";
import { DbError } from "../protocol/errors.js";
import type { UserRecord } from "./records.js";

const MFA_AUDIENCE = "tessera:mfa";

export interface SignInTokens {
  /** An access token that lives for `lifetimeSeconds`. */
  access(user: UserRecord, nowMs: number, lifetimeSeconds: number): string;
  mfa(user: UserRecord, nowMs: number, lifetimeSeconds: number): string;
  /** The claims of a token made by `mfa`. Throws `unauthorized`. */
  verifyMfa(token: string, nowMs: number): { userId: string; epoch: number };
}

export function signInTokens(secret: Uint8Array): SignInTokens {
  const signAccess = accessTokenSigner(secret);
  const key = createHmac("sha256", secret).update(MFA_AUDIENCE).digest();
  const signMfa = createSigner({ key, algorithm: "HS256", iss: TOKEN_ISSUER, aud: MFA_AUDIENCE });
  const verify = createVerifier({
    key,
    algorithms: ["HS256"],
    allowedIss: TOKEN_ISSUER,
    allowedAud: MFA_AUDIENCE,
    requiredClaims: ["iss", "aud", "sub", "epoch", "exp"],
    // Checked below by the directory's clock.
    ignoreExpiration: true,
    cache: false,
  });

  return {
    access(user, nowMs, lifetimeSeconds) {
      const iat = Math.floor(nowMs / 1000);
      return signAccess({
        sub: user.id,
        username: user.username,
        tenant_id: user.tenantId,
        company_id: user.companyId,
        roles: user.roles,
        epoch: user.tokenEpoch,
        iat,
        exp: iat + lifetimeSeconds,
      });
    },
    mfa(user, nowMs, lifetimeSeconds) {
      const iat = Math.floor(nowMs / 1000);
      return signMfa({ sub: user.id, epoch: user.tokenEpoch, iat, exp: iat + lifetimeSeconds });
    },
    verifyMfa(token, nowMs) {
      let claims: { sub: string; epoch: number; exp: number };
      try {
        claims = verify(token);
      } catch {
        throw badMfaToken();
      }
      if (claims.exp * 1000 <= nowMs) throw badMfaToken();
      return { userId: claims.sub, epoch: claims.epoch };
    },
  };
}

export function badMfaToken(): DbError {
  return new DbError("unauthorized", "The MFA token is not valid or has expired; sign in again.");
}
