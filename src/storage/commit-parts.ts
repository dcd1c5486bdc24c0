/**
 * The parts of a large commit where they stand in the commit log, for another thread, which may read them later than
 * the log would keep them.
 */
import { linkSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { PartsFiles } from "./commit-log.js";
import { fileDisk } from "./disk.js";
import { RECORD_KIND } from "./log-record.js";
import type { CommitParts } from "./operation.js";
import { SegmentReader } from "./segment-reader.js";

const CHUNK_BYTES = 1024 * 1024;

/** Holds the files in a folder of its own, on the same file system, whatever the log does with them; by hard links. */
export function holdParts(parts: PartsFiles, folder: string): PartsFiles {
  mkdirSync(folder, { recursive: true });
  const files = parts.files.map(({ path, length }, i) => {
    const link = heldPath(folder, i);
    linkSync(path, link);
    return { path: link, length };
  });
  return { ...parts, files };
}

/** What `holdParts` has put into the folder; null: it is not all there. */
export function heldParts(parts: CommitParts, lengths: readonly number[], folder: string): PartsFiles | null {
  const files = lengths.map((length, i) => ({ path: heldPath(folder, i), length }));
  const areThere = files.every(({ path, length }) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found !== undefined && found.size >= length;
  });
  return areThere ? { ...parts, files } : null;
}

const heldPath = (folder: string, number: number): string => join(folder, `${number}.log`);

export interface PartsVisitor {
  /** A value that is put: the bytes, which are not kept, and where in them its key and it begin, and it ends. */
  put(bytes: Uint8Array, key: number, value: number, end: number): void;
  /** Asked before each part; true: it is to end. */
  isStopped(): boolean;
}

/** False: it was stopped. Throws when the files are gone or are not what was written. */
export function visitParts({ id, operations, files }: PartsFiles, visitor: PartsVisitor): boolean {
  let read = 0;
  for (const { path, length } of files) {
    const reader = new SegmentReader(fileDisk, { path, length, salt: null }, CHUNK_BYTES, true);
    try {
      while (reader.offset < length) {
        const head = reader.head();
        if (head === null) throw new Error(`${path} is damaged`);
        if (head.kind !== RECORD_KIND.part || head.micros !== id) continue;
        if (visitor.isStopped()) return false;
        read += head.count;
        reader.puts((bytes, key, value, end) => visitor.put(bytes, key, value, end));
      }
    } finally {
      reader.close();
    }
  }
  if (read !== operations) throw new Error(`the log has ${read} of ${operations} operations`);
  return true;
}
