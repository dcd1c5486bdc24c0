/**
 * Processes one file of a folder: it is read in a task thread, and then its passages and its record change together,
 * in one transaction. Called by folder-work.ts with files that are due; if it is ended in between, the record stays as
 * it was.
 */
import { extname } from "node:path";
import type { Request } from "../../actor/request.js";
import { insertAllStatement, rowOfDocument } from "../../document/document-rows.js";
import type { FileTasks } from "../../ingest/file-tasks.js";
import type { ParsedFile } from "../../ingest/parse/contract.js";
import type { FoundFile } from "../../ingest/watch/found-file.js";
import { DbError, type ErrorCode } from "../../protocol/errors.js";
import type { Session } from "../../session/session.js";
import { findCollection, type RunStatement, writeTogether } from "../documents/document-session.js";
import type { Job } from "../jobs/job-kind.js";
import { withDefinitions } from "../statements/with-definitions.js";
import {
  type FileRecord,
  type FinishedFile,
  type Folder,
  fileBegun,
  fileDelayed,
  fileFinished,
  fileGone,
  fileIn,
  fileUnchanged,
  goneWith,
  hasGoneOfSize,
  hasOptions,
  moveFile,
  removeFile,
} from "./file-store.js";
import { besideOthers } from "./file-turns.js";
import { requireTable, tableOfFolder } from "./folder-access.js";
import { type Eyes, eyesOf, type LooksVectors, vectorsOf } from "./looks.js";
import { documentsOf } from "./passages.js";
import { putThumbnail, removeThumbnails } from "./thumbnails.js";
import { speechWish, transcribed } from "./transcribe-file.js";

export interface ReadOutcome {
  /** `later`: it is tried again; `dropped`: its record is gone, or describes another file. */
  readonly kind: "indexed" | "unchanged" | "moved" | "failed" | "later" | "dropped";
  readonly chunks: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface ReaderBounds {
  readonly fileBytesMax: number;
  readonly fileTimeoutSeconds: number;
  readonly retriesMax: number;
}

/** Rows of passages that one statement inserts. */
const ROWS_AT_ONCE = 200;
const BACKOFF_MS_MAX = 300_000;

/** What another try may not find again. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set([
  "file_changed",
  "overloaded",
  "reader_failed",
  "serialization_failure",
  "disk_full",
  "model_unavailable",
  "provider_unavailable",
]);

export class FileReader {
  constructor(
    private readonly job: Pick<Job, "work" | "partition" | "record">,
    private readonly tasks: FileTasks,
    private readonly folder: Folder,
    /** The operator's folder around it. */
    private readonly within: string,
    private readonly bounds: ReaderBounds,
  ) {}

  /** `signal`: nobody wants it any more. */
  async read(file: FileRecord, signal: AbortSignal): Promise<ReadOutcome> {
    const { folder, bounds } = this;
    if (file.attempts > bounds.retriesMax) {
      const message = `Reading the file has crashed or was interrupted ${file.attempts} times.`;
      return this.failed(file, new DbError("reader_failed", message), file.hash);
    }
    await this.write((run) => fileBegun(run, folder.id, file.path));
    let digest: string | null = null;
    let parsed: ParsedFile;
    const eyes = await this.job.work(async (request) => eyesOf(request));
    try {
      if (file.hash !== null || (await this.job.work((request) => hasGoneOfSize(request, folder.id, file.size)))) {
        digest = (await this.tasks.digestFile(this.placeOf(file))).digest;
        if (digest === file.hash) {
          return this.finished(file, (run) => fileUnchanged(run, folder.id, file.path), "unchanged", file.chunks);
        }
        const moved = await this.moved(file, digest);
        if (moved !== null) return moved;
      }
      parsed = await this.parsed(file, eyes, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof DbError)) throw error;
      return this.notRead(file, error, digest);
    }
    try {
      return await this.indexed(file, parsed, await this.looksOf(parsed, eyes));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof DbError) || !(await this.hasCollection())) throw error;
      // It is the file's: the passages cannot be stored, or not now.
      return this.notStored(file, error, parsed.digest);
    }
  }

  /** The file is not in the folder any more: neither are its passages. */
  remove(file: FileRecord): Promise<boolean> {
    const { folder } = this;
    return this.write(async (run, request) => {
      const record = await fileIn(run, folder.id, file.path);
      if (record?.status !== "gone") return false;
      await this.removePassages(request, run, record);
      await removeFile(run, folder.id, file.path);
      return true;
    });
  }

  private parsed(file: FileRecord, eyes: Eyes, signal: AbortSignal): Promise<ParsedFile> {
    const { ocr_images: ocrImages, chunk_size: chunkCharacters, overlap: overlapCharacters } = this.folder.options;
    const { partition, record } = this.job;
    const timeoutMs = this.bounds.fileTimeoutSeconds * 1000;
    const sizes = { chunkCharacters, overlapCharacters };
    const speech = speechWish(partition, file.path);
    const looks = { pixels: eyes.dual?.pixels ?? null };
    const job = { ...this.placeOf(file), ocrImages, ...sizes, timeoutMs, thumbnails: true, looks, speech };
    const parse = () => this.tasks.parseFile(job, signal);
    return typeof speech === "string" ? parse() : transcribed(partition, parse, sizes, record.owner.tenantId, signal);
  }

  private placeOf({ path }: FileRecord) {
    return { path: `${this.folder.root}/${path}`, root: this.within, bytesMax: this.bounds.fileBytesMax };
  }

  /** The file was there before under another name of the same kind: it keeps its passages. Null: it was not. */
  private async moved(file: FileRecord, digest: string): Promise<ReadOutcome | null> {
    const { folder } = this;
    const known = await this.job.work((request) => goneWith(request, folder.id, file.size, digest));
    const before = known.find(({ path }) => extname(path).toLowerCase() === extname(file.path).toLowerCase());
    if (before === undefined) return null;
    const isMoved = await this.write(async (run, request) => {
      const [old, now] = [await fileIn(run, folder.id, before.path), await fileIn(run, folder.id, file.path)];
      if (old?.status !== "gone" || old.hash !== digest || now?.revision !== file.revision) return false;
      await this.removePassages(request, run, now);
      await removeFile(run, folder.id, file.path);
      const to: FoundFile = { path: file.path, size: file.size, stamp: file.stamp };
      await moveFile(run, folder.id, before.path, to);
      const sql = `UPDATE ${this.table} SET file = $2::text WHERE document_id = $1::text`;
      await run({ sql, params: [old.id, file.path] });
      return true;
    });
    return isMoved ? { kind: "moved", chunks: before.chunks, error: null } : null;
  }

  /** What finds it by its looks; null: it is nothing to be seen. */
  private async looksOf({ looks }: ParsedFile, eyes: Eyes): Promise<LooksVectors | null> {
    if (looks === undefined) return null;
    const { name } = this.folder;
    return this.job.work((request) => vectorsOf(request, findCollection(request, name), looks, eyes));
  }

  private indexed(file: FileRecord, parsed: ParsedFile, looks: LooksVectors | null): Promise<ReadOutcome> {
    const documents = documentsOf(file, parsed, looks?.fields);
    const { digest: hash, kind, mediaType, title = null, thumbnail } = parsed;
    const metadata = looks === null ? parsed.metadata : { ...parsed.metadata, looks: looks.models };
    const notes = [...parsed.notes, ...(looks?.notes ?? [])];
    const done = { hash, kind, mediaType, title, metadata, notes, chunks: documents.length, error: null };
    const put = async (run: RunStatement, request: Request): Promise<void> => {
      const collection = findCollection(request, this.folder.name);
      for (let at = 0; at < documents.length; at += ROWS_AT_ONCE) {
        const rows = documents.slice(at, at + ROWS_AT_ONCE).map((document) => rowOfDocument(collection, document));
        await run(insertAllStatement(collection, rows));
        if (request.shouldYield()) await request.yieldTurn();
      }
      if (thumbnail !== undefined) await putThumbnail(request, run, this.folder.id, file.id, thumbnail);
    };
    return this.replaced(file, done, put, "indexed");
  }

  private async notRead(file: FileRecord, error: DbError, digest: string | null): Promise<ReadOutcome> {
    const { folder } = this;
    const now = new Date().toISOString();
    if (error.code === "not_found") {
      return this.finished(file, (run) => fileGone(run, folder.id, file.path, now), "dropped", 0);
    }
    return this.notStored(file, error, digest);
  }

  private async notStored(file: FileRecord, error: DbError, digest: string | null): Promise<ReadOutcome> {
    const { folder, bounds } = this;
    if (TRANSIENT.has(error.code) && file.attempts < bounds.retriesMax) {
      const dueAt = new Date(Date.now() + Math.min(1000 * 2 ** file.attempts, BACKOFF_MS_MAX)).toISOString();
      const { code, message } = error;
      const outcome = await this.finished(file, (run) => fileDelayed(run, folder.id, file.path, dueAt), "later", 0);
      return { ...outcome, error: { code, message } };
    }
    return this.failed(file, error, digest);
  }

  /** What its former content had is not true any more. */
  private failed(file: FileRecord, { code, message }: DbError, hash: string | null): Promise<ReadOutcome> {
    const nothing = { kind: null, mediaType: null, title: null, metadata: null, notes: [], chunks: 0 };
    return this.replaced(file, { ...nothing, hash, error: { code, message } }, async () => undefined, "failed");
  }

  /** Its passages and its record become these, unless the record is not the file's any more. */
  private async replaced(
    file: FileRecord,
    done: Omit<FinishedFile, "status">,
    put: (run: RunStatement, request: Request) => Promise<void>,
    status: FinishedFile["status"],
  ): Promise<ReadOutcome> {
    const { folder } = this;
    const isReplaced = await this.write(async (run, request) => {
      const record = await fileIn(run, folder.id, file.path);
      if (record === null || record.id !== file.id || record.status === "gone") return false;
      await this.removePassages(request, run, record);
      await put(run, request);
      // What has changed since is read again, also when only how it is to be read has.
      const isAsWanted = record.revision === file.revision && (await hasOptions(run, folder));
      const [next, hash] = isAsWanted ? ([status, done.hash] as const) : (["pending", null] as const);
      await fileFinished(run, folder.id, file.path, { ...done, hash }, next, new Date().toISOString());
      return true;
    });
    if (!isReplaced) return { kind: "dropped", chunks: 0, error: null };
    return { kind: status, chunks: done.chunks, error: done.error };
  }

  /** Changes only the record, unless the file has changed. */
  private async finished(
    file: FileRecord,
    change: (run: RunStatement) => Promise<void>,
    kind: ReadOutcome["kind"],
    chunks: number,
  ): Promise<ReadOutcome> {
    const isDone = await this.write(async (run) => {
      const record = await fileIn(run, this.folder.id, file.path);
      if (record === null || record.id !== file.id || record.revision !== file.revision) return false;
      await change(run);
      return true;
    });
    return { kind: isDone ? kind : "dropped", chunks, error: null };
  }

  private hasCollection(): Promise<boolean> {
    return this.job.work(
      async (request) => withDefinitions(request, (catalog) => tableOfFolder(catalog, this.folder)) !== null,
    );
  }

  /** With its thumbnail. */
  private async removePassages(request: Request, run: RunStatement, { id }: FileRecord): Promise<void> {
    await run({ sql: `DELETE FROM ${this.table} WHERE document_id = $1::text`, params: [id] });
    await removeThumbnails(request, run, this.folder.id, id);
  }

  private get table(): string {
    return `public."${this.folder.name}"`;
  }

  private write<T>(work: (run: RunStatement, request: Request) => Promise<T>): Promise<T> {
    return this.job.work((request) =>
      written(request, (run, _, session) => {
        // Who takes the name of a collection that was dropped gets no passages.
        requireTable(session.catalog, this.folder);
        return work(run, request);
      }),
    );
  }
}

/** One transaction around `work`, which writes records of files that are this job's own. */
export async function written<T>(
  request: Request,
  work: (run: RunStatement, request: Request, session: Session) => Promise<T>,
): Promise<T> {
  let result: { readonly value: T } | null = null;
  await besideOthers(request, () =>
    writeTogether(request, async (run, session) => {
      result = { value: await work(run, request, session) };
      return {};
    }),
  );
  return result!.value;
}
