/**
 * Secrets of this server as a client of tenants' providers of OpenID Connect, as they are stored: sealed with a key of
 * the installation's secret, and bound to their provider. Called by oidc-providers.ts; no state.
 */
import { DbError } from "../protocol/errors.js";
import { keyFor, sealBytes, unsealBytes } from "../protocol/sealing.js";

export interface ClientSecrets {
  /** `provider`: "tenant/name". */
  seal(provider: string, secret: string): string;
  /** Throws `issuer_misconfigured` when it was sealed under another secret of the installation. */
  open(provider: string, stored: string): string;
}

export function clientSecrets(installationSecret: Uint8Array): ClientSecrets {
  const key = keyFor(installationSecret, "tessera/client secrets of providers");
  const ownerOf = (provider: string) => `client secret of ${provider}`;
  return {
    seal: (provider, secret) => sealBytes(Buffer.from(secret), ownerOf(provider), key).toString("base64"),
    open(provider, stored) {
      const plain = unsealBytes(Buffer.from(stored, "base64"), ownerOf(provider), key);
      if (plain !== null) return plain.toString();
      throw new DbError(
        "issuer_misconfigured",
        `The client secret of ${provider} cannot be read because the installation's secret has changed. Set the provider anew.`,
      );
    },
  };
}
