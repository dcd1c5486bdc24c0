/**
 * Opens and reads a file of a user's folder with care: it must stay inside its root once links are followed, be a
 * regular file, be within its bound before a byte of it is read, and not change while it is read. Synchronous: runs in
 * task threads only.
 */
import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
} from "node:fs";
import { sep } from "node:path";
import { DbError } from "../../protocol/errors.js";
import type { FileFacts, FilePlace } from "./contract.js";

const PIECE_BYTES = 1024 * 1024;

export interface ReadFile extends FileFacts {
  readonly content: Buffer;
}

/** Throws DbError `not_found`, `forbidden`, `file_unsupported`, `file_too_large` or `file_changed`. */
export function readWholeFile(place: FilePlace): ReadFile {
  return withOpenFile(place, (fd, size) => {
    const content = Buffer.allocUnsafeSlow(size);
    let at = 0;
    while (at < size) {
      const read = readSync(fd, content, at, Math.min(PIECE_BYTES, size - at), null);
      if (read === 0) break;
      at += read;
    }
    return { content, digest: createHash("sha256").update(content).digest("hex") };
  });
}

/** The facts alone, without keeping the content. Throws as `readWholeFile`. */
export function digestFile(place: FilePlace): FileFacts {
  return withOpenFile(place, (fd, size) => {
    const hash = createHash("sha256");
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, Math.max(size, 1)));
    for (let at = 0; at < size; ) {
      const read = readSync(fd, piece, 0, Math.min(piece.length, size - at), null);
      if (read === 0) break;
      hash.update(piece.subarray(0, read));
      at += read;
    }
    return { digest: hash.digest("hex") };
  });
}

function withOpenFile<T>(place: FilePlace, read: (fd: number, size: number) => T): T & Omit<FileFacts, "digest"> {
  const real = realPathInside(place);
  const fd = openPlain(real, place.path);
  try {
    const before = fstatSync(fd, { bigint: true });
    checkFile(before, real, place);
    const size = Number(before.size);
    const result = read(fd, size);
    const after = fstatSync(fd, { bigint: true });
    if (
      after.size !== before.size ||
      after.mtimeNs !== before.mtimeNs ||
      readSync(fd, Buffer.alloc(1), 0, 1, size) > 0
    ) {
      throw new DbError("file_changed", `The file ${place.path} changed while it was read.`);
    }
    return { ...result, bytes: size, modifiedMs: Number(before.mtimeMs) };
  } finally {
    closeSync(fd);
  }
}

/** An open descriptor for files that are read here and there. The caller closes it. Throws as `readWholeFile`. */
export function openFile(place: FilePlace): { readonly descriptor: number; readonly bytes: number } {
  const real = realPathInside(place);
  const descriptor = openPlain(real, place.path);
  try {
    const facts = fstatSync(descriptor, { bigint: true });
    checkFile(facts, real, place);
    return { descriptor, bytes: Number(facts.size) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function realPathInside({ path, root }: FilePlace): string {
  try {
    const top = realpathSync(root);
    const real = realpathSync(path);
    if (real.startsWith(top.endsWith(sep) ? top : top + sep)) return real;
  } catch (error) {
    throw readError(error, path);
  }
  throw new DbError("forbidden", `The file ${path} is not inside the folder of its collection.`);
}

function openPlain(real: string, path: string): number {
  try {
    // Not blocking, so that a pipe that nobody writes to does not hold the thread.
    return openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw readError(error, path);
  }
}

function checkFile(opened: BigIntStats, real: string, { path, bytesMax }: FilePlace): void {
  if (!opened.isFile()) throw new DbError("file_unsupported", `${path} is no regular file.`);
  // A folder on the way may have become a link between the two calls: then the name and the opened file are two files.
  const named = lstatSync(real, { bigint: true, throwIfNoEntry: false });
  if (named === undefined || named.ino !== opened.ino || named.dev !== opened.dev) {
    throw new DbError("file_changed", `The file ${path} was replaced while it was opened.`);
  }
  if (opened.size > BigInt(bytesMax)) {
    throw new DbError("file_too_large", `The file ${path} has ${opened.size} bytes; at most ${bytesMax} are read.`);
  }
}

function readError(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return new DbError("not_found", `There is no file ${path}.`);
  if (code === "EACCES" || code === "EPERM") return new DbError("forbidden", `The server may not read ${path}.`);
  if (code === "ELOOP") return new DbError("forbidden", `The links of ${path} lead in a circle or were changed.`);
  if (code === "ENXIO" || code === "ENODEV") return new DbError("file_unsupported", `${path} is no regular file.`);
  if (code === "ENAMETOOLONG") return new DbError("not_found", `The name ${path.slice(0, 200)}… is too long.`);
  return error;
}
