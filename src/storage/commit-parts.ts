/**
 * The parts of a large commit where they stand in the commit log, for another thread. The log may drop the files meanwhile:
 * then reading them fails, and whoever wanted them finds the rows in the engine.
 */
import { linkSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { PartsFiles } from "./commit-log.js";
import { fileDisk } from "./disk.js";
import { RECORD_KIND } from "./log-record.js";
import type { Operation } from "./operation.js";
import { SegmentReader } from "./segment-reader.js";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Calls `visit` with the operations of each part, which are views of a larger buffer, until it answers false. Throws when the
 * files are gone or are not what was written. `scratch` holds them meanwhile; on the same file system, removed in the end.
 */
export function forEachPart(
  { id, operations, files }: PartsFiles,
  scratch: string,
  visit: (operations: readonly Operation[]) => boolean,
): void {
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  try {
    const held = files.map(({ path, length }, i) => {
      const link = join(scratch, `${i}.log`);
      linkSync(path, link);
      return { path: link, length, salt: null };
    });
    let read = 0;
    for (const file of held) {
      const reader = new SegmentReader(fileDisk, file, CHUNK_BYTES);
      try {
        while (reader.offset < file.length) {
          const head = reader.head();
          if (head === null) throw new Error(`${file.path} is damaged`);
          if (head.kind !== RECORD_KIND.part || head.micros !== id) continue;
          read += head.count;
          if (!visit(reader.record(head).operations)) return;
        }
      } finally {
        reader.close();
      }
    }
    if (read !== operations) throw new Error(`the log has ${read} of ${operations} operations`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
