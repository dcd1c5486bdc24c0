/**
 * Files that gzip packed: their content, within the bounds of archives. Called by parse-file.ts; synchronous, for task
 * threads.
 */
import { gunzipSync } from "node:zlib";
import { DbError } from "../../protocol/errors.js";
import { ARCHIVE_BYTES_MAX, ARCHIVE_RATIO_MAX } from "../../protocol/limits.js";

/** Below this a high ratio is no danger. */
const RATIO_APPLIES_FROM_BYTES = 4 * 1024 * 1024;

/** As it is where gzip did not pack it. Throws DbError `file_corrupt` or `file_too_large`. */
export function inflateFile(path: string, bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const ratioMax = Math.max(RATIO_APPLIES_FROM_BYTES, bytes.length * ARCHIVE_RATIO_MAX);
  const maxOutputLength = Math.min(ARCHIVE_BYTES_MAX, ratioMax);
  try {
    return gunzipSync(bytes, { maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw new DbError(
        "file_too_large",
        `${path} decompresses to more than ${maxOutputLength} bytes, which is the limit.`,
      );
    }
    throw new DbError("file_corrupt", `${path} is not a complete gzip file: ${(error as Error).message}.`);
  }
}
