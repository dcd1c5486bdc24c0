/** A folder for files that tests write, and a parse of one of them as a task would do it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ParsedFile, ParseJob } from "../../src/ingest/parse/contract.js";
import { parseFile } from "../../src/ingest/parse/parse-file.js";
import { DbError } from "../../src/protocol/errors.js";

export interface IngestFolder {
  readonly path: string;
  write(name: string, content: string | Uint8Array): string;
  parse(name: string, options?: Partial<ParseJob>): Promise<ParsedFile>;
  /** Writes, then parses. */
  parsed(name: string, content: string | Uint8Array, options?: Partial<ParseJob>): Promise<ParsedFile>;
  /** The code of the error that the parse ends in; null when it does not. Anything but a DbError is thrown. */
  codeOf(name: string, options?: Partial<ParseJob>): Promise<string | null>;
}

/** Removed at the end of `t`. */
export function ingestFolder(t: { teardown(end: () => void): void }): IngestFolder {
  const path = mkdtempSync(join(tmpdir(), "tessera-ingest-"));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  const jobOf = (name: string, options: Partial<ParseJob>): ParseJob => ({
    path: join(path, name),
    root: path,
    bytesMax: 64 * 1024 * 1024,
    ocrImages: false,
    chunkCharacters: 1000,
    overlapCharacters: 100,
    timeoutMs: 60_000,
    thumbnails: true,
    ...options,
  });
  const folder: IngestFolder = {
    path,
    write(name, content) {
      writeFileSync(join(path, name), content);
      return join(path, name);
    },
    parse: (name, options = {}) => parseFile(jobOf(name, options)),
    parsed(name, content, options) {
      folder.write(name, content);
      return folder.parse(name, options);
    },
    async codeOf(name, options) {
      try {
        await folder.parse(name, options);
        return null;
      } catch (error) {
        if (error instanceof DbError) return error.code;
        throw error;
      }
    },
  };
  return folder;
}

export const textOf = (file: ParsedFile): string => file.chunks.map(({ text }) => text).join("\n");
