/**
 * A backup together with the backups that it continues, as one stream of bytes for another installation:
 *
 *   magic "TSRAARC\0" · u32 version · u32 length · JSON {"parts": manifests, the full one first} · the parts' files,
 *   whose lengths the manifests tell · 32 bytes SHA-256 of all before
 *
 * Numbers are little-endian. The tenant's actor writes it for a download; the directory's actor reads it for an
 * upload, and so does the command line.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { ARCHIVE_HEAD_BYTES_MAX, ARCHIVE_PARTS_MAX } from "../protocol/limits.js";
import { fileDisk } from "../storage/disk.js";
import { DATA_FILE, isBackupId, type Manifest } from "./backup-folder.js";

const MAGIC = Buffer.from("TSRAARC\0", "latin1");
const VERSION = 1;
const FRONT_BYTES = MAGIC.length + 8;
const DIGEST_BYTES = 32;
const PIECE_BYTES = 64 * 1024;

/** The archive's bytes in pieces. Throws backup_damaged when a file is not as long as its manifest says. */
export async function* archiveOf(
  chain: readonly Manifest[],
  dataOf: (manifest: Manifest) => string,
): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  const json = Buffer.from(JSON.stringify({ parts: chain }));
  const front = Buffer.alloc(FRONT_BYTES);
  MAGIC.copy(front);
  front.writeUInt32LE(VERSION, MAGIC.length);
  front.writeUInt32LE(json.length, MAGIC.length + 4);
  const head = Buffer.concat([front, json]);
  hash.update(head);
  yield head;
  for (const manifest of chain) {
    let bytes = 0;
    for await (const piece of createReadStream(dataOf(manifest), {
      highWaterMark: PIECE_BYTES,
    }) as AsyncIterable<Buffer>) {
      bytes += piece.length;
      hash.update(piece);
      yield piece;
    }
    if (bytes !== manifest.bytes) {
      throw new DbError(
        "backup_damaged",
        `The file of backup "${manifest.id}" does not have the length that its manifest says.`,
      );
    }
  }
  yield hash.digest();
}

/** Bytes of an archive as they come. */
export type Pieces = AsyncIterable<Uint8Array>;

/**
 * Takes an archive apart: each part's file lies in the folder, which is made, under its backup's id. Answers the
 * manifests. Throws backup_damaged for anything that is cut, changed or no archive; the folder is the caller's to
 * remove.
 */
export async function unpackArchive(pieces: Pieces, folder: string): Promise<Manifest[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const input = new Input(pieces);
  const front = await input.exactly(FRONT_BYTES);
  if (!front.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged("it is no archive of a backup");
  const version = front.readUInt32LE(MAGIC.length);
  if (version !== VERSION) {
    throw new DbError("invalid_request", `The archive has format ${version}; this server reads ${VERSION}.`);
  }
  const length = front.readUInt32LE(MAGIC.length + 4);
  if (length > ARCHIVE_HEAD_BYTES_MAX) throw damaged("its head has no sensible length");
  const parts = partsOf(await input.exactly(length));
  for (const manifest of parts) await input.toFile(manifest, partPath(folder, manifest));
  const expected = input.digest();
  if (!expected.equals(await input.exactly(DIGEST_BYTES))) throw damaged("its checksum is wrong");
  await input.end();
  return parts;
}

export function partPath(folder: string, { id }: Pick<Manifest, "id">): string {
  return join(folder, `${id}.bak`);
}

/** Puts an unpacked part where backups lie. */
export async function placePart(folder: string, manifest: Manifest, target: string): Promise<void> {
  await rename(partPath(folder, manifest), join(target, DATA_FILE));
  await fileDisk.syncDirectory(target);
}

export function removeUnpacked(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

/** The manifests, each continuing the one before. What a stranger wrote: nothing in it is believed. */
function partsOf(json: Buffer): Manifest[] {
  let parts: unknown;
  try {
    parts = (JSON.parse(json.toString()) as { parts?: unknown }).parts;
  } catch {
    throw damaged("its head is not readable");
  }
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > ARCHIVE_PARTS_MAX) {
    throw damaged("its head names no backups");
  }
  return parts.map((part: unknown, i) => {
    const manifest = manifestOf(part);
    const base = i === 0 ? null : (parts[i - 1] as Manifest).id;
    if (manifest.base !== base || (base === null) !== (manifest.kind === "full")) {
      throw damaged("its parts do not continue each other");
    }
    return manifest;
  });
}

function manifestOf(part: unknown): Manifest {
  const given = (typeof part === "object" && part !== null ? part : {}) as Record<string, unknown>;
  const { id, kind, base, engine, sequence, micros, fromSequence, entries, bytes, sha256, encrypted, digest } = given;
  const counts = [sequence, micros, entries, bytes, ...(fromSequence === null ? [] : [fromSequence])];
  const isSound =
    typeof id === "string" &&
    isBackupId(id) &&
    (kind === "full" || kind === "incremental") &&
    (base === null || typeof base === "string") &&
    typeof sha256 === "string" &&
    typeof encrypted === "boolean" &&
    typeof engine === "string" &&
    given.format === 1 &&
    [given.startedAt, given.finishedAt].every((time) => typeof time === "string" && !Number.isNaN(Date.parse(time))) &&
    counts.every((count) => Number.isSafeInteger(Math.floor(count as number)) && (count as number) >= 0) &&
    (digest === null || typeof (digest as { sha256?: unknown } | undefined)?.sha256 === "string");
  if (!isSound) throw damaged("its head is not sound");
  const { startedAt, finishedAt, tenant, storageFormat = 1 } = given as unknown as Manifest;
  if (!Number.isSafeInteger(storageFormat)) throw damaged("its head is not sound");
  return {
    ...{
      id,
      tenant: String(tenant),
      kind,
      base,
      format: 1,
      engine,
      encrypted,
      sha256,
      startedAt,
      finishedAt,
      note: null,
      storageFormat,
    },
    ...{ sequence: sequence as number, micros: micros as number, fromSequence: fromSequence as number | null },
    ...{ entries: entries as number, bytes: bytes as number, digest: digest as Manifest["digest"], imported: true },
  };
}

/** A stream of pieces, read in other lengths. */
class Input {
  private readonly hash = createHash("sha256");
  private readonly iterator: AsyncIterator<Uint8Array>;
  private rest = Buffer.alloc(0);

  constructor(pieces: Pieces) {
    this.iterator = pieces[Symbol.asyncIterator]();
  }

  async exactly(length: number): Promise<Buffer> {
    const found: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      const piece = await this.some(missing);
      found.push(piece);
      missing -= piece.length;
    }
    const bytes = Buffer.concat(found);
    this.hash.update(bytes);
    return bytes;
  }

  async toFile(manifest: Manifest, path: string): Promise<void> {
    const own = createHash("sha256");
    const file = await open(path, "wx", 0o600);
    try {
      await this.copy(manifest.bytes, file, own);
      await file.sync();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOSPC") throw new DbError("disk_full");
      throw error;
    } finally {
      await file.close();
    }
    if (own.digest("hex") !== manifest.sha256) throw damaged(`the file of backup "${manifest.id}" was changed`);
  }

  private async copy(length: number, file: FileHandle, own: ReturnType<typeof createHash>): Promise<void> {
    for (let missing = length; missing > 0; ) {
      const piece = await this.some(missing);
      missing -= piece.length;
      own.update(piece);
      this.hash.update(piece);
      await file.writeFile(piece);
    }
  }

  /** Of everything so far. */
  digest(): Buffer {
    return this.hash.copy().digest();
  }

  async end(): Promise<void> {
    while (this.rest.length === 0) {
      const { value, done } = await this.iterator.next();
      if (done) return;
      this.rest = Buffer.from(value);
    }
    throw damaged("something follows its end");
  }

  private async some(max: number): Promise<Buffer> {
    while (this.rest.length === 0) {
      const { value, done } = await this.iterator.next();
      if (done) throw damaged("it ends too early");
      this.rest = Buffer.from(value);
    }
    const piece = this.rest.subarray(0, max);
    this.rest = this.rest.subarray(piece.length);
    return piece;
  }
}

function damaged(why: string): DbError {
  return new DbError("backup_damaged", `The archive is damaged: ${why}. Nothing was stored.`);
}
