/**
 * Opens a RocksDB directory for reading when its disk has no byte left. RocksDB writes some files at every open (a
 * manifest, its options, a log) and cannot be told to leave that. So it is given another directory, in memory, where
 * the tables are symbolic links to the real files and everything else is a copy. It may write and delete there as it
 * likes: the real directory stays as it is. What the copy was told goes with it, so nothing may be committed while it
 * is in use (shard-on-disk.ts).
 */
import { copyFileSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { DbError } from "../protocol/errors.js";
import { LEFT_OUT } from "./engine-copy.js";

const TABLE = /\.(?:sst|blob)$/;
/** For the files that RocksDB makes, beside twice what is copied: logs are written out as tables. */
const ROOM_BYTES = 32 * 1024 * 1024;
const PLACES: readonly string[] = ["/dev/shm", tmpdir()];

/**
 * `name`: of this partition among all of the machine; what an ended process left under it is removed. Throws disk_full
 * when there is no place.
 */
export function linkElsewhere(directory: string, name: string): string {
  removeLeft(name);
  const entries = readdirSync(directory).filter((entry) => !LEFT_OUT.test(entry));
  const copied = entries.filter((entry) => !TABLE.test(entry));
  let bytes = ROOM_BYTES;
  for (const entry of copied) bytes += 2 * statSync(join(directory, entry)).size;
  const place = PLACES.find((path) => roomOf(path) >= bytes);
  if (place === undefined) throw noPlace(directory, bytes);
  // Private to this user, whatever the place is.
  const elsewhere = mkdtempSync(join(place, prefixOf(name)));
  try {
    for (const entry of entries) {
      if (TABLE.test(entry)) symlinkSync(resolve(directory, entry), join(elsewhere, entry));
      else copyFileSync(join(directory, entry), join(elsewhere, entry));
    }
  } catch (error) {
    rmSync(elsewhere, { recursive: true, force: true });
    throw error;
  }
  return elsewhere;
}

/** Removes what `linkElsewhere` made in this or in an ended process. */
export function removeLeft(name: string): void {
  for (const place of PLACES) {
    for (const entry of entriesOf(place)) {
      if (entry.startsWith(prefixOf(name))) rmSync(join(place, entry), { recursive: true, force: true });
    }
  }
}

const prefixOf = (name: string): string => `tessera-${basename(name)}-`;

function entriesOf(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    // No such place on this system.
    return [];
  }
}

function roomOf(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

function noPlace(directory: string, bytes: number): DbError {
  const needed = Math.ceil(bytes / 2 ** 20);
  return new DbError(
    "disk_full",
    `The disk of ${directory} is full, and neither ${PLACES.join(" nor ")} has the ${needed} MiB with which the partition could be ` +
      "opened for reading. Make room on the disk of the data directory, then start the server again.",
  );
}
