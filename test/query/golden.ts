/**
 * Golden files: what a test prints is compared with a committed file. `TESSERA_GOLDEN=update` rewrites the files, which
 * are then read in review like code.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

/** The repository's root, above the folder that the tests are compiled into. */
const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

export function goldenPath(name: string): string {
  return join(ROOT, "test", "golden", name);
}

export function matchesGolden(t: Test, name: string, text: string): void {
  const path = goldenPath(name);
  if (process.env.TESSERA_GOLDEN === "update") writeFileSync(path, text);
  t.equal(text, readFileSync(path, "utf8"), name);
}
