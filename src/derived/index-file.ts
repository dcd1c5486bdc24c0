/**
 * The file in which an index in memory survives a restart: a head (JSON) that names the index and the commit that the
 * file stands at, the keys of the rows, and the body. Such a file may be lost or thrown away at any time. A damaged
 * one is refused: a CRC-32 is over all of it. It is written under another name and then renamed, so there is the old or
 * the new one. Large bodies are written and read piece by piece, and never lie in memory twice.
 *
 *   "TESSIDX2" · head length u32 · head · keys · rest · body · CRC-32 of all before it, u32          (little-endian)
 */

import { type FileHandle, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { giveWay, type Turns } from "../protocol/turns.js";
import type { DataKey } from "../storage/tenant-keys.js";
import { replaceChecked } from "./checked-file.js";
import { type IndexBody, type IndexKind, type ItemsAt, LOADED_AHEAD } from "./index-body.js";
import { contentOf, type FileContent } from "./sealed-file.js";
import { SlotKeys } from "./slot-keys.js";

const MAGIC = "TESSIDX2";
/** Bytes of a read, keys between two looks at the clock, and bytes of a write. */
const PIECE_BYTES = 256 * 1024;
const STEP_KEYS = 1024;
const WRITE_BYTES = 256 * 1024;
const SUM_BYTES = 4;
/** Before each key. */
const LENGTH_BYTES = 2;
/** The head is never longer. */
const HEAD_BYTES_MAX = 64 * 1024;

export interface IndexFile<Body> {
  /** The commit that the body stands at. */
  readonly sequence: number;
  /** By slot: the row's key after the table's prefix, latin-1. */
  readonly keys: SlotKeys;
  /** For rows that are not in the body. */
  readonly rest: readonly string[];
  readonly body: Body;
}

interface Head {
  readonly definition: string;
  readonly sequence: number;
  readonly keyBytes: number;
  readonly slots: number;
  readonly restBytes: number;
  readonly rest: number;
}

/** Where an index is saved. */
export interface SavedIndex {
  readonly path: string;
  /** Of its tenant, where files are encrypted. */
  readonly key?: DataKey | null;
}

export interface IndexFileReading<Item, Body extends IndexBody<Item>> extends SavedIndex {
  /** A file of another one is not read. */
  readonly definition: string;
  readonly kind: Pick<IndexKind<Item, Body>, "load" | "loadPieces">;
  readonly itemsAt: ItemsAt<Item>;
  readonly turns: Turns;
  /** Is told why a file is of no use. */
  readonly damaged: (reason: string) => void;
}

/** Null: there is no such file, or it is damaged or of another definition. Rejects when `turns` does. */
export async function readIndexFile<Item, Body extends IndexBody<Item>>(
  reading: IndexFileReading<Item, Body>,
): Promise<IndexFile<Body> | null> {
  const { path, turns, damaged } = reading;
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") damaged(String(error));
    return null;
  }
  // Errors of `turns` are not the file's.
  let ended: unknown = null;
  const own: Turns = {
    shouldYield: () => turns.shouldYield(),
    yieldTurn: () =>
      turns.yieldTurn().catch((error: unknown) => {
        ended = error;
        throw error;
      }),
  };
  try {
    const content = await contentOf(file, path, reading.key ?? null);
    return await readFrom(new CheckedReader(content), { ...reading, turns: own });
  } catch (error) {
    if (ended !== null) throw ended;
    damaged((error as Error).message);
    return null;
  } finally {
    await file.close();
  }
}

async function readFrom<Item, Body extends IndexBody<Item>>(
  input: CheckedReader,
  { definition, kind, itemsAt, turns }: IndexFileReading<Item, Body>,
): Promise<IndexFile<Body> | null> {
  const start = await input.read(12);
  if (start.toString("latin1", 0, 8) !== MAGIC) throw new Error("it is not an index file of this version");
  const head = JSON.parse((await input.read(start.readUInt32LE(8))).toString()) as Head;
  if (head.definition !== definition) return null;
  const keys = new SlotKeys(head.slots);
  const ofSlots = readKeys(await input.read(head.keyBytes, turns), head.slots, (key, slot) => keys.set(slot, key));
  await stepped(ofSlots, turns);
  const rest: string[] = [];
  await stepped(
    readKeys(await input.read(head.restBytes, turns), head.rest, (key) => rest.push(key)),
    turns,
  );
  const body =
    kind.loadPieces === undefined
      ? await stepped(kind.load(await input.read(input.left, turns), itemsAt), turns)
      : await loadInPieces(input, (pieces) => kind.loadPieces!(pieces, itemsAt), turns);
  // The body has checksums of its own; this one says that all belongs together.
  await input.checkEnd();
  return { sequence: head.sequence, keys, rest, body };
}

/** Reads ahead of what the steps take. */
async function loadInPieces<Body>(
  input: CheckedReader,
  load: (pieces: Iterable<Uint8Array>) => Generator<undefined, Body>,
  turns: Turns,
): Promise<Body> {
  const ahead: Uint8Array[] = [];
  let bytes = 0;
  const steps = load(taken());
  function* taken(): Generator<Uint8Array> {
    for (let piece = ahead.shift(); piece !== undefined; piece = ahead.shift()) {
      bytes -= piece.length;
      yield piece;
    }
  }
  for (;;) {
    while (bytes < LOADED_AHEAD && input.left > 0) {
      const piece = await input.read(Math.min(PIECE_BYTES, input.left));
      ahead.push(piece);
      bytes += piece.length;
    }
    const step = steps.next();
    if (step.done === true) return step.value;
    await giveWay(turns);
  }
}

async function stepped<Result>(steps: Generator<undefined, Result>, turns: Turns): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await giveWay(turns);
  }
}

/** A file from its start to the checksum at its end. */
class CheckedReader {
  private at = 0;
  private sum = 0;

  constructor(private readonly file: FileContent) {}

  /** Bytes before the checksum. */
  get left(): number {
    return this.file.size - SUM_BYTES - this.at;
  }

  async read(length: number, turns?: Turns): Promise<Buffer> {
    if (!(length <= this.left)) throw new Error("its parts do not fit its length");
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let from = 0; from < length; from += PIECE_BYTES) {
      const piece = bytes.subarray(from, from + PIECE_BYTES);
      await this.fill(piece);
      this.sum = crc32(piece, this.sum);
      if (turns !== undefined) await giveWay(turns);
    }
    return bytes;
  }

  async checkEnd(): Promise<void> {
    if (this.left !== 0) throw new Error("its parts do not fit its length");
    const sum = Buffer.alloc(SUM_BYTES);
    await this.fill(sum);
    if (sum.readUInt32LE() !== this.sum) throw new Error("its checksum does not match");
  }

  private async fill(bytes: Buffer): Promise<void> {
    for (let have = 0; have < bytes.length; ) {
      const { bytesRead } = await this.file.read(bytes, have, bytes.length - have, this.at);
      if (bytesRead === 0) throw new Error("it has become shorter");
      have += bytesRead;
      this.at += bytesRead;
    }
  }
}

/**
 * Removes files that stand at commits after `sequence`: where commits count as durable before they are on disk, a power
 * cut may have taken those, and others get their numbers. To be called before there are new ones.
 */
export async function removeNewerFiles(
  directory: string,
  sequence: number,
  keyOf: (tenant: number) => DataKey | null,
): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    const path = join(directory, name);
    if (name.endsWith(".idx") && (await sequenceOf(path, keyOf(Number.parseInt(name, 10)))) > sequence)
      await rm(path, { force: true });
  }
}

/** The commit at which a file says to stand; infinite when it cannot say. */
async function sequenceOf(path: string, key: DataKey | null): Promise<number> {
  const file = await open(path, "r");
  try {
    const buffer = Buffer.alloc(12 + HEAD_BYTES_MAX);
    await (await contentOf(file, path, key)).read(buffer, 0, buffer.length, 0);
    return (JSON.parse(buffer.toString("utf8", 12, 12 + buffer.readUInt32LE(8))) as Head).sequence;
  } catch {
    return Number.POSITIVE_INFINITY;
  } finally {
    await file.close();
  }
}

/** A key is its length plus one (0: a free slot), u16, then its bytes. */
export function writtenKeys(keys: readonly (string | null)[]): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(bytesOfKeys(keys));
  let at = 0;
  for (const key of keys) {
    at = bytes.writeUInt16LE(key === null ? 0 : key.length + 1, at);
    if (key !== null) at += bytes.write(key, at, "latin1");
  }
  return bytes;
}

function bytesOfKeys(keys: readonly (string | null)[]): number {
  let size = 0;
  for (const key of keys) size += LENGTH_BYTES + (key?.length ?? 0);
  return size;
}

function* readKeys(
  bytes: Buffer,
  slots: number,
  found: (key: string, slot: number) => void,
): Generator<undefined, void> {
  let at = 0;
  for (let slot = 0; slot < slots; slot++) {
    const length = bytes.readUInt16LE(at) - 1;
    at += 2;
    if (length >= 0) found(bytes.toString("latin1", at, at + length), slot);
    at += Math.max(0, length);
    if (slot % STEP_KEYS === 0) yield;
  }
}

/** Keys as they are written, in pieces (`writtenKeys`). */
export interface KeyPieces {
  readonly pieces: readonly Uint8Array[];
  /** Free slots count, too. */
  readonly count: number;
  readonly characters: number;
}

export interface IndexContent {
  readonly definition: string;
  readonly sequence: number;
  readonly keys: KeyPieces;
  readonly rest: KeyPieces;
  readonly body: Iterable<Uint8Array>;
}

/** The keys as they are now, copied in steps while newer entries wait. */
export async function copiedKeys(
  keys: SlotKeys,
  rest: ReadonlySet<string>,
  turns: Turns,
): Promise<Pick<IndexContent, "keys" | "rest">> {
  const { slotCount, characters } = keys;
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < slotCount; from += STEP_KEYS) {
    pieces.push(writtenKeys([...keys.names(from, Math.min(slotCount, from + STEP_KEYS))]));
    await giveWay(turns);
  }
  const restPieces: Uint8Array[] = [];
  let restCharacters = 0;
  let some: string[] = [];
  for (const suffix of rest) {
    some.push(suffix);
    restCharacters += suffix.length;
    if (some.length < STEP_KEYS) continue;
    restPieces.push(writtenKeys(some));
    some = [];
    await giveWay(turns);
  }
  restPieces.push(writtenKeys(some));
  await giveWay(turns);
  return {
    keys: { pieces, count: slotCount, characters },
    rest: { pieces: restPieces, count: rest.size, characters: restCharacters },
  };
}

/** Replaces the file. `durable` resolves when the commit that the content stands at can no longer be lost. */
export async function writeIndexFile(
  { path, key = null }: SavedIndex,
  content: IndexContent,
  durable: () => Promise<void>,
): Promise<void> {
  await replaceChecked(path, chunksOf(partsOf(content)), durable, key);
}

function* partsOf({ definition, sequence, keys, rest, body }: IndexContent): Generator<Uint8Array> {
  const head: Head = {
    definition,
    sequence,
    keyBytes: LENGTH_BYTES * keys.count + keys.characters,
    slots: keys.count,
    restBytes: LENGTH_BYTES * rest.count + rest.characters,
    rest: rest.count,
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const start = Buffer.alloc(12, MAGIC, "latin1");
  start.writeUInt32LE(headBytes.length, 8);
  yield start;
  yield headBytes;
  yield* keys.pieces;
  yield* rest.pieces;
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
