/**
 * The offer of a source that has whole bundles: the manifest describes it completely. Called by the sources of that
 * kind.
 */
import { createHash } from "node:crypto";
import { BundleError, parseManifest } from "../manifest.js";
import type { ModelReference } from "./model-reference.js";
import type { FileBytes, Offer } from "./model-source.js";

export function digestOfManifest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export const MANIFEST_BYTES_MAX = 1024 * 1024;

/** Files that a bundle's folder has of itself. */
const OWN: ReadonlySet<string> = new Set(["manifest.json", "pulled.json"]);

/** `open` gives a file's bytes. Throws BundleError for what is no manifest of a model that this server can run. */
export function bundleOffer(
  bytes: Uint8Array,
  { name: asked }: ModelReference,
  open: (file: string, from: number, signal: AbortSignal) => Promise<FileBytes>,
): Offer {
  if (bytes.length > MANIFEST_BYTES_MAX)
    throw new BundleError(`manifest.json is longer than ${MANIFEST_BYTES_MAX} bytes`);
  const text = Buffer.from(bytes).toString();
  const { id, alias, files } = parseManifest(text);
  if (id !== asked && alias !== asked) throw new BundleError(`manifest.json is that of ${id}`);
  const names = new Set<string>();
  for (const { name } of files) {
    // Where file names are compared without regard to case, two of them must not become one.
    const key = name.toLowerCase();
    if (names.has(key) || OWN.has(key)) throw new BundleError(`manifest.json: files lists ${name} twice or in vain`);
    names.add(key);
  }
  return {
    id,
    digest: digestOfManifest(text),
    files: files.map(({ name, bytes, sha256 }) => ({
      name,
      bytes,
      digest: { kind: "sha256", value: sha256 },
      identity: sha256,
      open: (from, signal) => open(name, from, signal),
    })),
    manifest: async () => text,
  };
}
