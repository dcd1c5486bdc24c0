/**
 * Downloads one file of a model. If the connection breaks off, the part on disk stays, and the next attempt or pull
 * goes on from there. The bytes are hashed as they come. Called by pull.ts.
 */
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { DbError } from "../../protocol/errors.js";
import type { FileBytes, OfferedFile, StoredFile } from "./model-source.js";
import { SourceError } from "./source-error.js";

export interface DownloadLimits {
  readonly signal: AbortSignal;
  /** Bytes that the file may have when its source does not say how many. */
  readonly bytesMax: number;
  /** Attempts in a row that bring not a byte before the download is given up. */
  readonly retries: number;
  /** Milliseconds before the first of them; each further one waits twice as long. */
  readonly backoffMs: number;
  /** This many more bytes are on disk; or fewer, if the file is begun again. */
  readonly moved: (bytes: number) => void;
}

const BACKOFF_MS_MAX = 30_000;

/**
 * Loads the file to that path, or what is missing of it there. Rejects with SourceError when the source cannot give it,
 * with `model_rejected` when it gives something else than it offered, with `disk_full`, and when the signal is aborted.
 */
export async function download(file: OfferedFile, path: string, limits: DownloadLimits): Promise<StoredFile> {
  const part = await Part.open(path, file.identity !== null, limits);
  try {
    await fill(part, file, limits);
    const { resumed } = part;
    let wrong = await part.mismatch(file);
    if (wrong !== null && resumed) {
      // What was here before may have been something else.
      await part.clear();
      await fill(part, file, limits);
      wrong = await part.mismatch(file);
    }
    if (wrong !== null) {
      await part.clear();
      throw new DbError("model_rejected", wrong, { file: file.name });
    }
    await part.sync();
    return { name: file.name, bytes: part.bytes, sha256: part.sha256(), path };
  } catch (error) {
    throw limits.signal.aborted ? limits.signal.reason : diskError(error);
  } finally {
    await part.close();
  }
}

/** Attempts, until the file is here. */
async function fill(part: Part, file: OfferedFile, { signal, retries, backoffMs }: DownloadLimits): Promise<void> {
  if (file.bytes !== null && part.bytes > file.bytes) await part.clear();
  if (part.bytes === file.bytes) return;
  for (let failures = 0; ; ) {
    const before = part.bytes;
    try {
      await attempt(part, file, signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SourceError) || !error.mayPass) throw error;
      failures = part.bytes > before ? 1 : failures + 1;
      if (failures > retries) throw error;
      const wait = Math.min(BACKOFF_MS_MAX, backoffMs * 2 ** (failures - 1));
      await sleep(Math.max(error.retryAfterMs, wait * (0.5 + Math.random())), undefined, { signal });
    }
    // The next attempt may find another file.
    if (file.identity === null) await part.clear();
  }
}

async function attempt(part: Part, file: OfferedFile, signal: AbortSignal): Promise<void> {
  const found = await file.open(part.bytes, signal);
  const { from, bytesTotal, stream } = found;
  if (from === 0 && part.bytes > 0) await part.clear();
  if (from !== part.bytes)
    throw new SourceError(`${file.name}: the source returned a different part than requested`, false);
  if (file.bytes !== null && bytesTotal !== null && bytesTotal !== file.bytes) {
    destroy(found);
    throw new DbError("model_rejected", `${file.name} has ${bytesTotal} bytes at the source, not ${file.bytes}.`, {
      file: file.name,
    });
  }
  const total = file.bytes ?? bytesTotal;
  try {
    for await (const piece of stream) {
      if (total !== null && part.bytes + piece.length > total) throw tooLong(file, total);
      await part.append(piece, file);
    }
  } catch (error) {
    throw error instanceof DbError || error instanceof SourceError || isOfDisk(error) ? error : brokenOff(file, error);
  }
  if (total !== null && part.bytes < total) {
    throw new SourceError(`${file.name} ended after ${part.bytes} of ${total} bytes`, true);
  }
}

function destroy({ stream }: FileBytes): void {
  (stream as { destroy?: () => void }).destroy?.();
}

function brokenOff(file: OfferedFile, error: unknown): SourceError {
  return new SourceError(`${file.name} broke off: ${(error as Error).message}`, true);
}

function tooLong(file: OfferedFile, bytes: number): DbError {
  return new DbError("model_rejected", `${file.name} is longer than the ${bytes} bytes that its source says it has.`, {
    file: file.name,
  });
}

/** Errors of the file that is written to; those of sources are SourceErrors. */
const DISK_CODES: ReadonlySet<string | undefined> = new Set([
  "ENOSPC",
  "EDQUOT",
  "EIO",
  "EROFS",
  "EACCES",
  "EPERM",
  "EFBIG",
]);

function isOfDisk(error: unknown): boolean {
  return DISK_CODES.has((error as NodeJS.ErrnoException).code);
}

function diskError(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT"
    ? new DbError("disk_full", "The disk is full; the model was not pulled.")
    : error;
}

/** The file as far as it is here. */
class Part {
  bytes = 0;
  /** Some of it is from before. */
  resumed = false;
  private hash: Hash = createHash("sha256");

  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
    private readonly limits: DownloadLimits,
  ) {}

  /** `resumes`: what is at the path counts. */
  static async open(path: string, resumes: boolean, limits: DownloadLimits): Promise<Part> {
    // Not "a": what is appended must go where `bytes` says, also after a write that failed half way.
    const handle = await open(path, resumes ? "a+" : "w+").then(async (made) => {
      await made.close();
      return open(path, "r+");
    });
    const part = new Part(path, handle, limits);
    if ((await handle.stat()).size > 0) {
      for await (const piece of createReadStream(path, { signal: limits.signal })) part.count(piece as Buffer);
      part.resumed = true;
    }
    return part;
  }

  async append(piece: Uint8Array, file: OfferedFile): Promise<void> {
    if (this.bytes + piece.length > this.limits.bytesMax) {
      throw new DbError("model_rejected", `${file.name} is larger than ai.pull.bytes_max allows.`, { file: file.name });
    }
    for (let written = 0; written < piece.length; ) {
      const { bytesWritten } = await this.handle.write(piece, written, piece.length - written, this.bytes + written);
      written += bytesWritten;
    }
    this.count(piece);
  }

  /** Nothing is here. */
  async clear(): Promise<void> {
    await this.handle.truncate(0);
    this.limits.moved(-this.bytes);
    this.bytes = 0;
    this.resumed = false;
    this.hash = createHash("sha256");
  }

  sha256(): string {
    return this.hash.copy().digest("hex");
  }

  /** What is wrong with the complete file; null: it is the offered one. */
  async mismatch({ name, bytes, digest }: OfferedFile): Promise<string | null> {
    if (bytes !== null && this.bytes !== bytes) return `${name} has ${this.bytes} bytes, not ${bytes}.`;
    if (digest === null) return null;
    const { kind, value } = digest;
    const own = kind === "sha256" ? this.sha256() : await this.gitDigest();
    const what = kind === "sha256" ? "SHA-256" : "git digest";
    return own === value ? null : `${name} is not what was offered: its ${what} is ${own}, not ${value}.`;
  }

  async sync(): Promise<void> {
    // A write that failed half way may have left something behind the end.
    await this.handle.truncate(this.bytes);
    await this.handle.sync();
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  /** git puts the size first, so the file is read again. */
  private async gitDigest(): Promise<string> {
    const hash = createHash("sha1").update(`blob ${this.bytes}\0`);
    for await (const piece of createReadStream(this.path, { signal: this.limits.signal })) hash.update(piece as Buffer);
    return hash.digest("hex");
  }

  private count(piece: Uint8Array): void {
    this.hash.update(piece);
    this.bytes += piece.length;
    this.limits.moved(piece.length);
  }
}
