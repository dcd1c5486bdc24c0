/**
 * Finds what has to be done so that the records of a folder's files agree with the folder. Pure: called with a page of
 * a scan, or with the files of reported paths, and with the records of the same range of paths.
 */
import type { FoundFile, KnownFile } from "./found-file.js";

export interface Differences {
  readonly added: readonly FoundFile[];
  /** To be read again; `stamp` and `size` are the file's, not the record's. */
  readonly changed: readonly FoundFile[];
  /** Paths of records whose files are not there. */
  readonly gone: readonly string[];
}

/** `isCertain`: whether a path that was not found is known not to be there. */
export function reconcile(
  found: readonly FoundFile[],
  known: readonly KnownFile[],
  isCertain: (path: string) => boolean = () => true,
): Differences {
  const records = new Map(known.map((file) => [file.path, file]));
  const added: FoundFile[] = [];
  const changed: FoundFile[] = [];
  for (const file of found) {
    const record = records.get(file.path);
    records.delete(file.path);
    if (record === undefined) added.push(file);
    else if (record.status === "gone" || record.stamp !== file.stamp) changed.push(file);
  }
  const gone = [...records.values()].filter(({ path, status }) => status !== "gone" && isCertain(path));
  return { added, changed, gone: gone.map(({ path }) => path) };
}

/** For a page of a scan: files in a folder that could not be read may still exist. */
export function certainOutside(unreadable: readonly string[]): (path: string) => boolean {
  return (path) => !unreadable.some((folder) => path.startsWith(folder));
}
