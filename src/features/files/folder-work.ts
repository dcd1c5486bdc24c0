/**
 * The work on one filesystem collection, from when it is made until it is deleted. Everything that is to be done is in
 * the records, so the work goes on after a restart where it was:
 *
 *  1. The folder is watched and scanned (folder-scan.ts): records of files become pending, or gone.
 *  2. Pending files are read, some at a time (file-reader.ts); the passages of files that have gone are removed.
 *  3. Reported changes are looked at; now and then the whole folder is, for changes that nobody reported.
 *
 * Run as a job by file-jobs.ts; `poke` tells it that its record was changed.
 */

import type { FileTasks } from "../../ingest/file-tasks.js";
import { allowedFolder } from "../../ingest/watch/folder-roots.js";
import { DbError } from "../../protocol/errors.js";
import type { Job } from "../jobs/job-kind.js";
import { JOBS } from "../jobs/jobs.js";
import { FileReader, type ReadOutcome, written } from "./file-reader.js";
import {
  changeFolder,
  countFiles,
  dueFiles,
  type FileRecord,
  type Folder,
  folderById,
  nextDueMs,
  removableFiles,
} from "./file-store.js";
import { FolderEvents } from "./folder-events.js";
import { FolderScan } from "./folder-scan.js";
import { Waking } from "./waking.js";

/** Files whose records are fetched at once. */
const FILES_AT_ONCE = 50;
/** Before what failed for a reason that is not a file's is tried again. */
const TROUBLE_MS = 5000;
/** Scans take at most this part of the time, however often all is said to have changed. */
const SCAN_SHARE = 0.2;

export class FolderWork {
  private readonly events: FolderEvents;
  private readonly waking = new Waking();
  /** What is being read. */
  private readonly running = new Set<string>();
  private due: FileRecord[] = [];
  private removable: FileRecord[] = [];
  private looking: Promise<void> = Promise.resolve();
  /** Reported as changed. */
  private changed = new Set<string>();
  /** Anything may have changed. */
  private wantsScan = false;
  /** How long the last scan took, which says how soon another may follow. */
  private scanMs = 0;
  private isScanning = false;
  private wasPoked = false;
  private problem: string | null = null;
  private watchProblem: string | null = null;

  constructor(
    private readonly job: Job,
    private readonly tasks: FileTasks,
  ) {
    this.events = new FolderEvents(job.partition.part(JOBS).progress, job.record.tenant, job.record.id);
  }

  /** Its record was changed. */
  poke(): void {
    this.wasPoked = true;
    this.waking.wake();
  }

  /** Files must be read again, and the whole folder scanned. */
  readAgain(): void {
    this.wantsScan = true;
    this.forgetDue();
  }

  isReading(path: string): boolean {
    return this.running.has(path);
  }

  get isLooking(): boolean {
    return this.isScanning;
  }

  /** Resolves when the collection has been deleted, or the job is stopped. */
  async run(): Promise<void> {
    const { signal, record, partition } = this.job;
    const stop = (): void => this.waking.wake();
    signal.addEventListener("abort", stop);
    let wasPaused = false;
    try {
      while (!signal.aborted) {
        this.wasPoked = false;
        const { heard } = this.waking;
        const folder = await this.job.work((request) => folderById(request, record.id));
        if (folder === null) return;
        this.problem = folder.problem;
        if (folder.paused !== wasPaused) {
          if (folder.paused) this.events.paused();
          else this.events.resumed();
        }
        wasPaused = folder.paused;
        const { rescanSeconds } = partition.config.files;
        if (folder.paused || !(await this.follow(folder))) await this.waking.wait(heard, rescanSeconds * 1000);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Until the record was changed or the job is stopped. False: the folder cannot be followed now. */
  private async follow(folder: Folder): Promise<boolean> {
    const { config } = this.job.partition;
    let within: string;
    try {
      const allowed = await allowedFolder(config.files.roots, this.job.record.owner.tenantId, folder.root);
      if (allowed.path !== folder.root)
        throw new DbError("forbidden", "The folder was replaced by a link to another folder.");
      within = allowed.within;
    } catch (error) {
      await this.say((error as Error).message);
      return false;
    }
    const over = new AbortController();
    const stop = (): void => over.abort();
    this.job.signal.addEventListener("abort", stop);
    const unwatch = this.watch(folder);
    const reader = new FileReader(this.job, this.tasks, folder, within, config.files);
    const scan = new FolderScan(this.job, this.tasks, folder, config.files);
    this.due = [];
    this.removable = [];
    try {
      const slots = Array.from({ length: config.files.filesRunningMax }, () => this.slot(reader));
      await this.firstOf([this.look(scan), ...slots], over);
      return true;
    } finally {
      over.abort();
      unwatch();
      this.job.signal.removeEventListener("abort", stop);
    }
  }

  /** Waits for all; when one fails the others are stopped first. */
  private async firstOf(parts: readonly Promise<void>[], over: AbortController): Promise<void> {
    const failed = (error: unknown): never => {
      over.abort();
      this.poke();
      throw error;
    };
    const ends = await Promise.allSettled(parts.map((part) => part.catch(failed)));
    const failure = ends.find((end) => end.status === "rejected");
    if (failure === undefined) return;
    const { reason } = failure as PromiseRejectedResult;
    if (this.job.signal.aborted || !(reason instanceof DbError)) throw reason;
    // The collection's table was dropped or changed by statements, say: the record tells, and it is tried again.
    await this.say(reason.message);
    await this.waking.wait(this.waking.heard, TROUBLE_MS);
  }

  private watch(folder: Folder): () => void {
    const { root, options } = folder;
    const { recursive, include, exclude, debounce_ms: quietMs } = options;
    this.watchProblem = null;
    return this.tasks.watchFolder(
      { root, recursive, include, exclude, quietMs },
      {
        ready: () => {
          // What has changed between the first scan and now was not reported; that does not wait.
          this.scanMs = 0;
          this.report(null);
        },
        changed: ({ paths }) => this.report(paths),
        failed: (message) => {
          this.watchProblem = message;
          this.report(null);
        },
      },
    );
  }

  private report(paths: readonly string[] | null): void {
    if (paths === null) this.wantsScan = true;
    else for (const path of paths) this.changed.add(path);
    this.waking.wake();
  }

  private get isOver(): boolean {
    return this.wasPoked || this.job.signal.aborted;
  }

  /** Looks at what may have changed. */
  private async look(scan: FolderScan): Promise<void> {
    const rescanMs = this.job.partition.config.files.rescanSeconds * 1000;
    let scannedAt = Number.NEGATIVE_INFINITY;
    while (!this.isOver) {
      const { heard } = this.waking;
      const now = performance.now();
      const scanAt = scannedAt + (this.wantsScan ? Math.min(this.scanMs / SCAN_SHARE, rescanMs) : rescanMs);
      if (now >= scanAt) {
        await this.scanAll(scan);
        scannedAt = performance.now();
        this.scanMs = scannedAt - now;
      } else if (this.changed.size > 0) {
        const paths = [...this.changed];
        this.changed.clear();
        if ((await scan.some(paths)) > 0) this.forgetDue();
      } else await this.waking.wait(heard, Math.max(1, scanAt - now));
    }
  }

  private async scanAll(scan: FolderScan): Promise<void> {
    const { record } = this.job;
    const isFirst = await this.job.work(async (request) => (await folderById(request, record.id))?.scannedAt === null);
    if (isFirst) this.events.begin();
    this.changed.clear();
    this.wantsScan = false;
    this.isScanning = true;
    try {
      await scan.all(this.job.signal);
    } catch (error) {
      if (error instanceof DbError || this.job.signal.aborted) throw error;
      throw new DbError("not_found", `The folder cannot be read: ${(error as Error).message}`);
    } finally {
      this.isScanning = false;
    }
    const { filesLeftOut } = scan;
    const tooMany =
      filesLeftOut === 0
        ? null
        : `${filesLeftOut} files are left out because the tenant has reached files_per_tenant_max or bytes_per_tenant_max of [files].`;
    await this.say(tooMany ?? this.watchProblem);
    const counts = await this.job.work((request) => countFiles(request, record.id));
    if (counts.pending.files > 0 || this.events.isInPass) this.events.scanned(counts.pending.files);
    this.forgetDue();
  }

  private forgetDue(): void {
    this.due = [];
    this.removable = [];
    this.waking.wake();
  }

  /** In the collection's record. */
  private async say(problem: string | null): Promise<void> {
    if (this.problem === problem) return;
    this.problem = problem;
    try {
      await this.job.work((request) => written(request, (run) => changeFolder(run, this.job.record.id, { problem })));
    } catch (error) {
      // It was deleted, which is seen next.
      if (!(error instanceof DbError && error.code === "not_found")) throw error;
    }
  }

  /** Reads one file after the other. */
  private async slot(reader: FileReader): Promise<void> {
    while (!this.isOver) {
      const { heard } = this.waking;
      const next = await this.next();
      if (this.isOver) {
        if (next !== null) this.running.delete(next.path);
        return;
      }
      if (next === null) await this.rest(heard);
      else if (next.status === "gone") {
        if (await reader.remove(next)) this.events.removed(next);
        this.running.delete(next.path);
      } else await this.read(reader, next);
    }
  }

  private async read(reader: FileReader, file: FileRecord): Promise<void> {
    this.events.processing(file);
    let outcome: ReadOutcome;
    try {
      outcome = await reader.read(file, this.job.signal);
    } finally {
      this.running.delete(file.path);
    }
    this.events.read(file, outcome);
  }

  /** The next file to be read or removed, which is then running. Null: there is none now. */
  private async next(): Promise<FileRecord | null> {
    const before = this.looking;
    let done = (): void => undefined;
    this.looking = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    try {
      return (await this.take()) ?? null;
    } finally {
      done();
    }
  }

  private async take(): Promise<FileRecord | undefined> {
    const { id } = this.job.record;
    const isFree = ({ path }: FileRecord) => !this.running.has(path);
    if (this.removable.length + this.due.length === 0) {
      const [removable, due] = await this.job.work(async (request) => [
        await removableFiles(request, id, FILES_AT_ONCE),
        await dueFiles(request, id, new Date().toISOString(), FILES_AT_ONCE),
      ]);
      this.removable = removable.filter(isFree);
      this.due = due.filter(isFree);
    }
    const file = this.removable.shift() ?? this.due.shift();
    if (file !== undefined) this.running.add(file.path);
    return file;
  }

  /** Nothing is due: the pass is over, unless others are at work or something is tried again later. */
  private async rest(heard: number): Promise<void> {
    const dueMs = await this.job.work((request) => nextDueMs(request, this.job.record.id));
    if (dueMs === null && this.running.size === 0 && !this.isScanning && this.events.isInPass) {
      const counts = await this.job.work((request) => countFiles(request, this.job.record.id));
      if (counts.pending.files === 0 && this.events.isInPass) this.events.complete(counts, this.problem);
    }
    const waitMs = dueMs === null ? Number.POSITIVE_INFINITY : Math.max(10, dueMs - Date.now());
    await this.waking.wait(heard, Math.min(waitMs, this.job.partition.config.files.rescanSeconds * 1000));
  }
}
