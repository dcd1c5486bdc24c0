/**
 * A copy of a RocksDB directory at one moment, while its owner goes on writing: another thread may open the copy and
 * read it beside the owner, another node may be given its files. Tables are hard links, which cost nothing and stay
 * when the owner deletes its own; the manifest and RocksDB's logs are copied. The copy has everything that the owner
 * wrote before `copyEngine` was called.
 */
import { copyFile, link, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const TABLE = /\.(?:sst|blob)$/;
const LOG = /^\d+\.log$/;
/** Of no use to a copy: locks, and what RocksDB writes about itself. */
export const LEFT_OUT = /^(?:LOCK|LOG(?:\..*)?)$|\.dbtmp$/;
const TRIES_MAX = 100;

/**
 * `into` is made anew, on the same file system. What the manifest names is there while the manifest does not change, so
 * a copy during which it changed is thrown away and made again. Throws when that happened too often.
 */
export async function copyEngine(directory: string, into: string): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    await rm(into, { recursive: true, force: true });
    await mkdir(into, { recursive: true });
    if (await tryCopy(directory, into)) return;
  }
  throw new Error(`${directory} changed too often while it was copied`);
}

async function tryCopy(directory: string, into: string): Promise<boolean> {
  const before = await manifestOf(directory);
  const names = (await readdir(directory)).filter((name) => !LEFT_OUT.test(name));
  try {
    // In order: a log ends before the next one begins.
    for (const name of names.sort()) {
      if (TABLE.test(name)) await link(join(directory, name), join(into, name));
      else await copyFile(join(directory, name), join(into, name));
    }
  } catch (error) {
    // One was deleted meanwhile.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  const left = new Set(await readdir(directory));
  return (await manifestOf(directory)) === before && names.every((name) => !LOG.test(name) || left.has(name));
}

/** Name and length of the manifest, which only grows until another one takes its place. */
async function manifestOf(directory: string): Promise<string> {
  const name = (await readFile(join(directory, "CURRENT"), "utf8")).trim();
  return `${name} ${(await stat(join(directory, name))).size}`;
}
