/**
 * The hash of the server's certificate, to which client and server bind an exchange of SCRAM (RFC 5929,
 * tls-server-end-point). Called by server.ts when it reads the certificate.
 */
import { createHash, X509Certificate } from "node:crypto";

/** The hash that goes with a signature's algorithm, by the bytes of its object identifier (RFC 8017, RFC 5758). */
const HASHES: ReadonlyMap<string, string> = new Map([
  // MD5 and SHA-1 are replaced by SHA-256.
  ["2a864886f70d010104", "sha256"],
  ["2a864886f70d010105", "sha256"],
  ["2a864886f70d01010b", "sha256"],
  ["2a864886f70d01010c", "sha384"],
  ["2a864886f70d01010d", "sha512"],
  ["2a8648ce3d0401", "sha256"],
  ["2a8648ce3d040302", "sha256"],
  ["2a8648ce3d040303", "sha384"],
  ["2a8648ce3d040304", "sha512"],
]);

/**
 * Null where the standard does not say which hash, as for Ed25519. `pem`: the first of its certificates is the
 * server's.
 */
export function certificateHash(pem: Buffer): Buffer | null {
  const { raw } = new X509Certificate(pem);
  const hash = HASHES.get(signatureAlgorithm(raw));
  return hash === undefined ? null : createHash(hash).update(raw).digest();
}

/** Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm SEQUENCE { OBJECT IDENTIFIER, … }, … } (RFC 5280). */
function signatureAlgorithm(der: Buffer): string {
  const toBeSigned = elementAt(der, elementAt(der, 0).start);
  const identifier = elementAt(der, elementAt(der, toBeSigned.end).start);
  return der.toString("hex", identifier.start, identifier.end);
}

/** Where the content of a DER element is. */
function elementAt(der: Buffer, at: number): { readonly start: number; readonly end: number } {
  const first = der[at + 1]!;
  if (first < 0x80) return { start: at + 2, end: at + 2 + first };
  const bytes = first & 0x7f;
  const start = at + 2 + bytes;
  return { start, end: start + der.readUIntBE(at + 2, bytes) };
}
