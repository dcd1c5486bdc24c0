/**
 * The file operations of the commit log, as an interface so that a simulation can inject faults (torn writes, a full
 * disk, failing fsync). `fileDisk` is the real one. Writes are synchronous and go into the page cache; only `sync`
 * waits for the device, in libuv's pool, as does the removal of segments that are not needed any more.
 */
import fs from "node:fs";
import { dirname } from "node:path";

export interface Disk {
  /** Creates the directory and its parents. */
  makeDirectory(path: string): void;
  /** File names, in no special order. */
  list(path: string): string[];
  /** Opens for reading and writing; `create` makes a new empty file in place of any other. Returns a descriptor. */
  open(path: string, create: boolean): number;
  close(file: number): void;
  size(file: number): number;
  /** Bytes from `position` on, fewer than `length` at the end of the file. They are put into `into` if they fit. */
  read(file: number, position: number, length: number, into?: Buffer): Buffer;
  /** Writes from `offset` of `bytes` to its end at `position`; returns how many bytes were taken (at least 1). */
  write(file: number, bytes: Uint8Array, offset: number, position: number): number;
  truncate(file: number, length: number): void;
  /** Resolves when the file's bytes and size are on the device. */
  sync(file: number): Promise<void>;
  /** Resolves when the directory's entries are on the device. */
  syncDirectory(path: string): Promise<void>;
  remove(path: string): void;
  /** Resolves when the file has gone. To free a large one may take the device a tenth of a second. */
  removeLater(path: string): Promise<void>;
}

/** Node reads less than 2 GiB in one call. */
const READ_BYTES_MAX = 1024 * 1024 * 1024;

export const fileDisk: Disk = {
  makeDirectory(path) {
    fs.mkdirSync(path, { recursive: true });
  },
  list(path) {
    return fs.readdirSync(path);
  },
  open(path, create) {
    return fs.openSync(path, create ? "w+" : "r+");
  },
  close(file) {
    fs.closeSync(file);
  },
  size(file) {
    return fs.fstatSync(file).size;
  },
  read(file, position, length, into) {
    const bytes = into !== undefined && into.length >= length ? into : Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const count = fs.readSync(file, bytes, filled, Math.min(length - filled, READ_BYTES_MAX), position + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  },
  write(file, bytes, offset, position) {
    return fs.writeSync(file, bytes, offset, bytes.length - offset, position);
  },
  truncate(file, length) {
    fs.ftruncateSync(file, length);
  },
  sync(file) {
    return new Promise((resolve, reject) => {
      fs.fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
    });
  },
  async syncDirectory(path) {
    const directory = await fs.promises.open(path, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },
  remove(path) {
    fs.unlinkSync(path);
  },
  removeLater(path) {
    return fs.promises.unlink(path);
  },
};

/**
 * Makes the directory below `root`, or `root` itself, if needed, and syncs their names to the device: otherwise files
 * synced within them could be lost. Private to the server's user.
 */
export async function makeDirectoryDurably(path: string, root: string): Promise<void> {
  fs.mkdirSync(path, { recursive: true, mode: 0o700 });
  // Syncs even an existing directory: its maker may have ended before syncing it.
  for (let at = path; at !== root; at = dirname(at)) await fileDisk.syncDirectory(dirname(at));
  try {
    await fileDisk.syncDirectory(dirname(root));
  } catch (error) {
    // An operator may have made the root where the server can read nothing else.
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
  }
}

/**
 * Replaces a small file so that a crash leaves either the old or the new content. Waits for the device. `mode`: of the
 * new one.
 */
export function writeFileDurably(path: string, text: string, mode = 0o666): void {
  const temporary = `${path}.new`;
  // A crash may have left one, which would keep its own mode.
  fs.rmSync(temporary, { force: true });
  const file = fs.openSync(temporary, "wx", mode);
  try {
    fs.writeSync(file, text);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
  fs.renameSync(temporary, path);
  syncDirectoryNow(dirname(path));
}

/** The same, while the thread goes on with other work. Nobody else writes the file meanwhile. */
export async function replaceFileDurably(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  await fs.promises.rm(temporary, { force: true });
  const file = await fs.promises.open(temporary, "wx");
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await fs.promises.rename(temporary, path);
  await fileDisk.syncDirectory(dirname(path));
}

/** Puts the names in it on the device. Waits for it. */
export function syncDirectoryNow(path: string): void {
  const directory = fs.openSync(path, "r");
  try {
    fs.fsyncSync(directory);
  } finally {
    fs.closeSync(directory);
  }
}
