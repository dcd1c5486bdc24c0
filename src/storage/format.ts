/**
 * The file FORMAT of a shard's directory: the version of its content, which partition it is, and whether it was ever
 * opened. Checked before anything in the directory is opened; format-upgrade.ts brings older ones up to date. Called
 * by whoever makes or opens a shard on disk.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { replaceFileDurably, writeFileDurably } from "./disk.js";

/**
 * Raised whenever keys, records, the commit log or the layout change in a way that older code cannot read, together
 * with a step in format-upgrade.ts. 1: the first release. 2: directories know their installation and their number.
 */
export const FORMAT_VERSION = 2;

/**
 * The oldest that this release serves. A cluster keeps the format of its oldest release until all its nodes have been
 * upgraded and `tessera cluster finalize` was run.
 */
export const FORMAT_OLDEST = 2;

export function isServed(format: number): boolean {
  return format >= FORMAT_OLDEST && format <= FORMAT_VERSION;
}

const FILE_NAME = "FORMAT";

/** In the directory of an encrypted shard (tenant-keys.ts); made before the shard is opened for the first time. */
export const KEYS_FOLDER = "keys";

/** Which partition of which installation a directory is. */
export interface ShardIdentity {
  /** The id in the data directory's file INSTALLATION. */
  readonly installation: string;
  readonly partition: number;
}

export interface ShardFormat extends Partial<ShardIdentity> {
  readonly product: "tessera";
  readonly format: number;
  /** It was made and has never been opened, so that nothing in it is missing. */
  readonly unopened?: true;
}

/** Makes a directory for a shard that does not exist yet; the file FORMAT comes first. */
export function createShardDirectory(directory: string, identity: ShardIdentity | null, format = FORMAT_VERSION): void {
  mkdirSync(directory, { recursive: true });
  writeShardFormat(directory, unopened(identity, format));
}

export function writeShardFormat(directory: string, format: ShardFormat): void {
  writeFileDurably(join(directory, FILE_NAME), textOf(format));
}

/** The same, while the thread goes on with other work. */
export async function replaceShardFormat(directory: string, format: ShardFormat): Promise<void> {
  await mkdir(directory, { recursive: true });
  await replaceFileDurably(join(directory, FILE_NAME), textOf(format));
}

function textOf(format: ShardFormat): string {
  return `${JSON.stringify(format)}\n`;
}

/** What the file says of a shard that was never opened. */
function unopened(identity: ShardIdentity | null, format: number): ShardFormat {
  return { product: "tessera", format, ...identity, unopened: true };
}

/** As createShardDirectory, while the thread goes on with other work. */
export function makeShardDirectory(
  directory: string,
  identity: ShardIdentity | null,
  format = FORMAT_VERSION,
): Promise<void> {
  return replaceShardFormat(directory, unopened(identity, format));
}

/** Undefined: there is no such file. Throws `partition_damaged` when it cannot be understood. */
export function readShardFormat(directory: string): ShardFormat | undefined {
  const path = join(directory, FILE_NAME);
  if (!existsSync(path)) return undefined;
  try {
    const found = JSON.parse(readFileSync(path, "utf8")) as Partial<ShardFormat>;
    if (found.product === "tessera" && Number.isSafeInteger(found.format)) return found as ShardFormat;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new DbError("partition_damaged", `${path} is damaged: restore it from a backup of this directory.`);
}

/**
 * Checks a directory before it is opened; without an identity it is made when it is not there (tools, tests). With one,
 * it belongs to a data directory that knows it: then one that is gone, is another's or has lost its parts is damaged.
 * Throws `partition_damaged` or `internal_error` with what to do.
 */
export function checkShardDirectory(directory: string, identity: ShardIdentity | null): void {
  if (identity !== null && !existsSync(directory)) throw gone(directory, identity.partition, "is gone");
  if (identity === null) mkdirSync(directory, { recursive: true });
  const found = readShardFormat(directory);
  if (found === undefined) {
    // A crash while FORMAT was being written leaves only its temporary file: the directory is still new.
    const others = readdirSync(directory).filter((name) => !name.startsWith(`${FILE_NAME}.`));
    if (others.length > 0) {
      const what = `The directory ${directory} has no FORMAT file but holds other files (${others[0]}).`;
      throw new DbError("partition_damaged", `${what} Point the server to an empty directory, or restore the backup.`);
    }
    if (identity !== null) throw gone(directory, identity.partition, "is empty");
    createShardDirectory(directory, null);
    return;
  }
  checkVersion(directory, found.format);
  if (identity === null) return;
  if (found.installation !== identity.installation || found.partition !== identity.partition) {
    throw new DbError(
      "partition_damaged",
      `The directory ${directory} is partition ${found.partition} of installation ${found.installation}, not partition ` +
        `${identity.partition} of ${identity.installation}. Restore the right one from a backup.`,
    );
  }
  if (found.unopened) return;
  for (const part of [join("rocksdb", "CURRENT"), "log"]) {
    if (!existsSync(join(directory, part))) throw gone(join(directory, part), identity.partition, "is gone");
  }
}

/** From now on the parts of the shard have to be there. */
export async function markOpened(directory: string): Promise<void> {
  const found = readShardFormat(directory);
  if (!found?.unopened) return;
  const { unopened: _unopened, ...opened } = found;
  await replaceShardFormat(directory, opened);
}

function gone(path: string, partition: number, what: string): DbError {
  const acceptance =
    partition === 0
      ? "It holds all accounts, so the server cannot start without it."
      : `Or accept the loss of its data: stop the server and run \`tessera accept-loss ${partition}\`.`;
  const told = `${path} ${what}, but partition ${partition} existed before: its data is missing.`;
  return new DbError(
    "partition_damaged",
    `${told} Stop the server and restore a backup of the directory. ${acceptance}`,
  );
}

function checkVersion(directory: string, version: number): void {
  if (isServed(version)) return;
  const advice =
    version > FORMAT_VERSION
      ? "Start the newer server that wrote it, or restore a backup made by this version."
      : "Start the server, which brings it up to date, or run `tessera upgrade`.";
  const what = `The directory ${directory} has format version ${version}; this server reads ${FORMAT_VERSION}.`;
  throw new DbError("internal_error", `${what} ${advice}`);
}
