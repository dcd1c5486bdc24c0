/**
 * The file in which an index in memory survives a restart: a head (JSON) that names the index and the commit that the
 * file stands at, the keys of the rows, and the body. Such a file may be lost or thrown away at any time. A damaged
 * one is refused: each part carries its CRC-32. It is written under another name and then renamed, so there is the old
 * or the new one.
 *
 *   "TESSIDX1" · head length u32 · head · keys · rest · body · CRC-32 of all before it, u32          (little-endian)
 */

import { open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Turns } from "../protocol/turns.js";
import { replaceChecked } from "./checked-file.js";
import { inTurns } from "./turns.js";

const MAGIC = "TESSIDX1";
/** Bytes and keys between two looks at the clock, and bytes of one write. */
const STEP_BYTES = 1024 * 1024;
const STEP_KEYS = 1024;
const WRITE_BYTES = 256 * 1024;
/** The head is never longer. */
const HEAD_BYTES_MAX = 64 * 1024;

export interface IndexFile {
  /** IndexKind.definition. */
  readonly definition: string;
  /** The commit that the body stands at. */
  readonly sequence: number;
  /** By slot: the row's key after the table's prefix, latin-1; null where the slot is free. */
  readonly keys: (string | null)[];
  /** For rows that are not in the body. */
  readonly rest: readonly string[];
  readonly body: Uint8Array;
}

interface Head {
  readonly definition: string;
  readonly sequence: number;
  readonly keyBytes: number;
  readonly slots: number;
  readonly restBytes: number;
  readonly rest: number;
  readonly bodyBytes: number;
}

/** Null: there is no such file, or it is damaged; `damaged` is told why. Rejects when `turns` does. */
export async function readIndexFile(
  path: string,
  turns: Turns,
  damaged: (reason: string) => void,
): Promise<IndexFile | null> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") damaged(String(error));
    return null;
  }
  return inTurns(parseIndexFile(bytes), turns, damaged);
}

/**
 * Removes files that stand at commits after `sequence`: where commits count as durable before they are on disk, a power
 * cut may have taken those, and others get their numbers. To be called before there are new ones.
 */
export async function removeNewerFiles(directory: string, sequence: number): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    const path = join(directory, name);
    if (name.endsWith(".idx") && (await sequenceOf(path)) > sequence) await rm(path, { force: true });
  }
}

/** The commit at which a file says to stand; infinite when it cannot say. */
async function sequenceOf(path: string): Promise<number> {
  const file = await open(path, "r");
  try {
    const { buffer } = await file.read(Buffer.alloc(12 + HEAD_BYTES_MAX), 0, 12 + HEAD_BYTES_MAX, 0);
    return (JSON.parse(buffer.toString("utf8", 12, 12 + buffer.readUInt32LE(8))) as Head).sequence;
  } catch {
    return Number.POSITIVE_INFINITY;
  } finally {
    await file.close();
  }
}

function* parseIndexFile(bytes: Buffer): Generator<undefined, IndexFile> {
  const end = bytes.length - 4;
  if (end < 12 || bytes.toString("latin1", 0, 8) !== MAGIC) throw new Error("it is not an index file of this version");
  let sum = 0;
  for (let at = 0; at < end; at += STEP_BYTES) {
    sum = crc32(bytes.subarray(at, Math.min(end, at + STEP_BYTES)), sum);
    yield;
  }
  if (sum !== bytes.readUInt32LE(end)) throw new Error("its checksum does not match");
  const headEnd = 12 + bytes.readUInt32LE(8);
  const head = JSON.parse(bytes.toString("utf8", 12, headEnd)) as Head;
  const keysEnd = headEnd + head.keyBytes;
  const restEnd = keysEnd + head.restBytes;
  if (restEnd + head.bodyBytes !== end) throw new Error("its parts do not fit its length");
  return {
    definition: head.definition,
    sequence: head.sequence,
    keys: yield* readKeys(bytes.subarray(headEnd, keysEnd), head.slots),
    rest: (yield* readKeys(bytes.subarray(keysEnd, restEnd), head.rest)) as string[],
    body: bytes.subarray(restEnd, end),
  };
}

/** A key is its length plus one (0: a free slot), u16, then its bytes. Some keys at a time. */
function* writeKeys(keys: readonly (string | null)[]): Generator<Buffer> {
  for (let from = 0; from < keys.length; from += STEP_KEYS) {
    const some = keys.slice(from, from + STEP_KEYS);
    const bytes = Buffer.allocUnsafe(bytesOfKeys(some));
    let at = 0;
    for (const key of some) {
      at = bytes.writeUInt16LE(key === null ? 0 : key.length + 1, at);
      if (key !== null) at += bytes.write(key, at, "latin1");
    }
    yield bytes;
  }
}

function bytesOfKeys(keys: readonly (string | null)[]): number {
  let size = 0;
  for (const key of keys) size += 2 + (key?.length ?? 0);
  return size;
}

function* readKeys(bytes: Buffer, slots: number): Generator<undefined, (string | null)[]> {
  const keys: (string | null)[] = [];
  let at = 0;
  while (keys.length < slots) {
    const length = bytes.readUInt16LE(at) - 1;
    at += 2;
    keys.push(length < 0 ? null : bytes.toString("latin1", at, at + length));
    at += Math.max(0, length);
    if (keys.length % STEP_KEYS === 0) yield;
  }
  return keys;
}

export interface IndexContent extends Omit<IndexFile, "body"> {
  readonly body: readonly Uint8Array[];
}

/** Replaces the file. `durable` resolves when the commit that the content stands at can no longer be lost. */
export async function writeIndexFile(path: string, content: IndexContent, durable: () => Promise<void>): Promise<void> {
  await replaceChecked(path, chunksOf(partsOf(content)), durable);
}

function* partsOf({ definition, sequence, keys, rest, body }: IndexContent): Generator<Uint8Array> {
  const head: Head = {
    definition,
    sequence,
    keyBytes: bytesOfKeys(keys),
    slots: keys.length,
    restBytes: bytesOfKeys(rest),
    rest: rest.length,
    bodyBytes: body.reduce((sum, part) => sum + part.length, 0),
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const start = Buffer.alloc(12, MAGIC, "latin1");
  start.writeUInt32LE(headBytes.length, 8);
  yield start;
  yield headBytes;
  yield* writeKeys(keys);
  yield* writeKeys(rest);
  yield* body;
}

/** Small parts are written together. */
function* chunksOf(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  let chunk: Uint8Array[] = [];
  let bytes = 0;
  for (const part of parts) {
    chunk.push(part);
    bytes += part.length;
    if (bytes < WRITE_BYTES) continue;
    yield Buffer.concat(chunk);
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield Buffer.concat(chunk);
}
