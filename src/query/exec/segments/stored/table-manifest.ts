/**
 * What is kept of one table's segments in files: which files, which of their segments are of use, the commit that they
 * stand at, and the keys that were changed since a segment was made. Written under another name and then renamed, so
 * there is the old one or the new one. A damaged one is refused, and the table's files are made again.
 *
 *   "TESSCOLM" · head length u32 · head (JSON) · keys (length u16, bytes) · CRC-32 of all before it, u32
 *   (little-endian)
 */
import { readFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { replaceChecked } from "../../../../derived/checked-file.js";
import type { Turns } from "../../../../protocol/turns.js";
import { giveWay } from "../../../../protocol/turns.js";
import { PackedKeys } from "../../../../storage/packed-keys.js";
import type { StoredColumn } from "./build-columns.js";

const MAGIC = "TESSCOLM";
const STEP_KEYS = 2048;

export interface TableManifest {
  /** The engine's content that the segments are, with the changed keys. */
  readonly sequence: number;
  readonly columns: readonly StoredColumn[];
  /** What waits to be made (TableSegments.writesInGaps). */
  readonly writesInGaps: number;
  readonly files: readonly {
    readonly name: string;
    /** Numbers of its segments that are of use. */
    readonly live: readonly number[];
  }[];
  /** Loads whose rows are to become columns; absent: none. */
  readonly loads?: readonly PendingLoad[];
}

export interface PendingLoad {
  /** The range that has its rows and no others; without the table's prefix, latin-1. */
  readonly from: string;
  readonly to: string;
  readonly rows: number;
  /** Of its commit. */
  readonly sequence: number;
  /** The folder with its parts of the log (storage/commit-parts.ts), beside those of tables. */
  readonly held: string;
  readonly parts: {
    readonly id: number;
    readonly operations: number;
    readonly lengths: readonly number[];
  };
}

interface Head extends TableManifest {
  readonly keys: number;
}

/** The manifest, and keys without the table's prefix, latin-1. Null when there is none. Throws when it is damaged. */
export async function readManifest(
  path: string,
  turns: Turns,
): Promise<{ readonly manifest: TableManifest; readonly changed: readonly string[] } | null> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const end = bytes.length - 4;
  if (end < 12 || bytes.toString("latin1", 0, 8) !== MAGIC) throw new Error(`${path} is no manifest of this version`);
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end))
    throw new Error(`the checksum of ${path} does not match`);
  const headEnd = 12 + bytes.readUInt32LE(8);
  const { keys, ...manifest } = JSON.parse(bytes.toString("utf8", 12, headEnd)) as Head;
  const changed: string[] = [];
  let at = headEnd;
  while (changed.length < keys) {
    const length = bytes.readUInt16LE(at);
    changed.push(bytes.toString("latin1", at + 2, at + 2 + length));
    at += 2 + length;
    if (changed.length % STEP_KEYS === 0) await giveWay(turns);
  }
  return { manifest, changed };
}

/**
 * @param changed packs the keys, without the table's prefix, in any order and some of them more than once; in steps.
 * @param durable resolves when the commit that the manifest stands at can no longer be lost.
 */
export async function writeManifest(
  path: string,
  manifest: TableManifest,
  changed: (keys: PackedKeys) => Iterable<undefined>,
  turns: Turns,
  durable: () => Promise<void>,
): Promise<void> {
  const packed = new PackedKeys();
  for (const _ of changed(packed)) await giveWay(turns);
  const head = Buffer.from(JSON.stringify({ ...manifest, keys: packed.count } satisfies Head));
  const start = Buffer.alloc(12, MAGIC, "latin1");
  start.writeUInt32LE(head.length, 8);
  await replaceChecked(path, [start, head, ...packed.parts()], durable);
}
