/**
 * A file of a backup: entries or commits of one tenant, in blocks. Written while the tenant is served, read to check
 * or restore it. A file is complete once its last block is there.
 *
 *   file    magic "TSRABAK\0" · u32 version · 16 bytes that name the backup · u8 1 when encrypted
 *   block   u32 length · payload
 *   payload deflate of (u8 kind · body), behind a CRC-32 of itself, block number and backup; or, encrypted, AES-256-GCM
 *   of it:
 *           12 bytes nonce · 16 bytes tag · ciphertext, with backup and block number authenticated
 *   kinds 1 entries: as placement sends them · 2 commits, or pieces of them (backup/backup-commits.ts) · 3 end: JSON
 *   of the totals · 4 records: JSON · 5 branches (backup/backup-branches.ts)
 *
 * Keys are without the tenant's number, so that they can be restored under another one. All little-endian. Blocks are
 * numbered, so a block that is left out, moved or taken from another backup is noticed.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from "node:crypto";
import { type FileHandle, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import zlib from "node:zlib";
import { DbError } from "../protocol/errors.js";
import { crc32 } from "./crc32.js";
import { fileDisk } from "./disk.js";

const MAGIC = Buffer.from("TSRABAK\0", "latin1");
const VERSION = 1;
const HEADER_BYTES = MAGIC.length + 4 + 16 + 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** A block is written when it has grown to this. */
const BLOCK_BYTES = 256 * 1024;
/** No block that we write is longer; what says to be is damaged. */
const BLOCK_BYTES_MAX = 512 * 1024 * 1024;

export const BLOCK = { entries: 1, commit: 2, end: 3, records: 4, branches: 5 } as const;

// Looked up at each call, so that a simulation can have them in its own time.
const deflate = (bytes: Uint8Array, options: zlib.ZlibOptions): Promise<Buffer> =>
  promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflateRaw)(bytes, options);
const inflate = (bytes: Uint8Array, options: zlib.ZlibOptions): Promise<Buffer> =>
  promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflateRaw)(bytes, options);
const scryptKey = (secret: string, salt: Uint8Array, length: number): Promise<Buffer> =>
  promisify<string, Uint8Array, number, Buffer>(scrypt)(secret, salt, length);

/** What a file is written or read with. */
export interface BackupSeal {
  /** 16 bytes; part of every block's check. */
  readonly backup: Uint8Array;
  /** 32 bytes; null: not encrypted. */
  readonly key: Uint8Array | null;
  /** A file that is not encrypted is damaged: whoever can write there could have made it. */
  readonly isRequired?: true;
}

/** The key of a backup, from a passphrase (scrypt, RFC 7914, Node's defaults). */
export function backupKey(passphrase: string, backup: Uint8Array): Promise<Uint8Array> {
  return scryptKey(passphrase, backup, 32);
}

export interface Block {
  readonly kind: number;
  readonly body: Buffer;
}

export class BackupWriter {
  private number = 0;
  private readonly digest = createHash("sha256");
  bytes = 0;

  private constructor(
    private readonly path: string,
    private readonly file: FileHandle,
    private readonly seal: BackupSeal,
  ) {}

  /** The file has its name once `end` resolves. */
  static async open(path: string, seal: BackupSeal): Promise<BackupWriter> {
    const writer = new BackupWriter(path, await open(`${path}.part`, "w", 0o600), seal);
    const version = Buffer.alloc(4);
    version.writeUInt32LE(VERSION);
    await writer.write(Buffer.concat([MAGIC, version, seal.backup, Buffer.of(seal.key === null ? 0 : 1)]));
    return writer;
  }

  async block(kind: number, body: Uint8Array): Promise<void> {
    const packed = await deflate(Buffer.concat([Buffer.of(kind), body]), { level: 1 });
    const payload = this.sealed(packed);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(payload.length);
    this.number++;
    await this.write(Buffer.concat([length, payload]));
  }

  private sealed(packed: Buffer): Buffer {
    const about = nameOfBlock(this.seal.backup, this.number);
    if (this.seal.key === null) return Buffer.concat([checksum(packed, about), packed]);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.seal.key, nonce).setAAD(about);
    const sealed = Buffer.concat([cipher.update(packed), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  private async write(bytes: Buffer): Promise<void> {
    this.digest.update(bytes);
    this.bytes += bytes.length;
    await this.file.writeFile(bytes);
  }

  /** Writes the last block, syncs, and gives the file its name. Answers the SHA-256 of the whole file. */
  async end(totals: object): Promise<string> {
    await this.block(BLOCK.end, Buffer.from(JSON.stringify(totals)));
    await this.file.sync();
    await this.file.close();
    await rename(`${this.path}.part`, this.path);
    await fileDisk.syncDirectory(dirname(this.path));
    return this.digest.digest("hex");
  }

  /** Only the written part stays, under its temporary name. */
  async abandon(): Promise<void> {
    await this.file.close();
  }
}

/**
 * The blocks of a file but the last, whose totals are what the generator returns. Throws `backup_damaged` for a file
 * that is cut, changed or of another backup, and `invalid_request` where the key is missing or wrong.
 */
export async function* readBackup(path: string, seal: BackupSeal): AsyncGenerator<Block, object> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? damaged(path, "the file is not there") : error;
  });
  try {
    const header = await readExactly(file, HEADER_BYTES, path);
    if (!header.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged(path, "it is no file of a backup");
    const version = header.readUInt32LE(MAGIC.length);
    if (version !== VERSION) {
      throw new DbError("invalid_request", `The backup has format ${version}; this server reads ${VERSION}.`);
    }
    if (!header.subarray(MAGIC.length + 4, HEADER_BYTES - 1).equals(Buffer.from(seal.backup))) {
      throw damaged(path, "it belongs to another backup");
    }
    const isEncrypted = header[HEADER_BYTES - 1] === 1;
    if (!isEncrypted && seal.isRequired === true) throw damaged(path, "it is not encrypted");
    if (isEncrypted && seal.key === null) {
      throw new DbError(
        "invalid_request",
        "passphrase: the backup is encrypted; give the passphrase that it was made with.",
        { field: "passphrase" },
      );
    }
    for (let number = 0; ; number++) {
      const length = (await readExactly(file, 4, path)).readUInt32LE(0);
      if (length > BLOCK_BYTES_MAX) throw damaged(path, `block ${number} has no sensible length`);
      const payload = await readExactly(file, length, path);
      const packed = opened(payload, number, { ...seal, key: isEncrypted ? seal.key : null }, path);
      const raw = await inflate(packed, { maxOutputLength: BLOCK_BYTES_MAX }).catch(() => {
        throw damaged(path, `block ${number} cannot be unpacked`);
      });
      const body = raw.subarray(1);
      if (raw[0] === BLOCK.end) return JSON.parse(body.toString()) as object;
      yield { kind: raw[0]!, body };
    }
  } finally {
    await file.close();
  }
}

function opened(payload: Buffer, number: number, { backup, key }: BackupSeal, path: string): Buffer {
  const about = nameOfBlock(backup, number);
  if (key === null) {
    const packed = payload.subarray(4);
    if (payload.length < 4 || !checksum(packed, about).equals(payload.subarray(0, 4))) {
      throw damaged(path, `the checksum of block ${number} is wrong`);
    }
    return packed;
  }
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, payload.subarray(0, NONCE_BYTES)).setAAD(about);
    decipher.setAuthTag(payload.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(payload.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    if (number > 0) throw damaged(path, `block ${number} was changed`);
    throw new DbError(
      "invalid_request",
      "passphrase: it is not the one that the backup was made with, or the backup was changed.",
      { field: "passphrase" },
    );
  }
}

async function readExactly(file: FileHandle, length: number, path: string): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled);
    if (bytesRead === 0) throw damaged(path, "it ends too early");
    filled += bytesRead;
  }
  return bytes;
}

function damaged(path: string, why: string): DbError {
  return new DbError("backup_damaged", `The backup's file ${path} is damaged: ${why}. Restore another backup.`);
}

function nameOfBlock(backup: Uint8Array, number: number): Buffer {
  const name = Buffer.alloc(backup.length + 4);
  name.set(backup);
  name.writeUInt32LE(number, backup.length);
  return name;
}

function checksum(bytes: Buffer, about: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(bytes, crc32(about, 0)));
  return sum;
}

export { BLOCK_BYTES };
