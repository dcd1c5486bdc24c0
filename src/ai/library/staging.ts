/**
 * Files in the model root beside bundles: files that are being pulled, in `.pulling/{id}/`, and bundles that are being
 * removed, in `.deleted-…`. Neither has a manifest.json of its own, so neither is taken for a bundle. Pulled files are
 * named by their digest until all are there; then they become a bundle by renaming. Called by pull.ts and
 * model-library.ts.
 */
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, readFile, rename, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, parseManifest } from "../manifest.js";
import type { OfferedFile, StoredFile } from "./model-source.js";

const PULLING = ".pulling";
const DELETED = ".deleted-";
/** What a pull left behind that nobody took up again goes after so long. */
const KEPT_MS = 7 * 86_400_000;

/** The folder for the files of a pull. */
export async function openStaging(root: string, id: string): Promise<string> {
  const folder = join(root, PULLING, id);
  await mkdir(folder, { recursive: true });
  // Of a pull that ended while it put its bundle together.
  await rm(join(folder, "bundle"), { recursive: true, force: true });
  return folder;
}

export function removeStaging(root: string, id: string): Promise<void> {
  return rm(join(root, PULLING, id), { recursive: true, force: true });
}

/** Where the file lies while it is loaded. */
export function partOf(folder: string, { name, identity }: OfferedFile): string {
  const key = createHash("sha256").update(identity ?? `file ${name}`);
  return join(folder, `${key.digest("hex")}.part`);
}

/** Takes the file from an installed bundle that has the same, as a start that is checked like what was loaded. */
export async function takeInstalled(
  part: string,
  { identity }: OfferedFile,
  installed: readonly InstalledFiles[],
): Promise<void> {
  if (identity === null || (await sizeOf(part)) > 0) return;
  for (const { directory, files } of installed) {
    const same = files.find(({ sha256 }) => sha256 === identity);
    if (same === undefined || (await sizeOf(join(directory, same.name))) === 0) continue;
    await copyFile(join(directory, same.name), part, constants.COPYFILE_FICLONE);
    return;
  }
}

/** What the manifest of an installed bundle lists, whether the files are whole or not. */
export interface InstalledFiles {
  readonly directory: string;
  readonly files: Manifest["files"];
}

export async function installedFiles(root: string): Promise<InstalledFiles[]> {
  const found: InstalledFiles[] = [];
  for (const name of await namesIn(root)) {
    const directory = join(root, name);
    try {
      const { files } = parseManifest(await readFile(join(directory, "manifest.json"), "utf8"));
      found.push({ directory, files });
    } catch {
      // No bundle, or none that could be of help.
    }
  }
  return found;
}

/** 0: it is not there. */
export async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

/** Bytes that the disk of the folder has left. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/**
 * Makes a bundle of the files, `texts` (by file name) among them, and puts it into the root in one step; a bundle that
 * was there by that name goes.
 */
export async function install(
  root: string,
  id: string,
  files: readonly StoredFile[],
  texts: Readonly<Record<string, string>>,
): Promise<void> {
  const staging = join(root, PULLING, id);
  const bundle = join(staging, "bundle");
  await mkdir(bundle);
  for (const { name, path } of files) await rename(path, join(bundle, name));
  for (const [name, text] of Object.entries(texts)) {
    await writeFile(join(bundle, name), text, { flush: true });
  }
  await syncFolder(bundle);
  const place = join(root, id);
  const old = await moveAway(root, place);
  await rename(bundle, place);
  await syncFolder(root);
  await rm(staging, { recursive: true, force: true });
  if (old !== null) await rm(old, { recursive: true, force: true });
}

/** Takes a bundle out of the root; then removes it. */
export async function uninstall(root: string, directory: string): Promise<void> {
  const old = await moveAway(root, directory);
  await syncFolder(root);
  if (old !== null) await rm(old, { recursive: true, force: true });
}

/** Removes what ended halfway: bundles that were going, and parts that nobody has wanted for a week. */
export async function tidy(root: string, nowMs: number): Promise<void> {
  for (const name of await namesIn(root)) {
    if (name.startsWith(DELETED)) await rm(join(root, name), { recursive: true, force: true });
  }
  const pulling = join(root, PULLING);
  for (const name of await namesIn(pulling)) {
    const folder = join(pulling, name);
    const facts = await stat(folder).catch(() => null);
    if (facts !== null && nowMs - facts.mtimeMs > KEPT_MS) await rm(folder, { recursive: true, force: true });
  }
}

/** Null: nothing is there. */
async function moveAway(root: string, directory: string): Promise<string | null> {
  const to = join(root, DELETED + randomUUID());
  try {
    await rename(directory, to);
    return to;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** So that a rename outlives a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
