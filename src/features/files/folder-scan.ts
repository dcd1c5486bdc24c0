/**
 * Brings the records of a folder's files in line with the folder: all of it, page by page, or the paths that were
 * reported as changed. Files that are to be read wait in the records. Called by folder-work.ts, one call at a time.
 */

import type { FileTasks } from "../../ingest/file-tasks.js";
import { comparePaths, type FoundFile } from "../../ingest/watch/found-file.js";
import { certainOutside, type Differences, reconcile } from "../../ingest/watch/reconcile.js";
import type { ScanPage } from "../../ingest/watch/scan-folder.js";
import { SCAN_PAGE_FILES } from "../../protocol/limits.js";
import type { Job } from "../jobs/job-kind.js";
import { written } from "./file-reader.js";
import {
  changeFolder,
  type Folder,
  fileAt,
  fileChanged,
  fileGone,
  insertFile,
  knownFiles,
  tenantUse,
} from "./file-store.js";

/** Records of a page that are compared at once: those of folders that have been emptied have no files beside them. */
const RECORDS_AT_ONCE = 2000;

export interface ScanBounds {
  /** Of the tenant. */
  readonly filesPerTenantMax: number;
  readonly bytesPerTenantMax: number;
}

export class FolderScan {
  /** What the tenant may still have; null: to be asked. */
  private room: { files: number; bytes: number } | null = null;
  private leftOut = 0;

  constructor(
    private readonly job: Pick<Job, "work">,
    private readonly tasks: FileTasks,
    private readonly folder: Folder,
    private readonly bounds: ScanBounds,
  ) {}

  /** Files that are left out because the tenant has as many as it may. */
  get filesLeftOut(): number {
    return this.leftOut;
  }

  /**
   * Answers how many differences there were. Rejects when the folder cannot be read; then nothing is known to have
   * gone.
   */
  async all(signal: AbortSignal): Promise<number> {
    const { recursive, include, exclude } = this.folder.options;
    const { root } = this.folder;
    this.room = null;
    this.leftOut = 0;
    let differences = 0;
    for (let after = ""; ; ) {
      const page = await this.tasks.scanFolder({ root, recursive, include, exclude, after, filesMax: SCAN_PAGE_FILES });
      signal.throwIfAborted();
      differences += await this.page(page, after);
      if (page.next === null) break;
      after = page.next;
    }
    const scannedAt = new Date().toISOString();
    await this.job.work((request) => written(request, (run) => changeFolder(run, this.folder.id, { scannedAt })));
    return differences;
  }

  /** The same for some paths. */
  async some(paths: readonly string[]): Promise<number> {
    const { options, root, id } = this.folder;
    const { recursive, include, exclude } = options;
    const found = await this.tasks.lookAtFiles({ root, recursive, include, exclude, paths });
    const known = await this.job.work(async (request) => {
      const records = [];
      for (const path of paths) records.push(await fileAt(request, id, path));
      return records.filter((record) => record !== null);
    });
    return this.apply(reconcile(found, known));
  }

  private async page({ files, next, unreadable }: ScanPage, after: string): Promise<number> {
    const isCertain = certainOutside(unreadable);
    let differences = 0;
    for (let from = after; ; ) {
      const known = await this.job.work((request) => knownFiles(request, this.folder.id, from, next, RECORDS_AT_ONCE));
      const isLast = known.length < RECORDS_AT_ONCE;
      const to = isLast ? next : known.at(-1)!.path;
      const found = files.filter(({ path }) => isBetween(path, from, to));
      differences += await this.apply(reconcile(found, known, isCertain));
      if (isLast) return differences;
      from = to!;
    }
  }

  private async apply({ added, changed, gone }: Differences): Promise<number> {
    if (added.length + changed.length + gone.length === 0) return 0;
    const { id } = this.folder;
    const now = new Date().toISOString();
    const taken = await this.within(added);
    await this.job.work((request) =>
      written(request, async (run) => {
        for (const file of taken) await insertFile(run, id, file, now);
        for (const file of changed) await fileChanged(run, id, file, now);
        for (const path of gone) await fileGone(run, id, path, now);
      }),
    );
    return taken.length + changed.length + gone.length;
  }

  /** Those of the files that the tenant has room for. */
  private async within(files: readonly FoundFile[]): Promise<readonly FoundFile[]> {
    if (files.length === 0) return files;
    if (this.room === null) {
      const use = await this.job.work(tenantUse);
      const { filesPerTenantMax, bytesPerTenantMax } = this.bounds;
      this.room = { files: filesPerTenantMax - use.files, bytes: bytesPerTenantMax - use.bytes };
    }
    const { room } = this;
    const taken = files.filter(({ size }) => {
      if (room.files < 1 || room.bytes < size) return false;
      room.files--;
      room.bytes -= size;
      return true;
    });
    this.leftOut += files.length - taken.length;
    return taken;
  }
}

function isBetween(path: string, after: string, to: string | null): boolean {
  return (after === "" || comparePaths(path, after) > 0) && (to === null || comparePaths(path, to) <= 0);
}
