/**
 * The parts of a large commit where they stand in the commit log, for another thread, which may read them later than
 * the log would keep them.
 */
import { linkSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { PartsFiles } from "./commit-log.js";
import { fileDisk } from "./disk.js";
import { RECORD_KIND } from "./log-record.js";
import type { Operation } from "./operation.js";
import { SegmentReader } from "./segment-reader.js";

const CHUNK_BYTES = 1024 * 1024;

/** Holds the files in a folder of its own, on the same file system, whatever the log does with them; by hard links. */
export function holdParts(parts: PartsFiles, folder: string): PartsFiles {
  mkdirSync(folder, { recursive: true });
  const files = parts.files.map(({ path, length }, i) => {
    const link = join(folder, `${i}.log`);
    linkSync(path, link);
    return { path: link, length };
  });
  return { ...parts, files };
}

/**
 * Calls `visit` with the operations of each part, which are views of a larger buffer, until it answers false. Throws
 * when the files are gone or are not what was written.
 */
export function forEachPart(
  { id, operations, files }: PartsFiles,
  visit: (operations: readonly Operation[]) => boolean,
): void {
  let read = 0;
  for (const { path, length } of files) {
    const reader = new SegmentReader(fileDisk, { path, length, salt: null }, CHUNK_BYTES);
    try {
      while (reader.offset < length) {
        const head = reader.head();
        if (head === null) throw new Error(`${path} is damaged`);
        if (head.kind !== RECORD_KIND.part || head.micros !== id) continue;
        read += head.count;
        if (!visit(reader.record(head, null).operations)) return;
      }
    } finally {
      reader.close();
    }
  }
  if (read !== operations) throw new Error(`the log has ${read} of ${operations} operations`);
}
