/**
 * The canonical form of recipes, the same however they were written: JSON with sorted keys and no white space (as RFC
 * 8785 has it), its digest, and signatures of that. Pure.
 */
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import type { Signature } from "./recipe.js";

/** Throws TypeError for what JSON has no form for. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(",")}}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError("a number that is not finite");
  return JSON.stringify(value);
}

/** `sha256:` and 64 hexadecimal digits, of the document without its signature. */
export function digestOf(recipe: object): string {
  const { signature: _, ...document } = recipe as { readonly signature?: unknown };
  return `sha256:${createHash("sha256").update(canonicalJson(document)).digest("hex")}`;
}

/** DER of an Ed25519 public key up to its 32 bytes (RFC 8410, section 4). */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/**
 * Reads a key: base64 of its 32 bytes, or of its DER as `openssl pkey -pubout -outform DER` writes it. Null for
 * anything else.
 */
export function publicKeyOf(text: string): KeyObject | null {
  const bytes = Buffer.from(text, "base64");
  const der = bytes.length === 32 ? Buffer.concat([SPKI_PREFIX, bytes]) : bytes;
  try {
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return key.asymmetricKeyType === "ed25519" ? key : null;
  } catch {
    return null;
  }
}

/** The key, as given, that has signed the digest's text; null: none of them. */
export function signerOf(digest: string, signature: Signature, keys: readonly string[]): string | null {
  const value = Buffer.from(signature.value, "base64");
  const isBy = (text: string) => {
    const key = publicKeyOf(text);
    return key !== null && value.length === 64 && verify(null, Buffer.from(digest), key, value);
  };
  return keys.find(isBy) ?? null;
}
