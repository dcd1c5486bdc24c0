/**
 * A partition's files as objects of a store outside of all nodes (object-store.ts), in sealed blocks (backup-file.ts):
 *
 *   {installation}/{partition}/{id}/{n}        parts, from 0 on: pieces of files
 *   {installation}/{partition}/{id}/manifest   which files and parts there are; put last
 *
 * Each part is sealed under a name that it alone has, with a key that only nodes of the cluster have. So a part that is
 * cut, changed, or another one's, is refused. An id is {cluster's id}/{place}/{node}/{UUID}.
 */
import { createHash, hkdfSync } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { type BackupSeal, BackupWriter, BLOCK, BLOCK_BYTES, readBackup } from "../storage/backup-file.js";
import { fileDisk } from "../storage/disk.js";
import { LEFT_OUT } from "../storage/engine-copy.js";
import { FORMAT_VERSION, isServed } from "../storage/format.js";
import { checkRoom } from "./checkpoint-fetch.js";
import type { CheckpointFile } from "./checkpoint-messages.js";
import type { ObjectStore } from "./object-store.js";

export interface CheckpointName {
  readonly installation: string;
  readonly partition: number;
  readonly id: string;
}

interface CheckpointAccess extends CheckpointName {
  readonly store: ObjectStore;
  /** Of the seals. */
  readonly key: Uint8Array;
  /** The newest commit that the files have. */
  readonly sequence: number;
  readonly signal: AbortSignal;
}

export interface CheckpointWrite extends CheckpointAccess {
  /** Of RocksDB's files; nobody writes there. */
  readonly from: string;
  /** Of the data. */
  readonly format: number;
  /** A path for a file, for a while. */
  readonly scratch: string;
  /** An object is put when it has grown to this. */
  readonly partBytes?: number;
}

export interface CheckpointRead extends CheckpointAccess {
  /** Is made anew. */
  readonly into: string;
}

interface CheckpointManifest {
  readonly version: number;
  /** Of the data. */
  readonly format: number;
  readonly sequence: number;
  readonly files: readonly CheckpointFile[];
  readonly parts: number;
}

const VERSION = 1;
/** What a slow line takes in a minute. */
const PART_BYTES = 8 * 1024 * 1024;
/** In front of a piece: the number of its file, and where it belongs there. */
const PIECE_HEAD_BYTES = 10;
const MANIFEST = "manifest";

/** Of the cluster's secret. */
export function checkpointKey(secret: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", "tessera checkpoints", 32));
}

/** All of its objects begin so. */
export function checkpointPrefix({ installation, partition, id }: CheckpointName): string {
  return `${partitionPrefix(installation, partition)}${id}/`;
}

/** Objects of all checkpoints of a partition begin so. */
export function partitionPrefix(installation: string, partition: number): string {
  return `${installation}/${partition}/`;
}

function sealOf(access: CheckpointAccess, object: string): BackupSeal {
  const name = createHash("sha256")
    .update(`${checkpointPrefix(access)}${object}`)
    .digest();
  return { backup: name.subarray(0, 16), key: access.key, isRequired: true };
}

/** All is in the store when it resolves; gives the bytes that were put. */
export async function writeCheckpoint(write: CheckpointWrite): Promise<number> {
  const files: CheckpointFile[] = [];
  for (const name of (await readdir(write.from)).filter((one) => !LEFT_OUT.test(one)).sort())
    files.push({ name, bytes: (await stat(join(write.from, name))).size });
  const out = new PartWriter(write);
  try {
    for (const [index, file] of files.entries()) await writeFile(write, out, index, file);
    const parts = await out.endPart();
    const { sequence, format } = write;
    const manifest: CheckpointManifest = { version: VERSION, format, sequence, files, parts };
    await out.object(MANIFEST, BLOCK.records, Buffer.from(JSON.stringify(manifest)));
    return out.bytes;
  } finally {
    await out.abandon();
    await rm(write.scratch, { force: true });
  }
}

async function writeFile(write: CheckpointWrite, out: PartWriter, index: number, file: CheckpointFile): Promise<void> {
  const handle = await open(join(write.from, file.name));
  try {
    for (let at = 0; at < file.bytes; ) {
      write.signal.throwIfAborted();
      const piece = Buffer.alloc(PIECE_HEAD_BYTES + Math.min(BLOCK_BYTES, file.bytes - at));
      piece.writeUInt32LE(index);
      piece.writeUIntLE(at, 4, 6);
      const length = piece.length - PIECE_HEAD_BYTES;
      const { bytesRead } = await handle.read(piece, PIECE_HEAD_BYTES, length, at);
      if (bytesRead < length) throw new DbError("internal_error", `${file.name} ends at ${at + bytesRead}.`);
      await out.piece(piece);
      at += length;
    }
  } finally {
    await handle.close();
  }
}

/** Writes blocks into objects, one after another. */
class PartWriter {
  bytes = 0;
  private parts = 0;
  private writer: BackupWriter | null = null;

  constructor(private readonly write: CheckpointWrite) {}

  async piece(piece: Buffer): Promise<void> {
    this.writer ??= await BackupWriter.open(this.write.scratch, sealOf(this.write, String(this.parts)));
    await this.writer.block(BLOCK.entries, piece);
    if (this.writer.bytes >= (this.write.partBytes ?? PART_BYTES)) await this.endPart();
  }

  /** Gives the number of parts. */
  async endPart(): Promise<number> {
    if (this.writer !== null) await this.end(String(this.parts++), this.writer);
    return this.parts;
  }

  async object(name: string, kind: number, body: Buffer): Promise<void> {
    this.writer = await BackupWriter.open(this.write.scratch, sealOf(this.write, name));
    await this.writer.block(kind, body);
    await this.end(name, this.writer);
  }

  private async end(name: string, writer: BackupWriter): Promise<void> {
    const { store, scratch } = this.write;
    this.writer = null;
    const digest = await writer.end({});
    await store.put(`${checkpointPrefix(this.write)}${name}`, { path: scratch, bytes: writer.bytes, digest });
    this.bytes += writer.bytes;
  }

  async abandon(): Promise<void> {
    await this.writer?.abandon();
    await rm(`${this.write.scratch}.part`, { force: true });
  }
}

/**
 * Gives the bytes of the files, which are on the device then. Throws backup_damaged when not all is there as it was
 * written, and not_found when the checkpoint was deleted meanwhile.
 */
export async function readCheckpoint(read: CheckpointRead): Promise<number> {
  const { into, partition, id } = read;
  await rm(into, { recursive: true, force: true });
  await mkdir(into, { recursive: true });
  try {
    return await readParts(read);
  } catch (error) {
    const isDamage = error instanceof DbError && (error.code === "backup_damaged" || error.code === "invalid_request");
    if (!isDamage) throw error;
    throw new DbError("backup_damaged", `Checkpoint ${id} of partition ${partition} is not used: ${error.message}`);
  } finally {
    await rm(scratchOf(read), { force: true });
  }
}

const scratchOf = ({ into }: CheckpointRead): string => `${into}.part`;

async function readParts(read: CheckpointRead): Promise<number> {
  const { into, sequence } = read;
  const manifest = await readManifest(read);
  if (manifest.version !== VERSION || !isServed(manifest.format))
    throw damaged(
      `it has format ${manifest.version}.${manifest.format}, and this program ${VERSION}.${FORMAT_VERSION}`,
    );
  if (manifest.sequence !== sequence)
    throw damaged(`it ends at commit ${manifest.sequence}, and ${sequence} was recorded`);
  await checkRoom(into, manifest.files);
  const files = new FilesBeingRead(into, manifest.files);
  try {
    for (let part = 0; part < manifest.parts; part++)
      for await (const { kind, body } of blocksOf(read, String(part))) {
        if (kind !== BLOCK.entries) throw damaged(`a block of kind ${kind} in part ${part}`);
        await files.take(body);
      }
    await files.end();
  } finally {
    await files.close();
  }
  await fileDisk.syncDirectory(into);
  return manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function readManifest(read: CheckpointRead): Promise<CheckpointManifest> {
  for await (const { kind, body } of blocksOf(read, MANIFEST))
    if (kind === BLOCK.records) return JSON.parse(body.toString()) as CheckpointManifest;
  throw damaged("its manifest says nothing");
}

async function* blocksOf(read: CheckpointRead, object: string) {
  const { store, signal } = read;
  const scratch = scratchOf(read);
  await store.get(`${checkpointPrefix(read)}${object}`, scratch, signal);
  for await (const block of readBackup(scratch, sealOf(read, object))) {
    signal.throwIfAborted();
    yield block;
  }
}

/** They come in order, each from its beginning to its end. */
class FilesBeingRead {
  private index = -1;
  private at = 0;
  private handle: FileHandle | null = null;

  constructor(
    private readonly into: string,
    private readonly files: readonly CheckpointFile[],
  ) {}

  async take(piece: Buffer): Promise<void> {
    const index = piece.readUInt32LE(0);
    while (this.index < index) await this.next();
    if (this.index !== index || this.at !== piece.readUIntLE(4, 6)) throw damaged("pieces are out of order");
    const bytes = piece.subarray(PIECE_HEAD_BYTES);
    await this.handle!.writeFile(bytes);
    this.at += bytes.length;
  }

  /** Of those that come no more, too. */
  async end(): Promise<void> {
    while (this.index < this.files.length) await this.next();
  }

  private async next(): Promise<void> {
    const before = this.files[this.index];
    if (before !== undefined && this.at !== before.bytes)
      throw damaged(`${before.name} has ${this.at} of ${before.bytes} bytes`);
    await this.handle?.datasync();
    await this.close();
    this.index++;
    this.at = 0;
    const file = this.files[this.index];
    if (file === undefined) return;
    if (basename(file.name) !== file.name) throw damaged(`a file is called ${file.name}`);
    this.handle = await open(join(this.into, file.name), "w");
  }

  async close(): Promise<void> {
    const { handle } = this;
    this.handle = null;
    await handle?.close();
  }
}

function damaged(why: string): DbError {
  return new DbError("backup_damaged", `${why}.`);
}
