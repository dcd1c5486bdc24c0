/**
 * Puts a partition's files that came from another node in the place of those that this node has, and deletes those of
 * a copy that it shall not keep. New files are made complete
 * in a folder aside. From then on a crash at any moment is made good by the next call of `finishReplacement`, with the
 * new files. The thread, an actor's, waits for none of its syncs.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileDisk, replaceFileDurably } from "../storage/disk.js";
import { makeShardDirectory, readShardFormat, replaceShardFormat, type ShardIdentity } from "../storage/format.js";

export interface Replacement {
  /** Of a whole partition. */
  readonly directory: string;
  readonly engine: string;
  readonly log: string;
  /** All is there, and on the device. */
  complete(): Promise<void>;
  /** It is not wanted. */
  remove(): Promise<void>;
}

const FORMAT = "FORMAT";
const COMPLETE = "COMPLETE";
/** What it replaces, until it is removed. */
const OLD = "old";
/** In this order: with a new engine and no log the partition counts as empty, and is copied again. */
const LOG = "log";
const PARTS = ["rocksdb", LOG];

const asideOf = (directory: string): string => `${directory}.new`;
/** What was deleted, until it is gone. */
const deletedOf = (directory: string): string => `${directory}.old`;

/** An empty directory for the same partition. What an unfinished attempt has left is removed. */
export async function prepareReplacement(directory: string): Promise<Replacement> {
  const aside = asideOf(directory);
  await rm(aside, { recursive: true, force: true });
  const { installation, partition, format } = readShardFormat(directory) ?? {};
  const isKnown = installation !== undefined && partition !== undefined;
  const identity: ShardIdentity | null = isKnown ? { installation, partition } : null;
  await makeShardDirectory(aside, identity, format);
  await mkdir(join(aside, OLD));
  return {
    directory: aside,
    engine: join(aside, "rocksdb"),
    log: join(aside, "log"),
    complete: () => replaceFileDurably(join(aside, COMPLETE), ""),
    remove: () => rm(aside, { recursive: true, force: true }),
  };
}

/**
 * Deletes a copy that this node shall not keep. The directory stays, like that of a partition that was never opened.
 * Nobody has its files open.
 */
export async function removeCopy(directory: string): Promise<void> {
  const format = readShardFormat(directory);
  // What is missing from now on is not a loss.
  if (format !== undefined) await replaceShardFormat(directory, { ...format, unopened: true });
  const deleted = deletedOf(directory);
  await rm(asideOf(directory), { recursive: true, force: true });
  await rm(deleted, { recursive: true, force: true });
  await mkdir(deleted, { recursive: true });
  const names = (await readdir(directory)).filter((name) => name !== FORMAT);
  // Without its log the copy counts as empty, whatever else is left after a crash.
  names.sort((a, b) => Number(b === LOG) - Number(a === LOG));
  for (const name of names) {
    await rename(join(directory, name), join(deleted, name));
    await fileDisk.syncDirectory(directory);
  }
  await rm(deleted, { recursive: true, force: true });
}

/** Does nothing where no replacement is complete. Nobody has the partition's files open. */
export async function finishReplacement(directory: string): Promise<void> {
  await rm(deletedOf(directory), { recursive: true, force: true });
  const aside = asideOf(directory);
  if (!existsSync(join(aside, COMPLETE))) return;
  const { unopened: _unopened, ...format } = readShardFormat(aside)!;
  // What is missing from now on is not a loss.
  await replaceShardFormat(directory, { ...format, unopened: true });
  for (const name of await readdir(directory)) {
    const isNew = PARTS.includes(name) && !existsSync(join(aside, name));
    if (name === FORMAT || isNew) continue;
    await rm(join(aside, OLD, name), { recursive: true, force: true });
    await rename(join(directory, name), join(aside, OLD, name));
  }
  for (const part of PARTS) {
    if (existsSync(join(aside, part))) await rename(join(aside, part), join(directory, part));
    await fileDisk.syncDirectory(directory);
  }
  await replaceShardFormat(directory, format);
  await rm(join(aside, COMPLETE));
  await fileDisk.syncDirectory(aside);
  await rm(aside, { recursive: true, force: true });
}
