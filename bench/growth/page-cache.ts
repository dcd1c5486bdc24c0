/**
 * Takes the files of a data directory out of the page cache, so that what is read next comes from the disk. Each file
 * alone (`dd iflag=nocache`, posix_fadvise): /proc/sys/vm/drop_caches would need root and take the programs' own pages
 * as well.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Smaller files are left as they are. */
const FILE_BYTES_MIN = 64 * 1024;

/** Bytes that are still in the page cache, and bytes of the files; null when it cannot be done or checked here. */
export function dropFromPageCache(folder: string): { readonly left: number; readonly of: number } | null {
  const files = filesOf(folder).filter(({ bytes }) => bytes >= FILE_BYTES_MIN);
  if (files.length === 0) return { left: 0, of: 0 };
  const paths = files.map(({ path }) => path);
  try {
    execFileSync("sync", paths);
    for (const path of paths) execFileSync("dd", [`if=${path}`, "iflag=nocache", "count=0", "status=none"]);
    const lines = execFileSync("fincore", ["--bytes", "--noheadings", "--output", "RES", ...paths], {
      encoding: "utf8",
    });
    const left = lines.split("\n").reduce((sum, line) => sum + Number(line), 0);
    return { left, of: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  } catch (error) {
    console.log(`  the page cache is as it was: ${(error as Error).message}`);
    return null;
  }
}

/** Bytes of the folder's files as they take room on the disk. */
export function diskBytesOf(folder: string): number {
  return filesOf(folder).reduce((sum, { stored }) => sum + stored, 0);
}

function filesOf(folder: string): { path: string; bytes: number; stored: number }[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const path = join(folder, name);
    // It may have been deleted meanwhile.
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? [{ path, bytes: stat.size, stored: stat.blocks * 512 }] : [];
  });
}
