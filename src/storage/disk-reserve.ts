/**
 * Space on the data directory's disk that is reserved with files of zeros and released when something else has filled
 * the disk. One file is released while the server runs, so that the log, RocksDB and deletions go on. The other is
 * released at a start, since whatever fills the disk may have taken the first one's space, too. Used before partitions
 * are opened (serve.ts) and by the gateway's watermarks; the files are the state.
 */
import { existsSync, rmSync, statfsSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

const RUNNING_FILE = "RESERVE";
const START_FILE = "RESERVE.start";
const PIECE_BYTES = 1024 * 1024;
/** Of the whole disk at most. */
const SHARE_MAX = 0.05;

export class DiskReserve {
  private readonly paths: readonly [running: string, start: string];
  private readonly bytes: number;
  private making: Promise<boolean> | null = null;

  /** `bytes`: of both files, wanted; on a small disk it is less. The directory exists. */
  constructor(directory: string, bytes: number) {
    this.paths = [join(directory, RUNNING_FILE), join(directory, START_FILE)];
    const { blocks, bsize } = statfsSync(directory);
    this.bytes = Math.min(bytes, Math.floor(blocks * bsize * SHARE_MAX));
  }

  get size(): number {
    return this.bytes;
  }

  get isHeld(): boolean {
    return this.paths.every((path) => existsSync(path));
  }

  /** Below this many free bytes there is hardly room for the most necessary writes. */
  isNeeded(freeBytes: number): boolean {
    return freeBytes < this.bytes / 4;
  }

  /** True: there was a file for that, and its room is free now. */
  giveUp(when: "running" | "starting"): boolean {
    const path = this.paths[when === "running" ? 0 : 1];
    const held = existsSync(path);
    rmSync(path, { force: true });
    return held;
  }

  /** Makes the missing files. False: there was not enough room. */
  hold(): Promise<boolean> {
    if (this.bytes === 0 || this.isHeld) return Promise.resolve(true);
    this.making ??= this.makeAll().finally(() => {
      this.making = null;
    });
    return this.making;
  }

  private async makeAll(): Promise<boolean> {
    for (const path of this.paths)
      if (!existsSync(path) && !(await make(path, Math.floor(this.bytes / 2)))) return false;
    return true;
  }
}

/** Bytes that are written take room on every file system; a hole would not. */
async function make(path: string, bytes: number): Promise<boolean> {
  const part = `${path}.part`;
  const file = await open(part, "w", 0o600);
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let written = 0; written < bytes; written += PIECE_BYTES) {
      await file.writeFile(piece.subarray(0, Math.min(PIECE_BYTES, bytes - written)));
    }
    await file.sync();
  } catch {
    await rm(part, { force: true });
    return false;
  } finally {
    await file.close();
  }
  await rename(part, path);
  return true;
}

/** Before anything is opened: gives the reserve up where the disk is full. True: it did. */
export function makeRoomToStart(directory: string, bytes: number): boolean {
  if (!existsSync(directory)) return false;
  const reserve = new DiskReserve(directory, bytes);
  const { bavail, bsize } = statfsSync(directory);
  return reserve.isNeeded(bavail * bsize) && reserve.giveUp("starting");
}

/** Milliseconds between two looks for room. */
const ROOM_LOOK_MS = 500;

/** Tells once when the directory's disk has so many bytes free; the answer ends the looks. */
export function whenRoom(directory: string, freeBytes: number, tell: () => void): () => void {
  const timer = setInterval(() => {
    const { bavail, bsize } = statfsSync(directory);
    if (bavail * bsize < freeBytes) return;
    clearInterval(timer);
    tell();
  }, ROOM_LOOK_MS).unref();
  return () => clearInterval(timer);
}
