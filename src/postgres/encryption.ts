/** What encrypts the connections that come: the certificate of HTTP's. Called by server.ts. */
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Services } from "../gateway/services.js";
import { certificateHash } from "./certificate-hash.js";

export interface Encryption {
  readonly secureContext: SecureContext;
  /** Hash of the certificate, for channel binding; null: it is of a kind without one. */
  readonly certificate: Buffer | null;
}

/** Null: connections are not encrypted. Throws where the files cannot be read. */
export function encryptionOf({ config }: Services): Encryption | null {
  const { certFile, keyFile } = config.server.tls;
  if (certFile === "") return null;
  const cert = readFileSync(certFile);
  return {
    secureContext: createSecureContext({ cert, key: readFileSync(keyFile) }),
    certificate: certificateHash(cert),
  };
}
