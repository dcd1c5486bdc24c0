/**
 * Stores rows that do not fit into a statement's memory, in files in one directory of the data directory, which
 * belongs to one actor. A file loses its name as soon as it is open, so it disappears with the statement or the
 * process. A name that a crash left in between is removed when the area is made.
 */
import { closeSync, mkdirSync, openSync, readSync, rmSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DbError } from "../../../protocol/errors.js";
import { cryptAt, type FileCipher, newFileCipher } from "../../../protocol/file-cipher.js";
import { UNSEEN_BYTES } from "../../../storage/shard-defaults.js";

/** Counts what a statement has on disk: its StatementState. */
export interface SpillAccount {
  spilledBytes: number;
}

export class SpillArea {
  /** Bytes in open files now, and written since the start. */
  bytes = 0;
  bytesWritten = 0;
  private files = 0;

  /** Owns the directory: removes it with all that is in it, and makes it when the first file is needed. */
  constructor(
    private readonly directory: string,
    /** Bytes that one statement may have in files at a time. */
    readonly statementBytesMax: number,
    /** Bytes of new rows from which on they do not wait in memory for the commit. */
    readonly loadBytes = UNSEEN_BYTES,
    /** Files are encrypted (storage.encryption). */
    private readonly isEncrypted = false,
    /** Bytes of rows of a new table that wait in a file for the commit; more of them are stored ahead of it. */
    readonly waitingBytesMax = Math.min(8 * loadBytes, statementBytesMax / 8),
  ) {
    rmSync(directory, { recursive: true, force: true });
  }

  /** For what they have in other files than those of the area. */
  share(accounts: readonly SpillAccount[]): SpillShare {
    return new SpillShare(this, accounts);
  }

  /**
   * A new file for the statement. `transaction`: holds the file, and may have no more in files than a statement. Throws
   * disk_full as `SpillFile.write` does.
   */
  open(statement: SpillAccount, transaction: SpillAccount | null = null): SpillFile {
    try {
      mkdirSync(this.directory, { recursive: true });
      const path = join(this.directory, `rows-${++this.files}`);
      const descriptor = openSync(path, "w+");
      unlinkSync(path);
      const share = this.share(transaction === null ? [statement] : [statement, transaction]);
      return new SpillFile(this, share, descriptor, this.isEncrypted ? newFileCipher() : null);
    } catch (error) {
      throw diskError(error);
    }
  }
}

/** Bytes that accounts have on disk, each within the area's bound. */
export class SpillShare {
  private bytes = 0;

  constructor(
    private readonly area: SpillArea,
    private readonly accounts: readonly SpillAccount[],
  ) {}

  /** Throws 53400 past the bound. */
  take(bytes: number): void {
    const { area, accounts } = this;
    const { statementBytesMax } = area;
    if (accounts.some(({ spilledBytes }) => spilledBytes + bytes > statementBytesMax)) {
      throw new DbError("query_error", `temporary file size exceeds spill_bytes_max (${statementBytesMax} bytes)`, {
        sqlstate: "53400",
      });
    }
    this.bytes += bytes;
    for (const account of accounts) account.spilledBytes += bytes;
  }

  giveBack(): void {
    for (const account of this.accounts) account.spilledBytes -= this.bytes;
    this.bytes = 0;
  }
}

export class SpillFile {
  /** Bytes written. */
  length = 0;
  private isOpen = true;
  /** What a write has thrown. */
  private failure: unknown = null;

  constructor(
    private readonly area: SpillArea,
    private readonly share: SpillShare,
    readonly descriptor: number,
    /** For whoever reads it by the descriptor. */
    readonly cipher: FileCipher | null,
  ) {}

  /**
   * Appends. Throws 53400 past the statement's bound or the transaction's, disk_full when the disk refuses; after that,
   * always: a part may be on the disk, and other bytes in its place would be encrypted by the same key stream.
   */
  write(bytes: Uint8Array): void {
    const { area } = this;
    if (this.failure !== null) throw this.failure;
    this.share.take(bytes.length);
    const written = this.cipher === null ? bytes : cryptAt(this.cipher, bytes, this.length);
    try {
      for (let from = 0; from < written.length; ) {
        from += writeSync(this.descriptor, written, from, written.length - from, this.length + from);
      }
    } catch (error) {
      this.failure = diskError(error);
      throw this.failure;
    }
    this.length += bytes.length;
    area.bytes += bytes.length;
    area.bytesWritten += bytes.length;
  }

  /** Fills `into` from `position`; answers how many bytes there were. */
  read(into: Uint8Array, position: number): number {
    if (!this.isOpen) throw new Error("a temporary file is read after it was closed");
    const count = readSync(this.descriptor, into, 0, into.length, position);
    if (this.cipher !== null) into.set(cryptAt(this.cipher, into.subarray(0, count), position));
    return count;
  }

  /** Frees the disk space. May be called twice. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    closeSync(this.descriptor);
    this.share.giveBack();
    this.area.bytes -= this.length;
  }
}

function diskError(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new DbError("disk_full", "The disk has no room for the statement's temporary files.", { sqlstate: "53100" });
}
