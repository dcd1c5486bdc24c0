/** Copies of the bundled model, changed by tests. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Manifest } from "../../src/ai/manifest.js";

export const BUNDLED = fileURLToPath(new URL("../../../models/", import.meta.url));
export const ID = "tessera-embed-384";

export const folder = mkdtempSync(join(tmpdir(), "tessera-models-"));
// Files that share a process share this folder.
process.once("exit", () => rmSync(folder, { recursive: true }));

let roots = 0;

/** A root with a copy of the bundled model, changed. */
export function rootWith(change: (bundle: string) => void): string {
  const root = join(folder, String(++roots));
  cpSync(join(BUNDLED, ID), join(root, ID), { recursive: true });
  change(join(root, ID));
  return root;
}

export function editManifest(bundle: string, edit: (manifest: Manifest) => object): void {
  const file = join(bundle, "manifest.json");
  writeFileSync(file, JSON.stringify(edit(JSON.parse(readFileSync(file, "utf8")) as Manifest)));
}
