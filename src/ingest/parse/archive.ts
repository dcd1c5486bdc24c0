/**
 * The ZIP archive of an office document or a book. Its declared entries, bytes and ratio are checked before anything
 * is inflated, and so are overlaps. Each entry is held to its declared size while it is inflated (yauzl counts its
 * bytes). Used by the parsers of DOCX, PPTX, XLSX and EPUB.
 */
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { DbError } from "../../protocol/errors.js";
import { ARCHIVE_BYTES_MAX, ARCHIVE_ENTRIES_MAX, ARCHIVE_RATIO_MAX } from "../../protocol/limits.js";
import { decodeText } from "./decode-text.js";

/** Below this a high ratio is no danger: short documents of little variety pack well. */
const RATIO_APPLIES_FROM_BYTES = 4 * 1024 * 1024;

export interface Archive {
  readonly names: readonly string[];
  /** Null when there is no such entry. */
  bytes(name: string): Promise<Buffer | null>;
  text(name: string): Promise<string | null>;
  /** Inflates all, for readers that are given the archive itself. */
  verify(): Promise<void>;
}

/** Throws DbError `file_corrupt`, `file_too_large` or `file_encrypted`; so do its functions. */
export async function openArchive(bytes: Buffer): Promise<Archive> {
  const entries = new Map<string, Entry>();
  const zip = await orCorrupt(() => fromBufferPromise(bytes, { lazyEntries: true, validateEntrySizes: true }));
  await orCorrupt(() => listEntries(zip, bytes.length, entries));
  const archive: Archive = {
    names: [...entries.keys()],
    async bytes(name) {
      const entry = entries.get(name);
      return entry === undefined ? null : orCorrupt(() => inflate(zip, entry));
    },
    async text(name) {
      const content = await archive.bytes(name);
      return content === null ? null : decodeText(content).text;
    },
    async verify() {
      for (const name of entries.keys()) await archive.bytes(name);
    },
  };
  return archive;
}

async function listEntries(zip: ZipFile, packedBytes: number, entries: Map<string, Entry>): Promise<void> {
  if (zip.entryCount > ARCHIVE_ENTRIES_MAX) throw tooLarge(`${zip.entryCount} entries; at most ${ARCHIVE_ENTRIES_MAX}`);
  let inflated = 0;
  let packed = 0;
  for await (const entry of zip.eachEntry()) {
    if (entry.isEncrypted()) throw new DbError("file_encrypted");
    inflated += entry.uncompressedSize;
    packed += entry.compressedSize;
    if (inflated > ARCHIVE_BYTES_MAX)
      throw tooLarge(`more than ${ARCHIVE_BYTES_MAX} bytes when inflated; at most that`);
    // The same packed bytes in many entries inflate to more than the size of the file can tell.
    if (packed > packedBytes) throw new DbError("file_corrupt", "The archive's entries overlap.");
    if (inflated > RATIO_APPLIES_FROM_BYTES && inflated > packedBytes * ARCHIVE_RATIO_MAX) {
      throw tooLarge(
        `${Math.round(inflated / packedBytes)} times the file's bytes; at most ${ARCHIVE_RATIO_MAX} times`,
      );
    }
    entries.set(entry.fileName, entry);
  }
}

async function inflate(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const stream = await zip.openReadStreamPromise(entry);
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function tooLarge(what: string): DbError {
  return new DbError("file_too_large", `The archive has ${what} are read.`);
}

async function orCorrupt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DbError) throw error;
    throw new DbError("file_corrupt", `The archive cannot be read: ${(error as Error).message}.`);
  }
}
