/**
 * The format version of a shard directory, in a file named FORMAT that is written when the directory is created and
 * checked before anything in it is opened. Called by whoever opens a shard on disk.
 */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { writeFileDurably } from "./disk.js";

/** Raised whenever keys, records or the commit log change in a way that older code cannot read. */
export const FORMAT_VERSION = 1;

const FILE_NAME = "FORMAT";

interface Format {
  readonly product: string;
  readonly format: number;
}

/**
 * Creates the directory with its FORMAT file, or checks the one that is there. Throws internal_error with what to do
 * when the directory is of another version, or has files but no readable FORMAT.
 */
export function prepareShardDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const files = readdirSync(directory);
  if (!files.includes(FILE_NAME)) {
    // A crash while FORMAT was being written leaves only its temporary file: the directory is still new.
    const others = files.filter((name) => !name.startsWith(`${FILE_NAME}.`));
    if (others.length > 0) {
      const what = `The directory ${directory} has no FORMAT file but holds other files (${others[0]}).`;
      throw new DbError("partition_damaged", `${what} Point the server to an empty directory, or restore the backup.`);
    }
    const format: Format = { product: "tessera", format: FORMAT_VERSION };
    writeFileDurably(join(directory, FILE_NAME), `${JSON.stringify(format)}\n`);
    return;
  }
  const version = readVersion(directory);
  if (version === FORMAT_VERSION) return;
  const advice =
    version > FORMAT_VERSION
      ? "Start the newer server that wrote it, or restore a backup made by this version."
      : "Start the older server, export the data, and import it with this one.";
  const what = `The directory ${directory} has format version ${version}; this server reads ${FORMAT_VERSION}.`;
  throw new DbError("internal_error", `${what} ${advice}`);
}

function readVersion(directory: string): number {
  const path = join(directory, FILE_NAME);
  const text = readFileSync(path, "utf8");
  try {
    const { product, format } = JSON.parse(text) as Partial<Format>;
    if (product === "tessera" && Number.isSafeInteger(format)) return format!;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new DbError("partition_damaged", `${path} is damaged: restore it from a backup of this directory.`);
}
