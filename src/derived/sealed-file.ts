/**
 * A file of an encrypted shard, in pieces that are encrypted one by one (storage/tenant-keys.ts) and bound to the
 * file's name, their place, and whether they are the last: none can be moved, left out or taken from another file.
 *
 *   "TESSSEAL" · boxes, all but the last of 256 KiB of content
 *
 * Written by checked-file.ts. Such files may be lost at any time: what does not decrypt is made again.
 */
import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { BOX_BYTES, type DataKey, openBox, sealBox } from "../storage/tenant-keys.js";

const MAGIC = Buffer.from("TESSSEAL");
const PIECE_BYTES = 256 * 1024;

/** What the file has in place of the chunks. */
export function* sealedChunks(path: string, key: DataKey, chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield MAGIC;
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  let number = 0;
  for (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    // Something is left for the last piece.
    if (bytes <= PIECE_BYTES) continue;
    let rest = Buffer.concat(waiting, bytes);
    for (; rest.length > PIECE_BYTES; rest = rest.subarray(PIECE_BYTES)) {
      yield sealBox(key, rest.subarray(0, PIECE_BYTES), placeOf(path, number++, false));
    }
    waiting = [rest];
    bytes = rest.length;
  }
  yield sealBox(key, Buffer.concat(waiting, bytes), placeOf(path, number, true));
}

function placeOf(path: string, number: number, isLast: boolean): Buffer {
  return Buffer.from(`${basename(path)}/${number}${isLast ? "/last" : ""}`);
}

/** What is read of a file. */
export interface FileContent {
  /** Bytes of content. */
  readonly size: number;
  read(into: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
}

/** Of the open file; `read` rejects where it was changed. `key` null: it is not encrypted. */
export async function contentOf(file: FileHandle, path: string, key: DataKey | null): Promise<FileContent> {
  const { size } = await file.stat();
  if (key === null)
    return { size, read: (into, offset, length, position) => file.read(into, offset, length, position) };
  const magic = Buffer.alloc(MAGIC.length);
  await file.read(magic, 0, MAGIC.length, 0);
  if (!magic.equals(MAGIC)) throw new Error("it is not encrypted");
  return new SealedContent(file, path, key, size - MAGIC.length);
}

class SealedContent implements FileContent {
  readonly size: number;
  private readonly pieces: number;
  private piece: Buffer = Buffer.alloc(0);
  /** Which one that is. */
  private number = -1;

  constructor(
    private readonly file: FileHandle,
    private readonly path: string,
    private readonly key: DataKey,
    private readonly boxBytes: number,
  ) {
    this.pieces = Math.ceil(boxBytes / (BOX_BYTES + PIECE_BYTES));
    this.size = Math.max(0, boxBytes - this.pieces * BOX_BYTES);
  }

  async read(into: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }> {
    const number = Math.floor(position / PIECE_BYTES);
    if (number >= this.pieces) return { bytesRead: 0 };
    if (number !== this.number) await this.load(number);
    const from = position - number * PIECE_BYTES;
    return { bytesRead: this.piece.copy(into, offset, from, Math.min(this.piece.length, from + length)) };
  }

  private async load(number: number): Promise<void> {
    const start = number * (BOX_BYTES + PIECE_BYTES);
    const box = Buffer.allocUnsafeSlow(Math.min(BOX_BYTES + PIECE_BYTES, this.boxBytes - start));
    for (let have = 0; have < box.length; ) {
      const { bytesRead } = await this.file.read(box, have, box.length - have, MAGIC.length + start + have);
      if (bytesRead === 0) throw new Error("it has become shorter");
      have += bytesRead;
    }
    const isLast = number === this.pieces - 1;
    const piece = box.length < BOX_BYTES ? null : openBox(this.key, box, placeOf(this.path, number, isLast));
    if (piece === null) throw new Error("it does not decrypt");
    this.piece = piece;
    this.number = number;
  }
}
