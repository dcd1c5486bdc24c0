/**
 * A later release, made of this build: its data have a newer format, its endpoints have other codes, and one of them
 * has another name, so that it is one that the release before does not have.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PROJECT } from "../../src/protocol/places.js";
import { FORMAT_VERSION } from "../../src/storage/format.js";

export const NEXT_RELEASE = "99.0.0";
export const NEXT_FORMAT = FORMAT_VERSION + 1;
/** GET /v1/branches. */
const RENAMED = "branches.list";

/** Of UPGRADE_STEPS. */
const LAST_STEP = 'what: "directories know their installation and their number" }';

/** What is changed in the scripts, and in how many of them at least. */
const CHANGES: readonly [text: string, changed: string, least: number][] = [
  [`FORMAT_VERSION = ${FORMAT_VERSION};`, `FORMAT_VERSION = ${NEXT_FORMAT};`, 3],
  [LAST_STEP, `${LAST_STEP}, { to: ${NEXT_FORMAT}, what: "the next one" }`, 1],
  ["...serverEndpoints,\n      ...authEndpoints,", "...authEndpoints,\n      ...serverEndpoints,", 2],
  [`"${RENAMED}"`, `"${RENAMED}.next"`, 2],
];

/** Returns the program. `folder` is empty. */
export function makeNextRelease(folder: string): string {
  const project = fileURLToPath(PROJECT);
  for (const name of readdirSync(project)) {
    if (!["bin", "dist", "package.json"].includes(name)) symlinkSync(join(project, name), join(folder, name));
  }
  cpSync(join(project, "bin"), join(folder, "bin"), { recursive: true });
  const about = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as object;
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...about, version: NEXT_RELEASE }));
  mkdirSync(join(folder, "dist"));
  for (const name of readdirSync(join(project, "dist"))) {
    if (name !== "server") symlinkSync(join(project, "dist", name), join(folder, "dist", name));
  }
  changeScripts(join(project, "dist/server"), join(folder, "dist/server"));
  return join(folder, "bin/tessera");
}

function changeScripts(from: string, to: string): void {
  mkdirSync(to);
  const changed = new Map<string, number>();
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [there, here] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) symlinkSync(there, here);
    // What V8 has compiled of the unchanged scripts is left out.
    else if (entry.name.endsWith(".cjs"))
      writeFileSync(here, changeScript(readFileSync(there, "latin1"), changed), "latin1");
  }
  for (const [text, , least] of CHANGES) {
    if ((changed.get(text) ?? 0) < least) throw new Error(`too few scripts have ${text}: look at dist/server`);
  }
}

function changeScript(script: string, changed: Map<string, number>): string {
  let out = script;
  for (const [text, other] of CHANGES) {
    if (!out.includes(text)) continue;
    out = out.replaceAll(text, other);
    changed.set(text, (changed.get(text) ?? 0) + 1);
  }
  return out;
}
