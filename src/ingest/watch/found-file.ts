/** A file as the parts of watching know it. Paths are relative to the watched folder, with `/` between names. */

/** A file as a scan finds it. */
export interface FoundFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /**
   * Differs when the file was written, replaced or renamed since; equal stamps tell nothing of files that are `fresh`.
   */
  readonly stamp: string;
}

/** A file as its record has it. */
export interface KnownFile {
  readonly path: string;
  readonly status: FileStatus;
  readonly stamp: string;
}

/**
 * `pending`: to be read. `indexed`: its passages are in the collection. `failed`: it cannot be read, or not as its
 * declared kind; it is tried again when its content changes, or on request. `gone`: no longer in the folder; a file
 * with the same content may still turn up elsewhere if it was moved.
 */
export type FileStatus = "pending" | "indexed" | "failed" | "gone";

/** UTF-8 bytes of a path; names inside longer ones are left out, and said to be. */
export const PATH_BYTES_MAX = 1024;
/** Folders inside each other. */
export const DEPTH_MAX = 64;

interface Stats {
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
  readonly size: bigint;
}

/** A clock's tick, within which a file can change twice and look the same; some file systems have long ones. */
const TICK_NS = 50_000_000n;

/**
 * `nowNs`: when it was looked at. A file that changed just now may change again within the same tick of the clock,
 * which the stamp would not show; so its stamp is one that no later look agrees with, and its content is compared then.
 */
export function stampOf({ mtimeNs, ctimeNs, ino, size }: Stats, nowNs: bigint): string {
  const isFresh = nowNs - ctimeNs < TICK_NS;
  return `${mtimeNs}.${ctimeNs}.${ino}.${size}${isFresh ? `.${nowNs}` : ""}`;
}

export function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

/** By UTF-8 bytes, as the database orders texts. */
export function comparePaths(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Why a path cannot be one inside of a folder; null: it can. */
export function faultOfPath(path: string): string | null {
  if (path === "" || path.startsWith("/") || path.includes("\0")) return "it is no path inside the folder";
  const names = path.split("/");
  if (names.some((name) => name === "" || name === "." || name === "..")) return "it is no path inside the folder";
  if (names.length > DEPTH_MAX) return `it lies more than ${DEPTH_MAX} folders deep`;
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `its path is longer than ${PATH_BYTES_MAX} bytes`;
  return path.includes("\ufffd") ? "its name is not UTF-8" : null;
}
