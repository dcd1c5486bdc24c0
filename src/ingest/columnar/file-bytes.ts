/** Bytes of an open file. Synchronous: runs in task threads only. */
import { readSync } from "node:fs";
import { DbError } from "../../protocol/errors.js";
import { cryptAt } from "../../protocol/file-cipher.js";
import type { RowFile } from "./contract.js";

export type OpenBytes = Pick<RowFile, "descriptor" | "cipher">;

/** Throws `invalid_request` where the file ends before. */
export function bytesAt({ descriptor, cipher }: OpenBytes, from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let at = 0; at < length; ) {
    const read = readSync(descriptor, bytes, at, length - at, from + at);
    if (read === 0) throw new DbError("invalid_request", "The file ends too early: it is not complete.");
    at += read;
  }
  return cipher === undefined ? bytes : cryptAt(cipher, bytes, from);
}

/** What a package says of a file that it cannot read. */
export function unreadable(format: string, error: unknown): DbError {
  if (error instanceof DbError) return error;
  return new DbError("invalid_request", `The file is not readable as ${format}: ${(error as Error).message}`);
}
