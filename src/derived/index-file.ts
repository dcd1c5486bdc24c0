/**
 * The file in which an index in memory survives a restart: a head (JSON) that says what it is of and which commit it
 * stands at, the keys of its rows, its body. Such a file may be lost or thrown away at any time. A damaged one is
 * refused: each part carries its CRC-32. Written beside and renamed, so that there is the old or the new one.
 *
 *   "TESSIDX1" · head length u32 · head · keys · rest · body · CRC-32 of all before it, u32          (little-endian)
 */
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";

const MAGIC = "TESSIDX1";

export interface IndexFile {
  /** IndexKind.definition. */
  readonly definition: string;
  /** The commit that the body stands at. */
  readonly sequence: number;
  /** By slot: the row's key after the table's prefix, latin-1; null where the slot is free. */
  readonly keys: readonly (string | null)[];
  /** Of rows of which the body has nothing. */
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

/** Null: there is no such file, or it is damaged; `damaged` is told why. */
export async function readIndexFile(path: string, damaged: (reason: string) => void): Promise<IndexFile | null> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") damaged(String(error));
    return null;
  }
  try {
    return parseIndexFile(bytes);
  } catch (error) {
    damaged((error as Error).message);
    return null;
  }
}

function parseIndexFile(bytes: Buffer): IndexFile {
  const end = bytes.length - 4;
  if (end < 12 || bytes.toString("latin1", 0, 8) !== MAGIC) throw new Error("it is not an index file of this version");
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) throw new Error("its checksum does not match");
  const headEnd = 12 + bytes.readUInt32LE(8);
  const head = JSON.parse(bytes.toString("utf8", 12, headEnd)) as Head;
  const keysEnd = headEnd + head.keyBytes;
  const restEnd = keysEnd + head.restBytes;
  if (restEnd + head.bodyBytes !== end) throw new Error("its parts do not fit its length");
  return {
    definition: head.definition,
    sequence: head.sequence,
    keys: readKeys(bytes.subarray(headEnd, keysEnd), head.slots),
    rest: readKeys(bytes.subarray(keysEnd, restEnd), head.rest) as string[],
    body: bytes.subarray(restEnd, end),
  };
}

/** A key is its length plus one (0: a free slot), u16, then its bytes. */
function writeKeys(keys: readonly (string | null)[]): Buffer {
  let size = 0;
  for (const key of keys) size += 2 + (key?.length ?? 0);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const key of keys) {
    at = bytes.writeUInt16LE(key === null ? 0 : key.length + 1, at);
    if (key !== null) at += bytes.write(key, at, "latin1");
  }
  return bytes;
}

function readKeys(bytes: Buffer, slots: number): (string | null)[] {
  const keys: (string | null)[] = [];
  let at = 0;
  while (keys.length < slots) {
    const length = bytes.readUInt16LE(at) - 1;
    at += 2;
    keys.push(length < 0 ? null : bytes.toString("latin1", at, at + length));
    at += Math.max(0, length);
  }
  return keys;
}

export interface IndexContent extends Omit<IndexFile, "body"> {
  readonly body: readonly Uint8Array[];
}

/** Replaces the file. `durable` resolves when the commit that the content stands at can no longer be lost. */
export async function writeIndexFile(path: string, content: IndexContent, durable: () => Promise<void>): Promise<void> {
  const keys = writeKeys(content.keys);
  const rest = writeKeys(content.rest);
  const bodyBytes = content.body.reduce((sum, part) => sum + part.length, 0);
  const { definition, sequence } = content;
  const head: Head = {
    definition,
    sequence,
    keyBytes: keys.length,
    slots: content.keys.length,
    restBytes: rest.length,
    rest: content.rest.length,
    bodyBytes,
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const start = Buffer.alloc(12, MAGIC, "latin1");
  start.writeUInt32LE(headBytes.length, 8);
  const beside = `${path}.new`;
  await mkdir(dirname(path), { recursive: true });
  const file = await open(beside, "w");
  try {
    let sum = 0;
    for (const part of [start, headBytes, keys, rest, ...content.body]) {
      sum = crc32(part, sum);
      await file.writeFile(part);
    }
    const tail = Buffer.allocUnsafe(4);
    tail.writeUInt32LE(sum);
    await file.writeFile(tail);
    await file.sync();
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await durable();
  await rename(beside, path);
}
