/**
 * The files of a folder, a page at a time in the order of their paths, so that neither a scan nor its reader ever holds
 * all. Links are not followed, so nothing outside is seen and no loop is walked. Runs in a task thread
 * (workers/task.ts), stateless: the next page begins behind the path where the last one ended.
 */
import type { BigIntStats, Dirent } from "node:fs";
import { lstat, readdir, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { comparePaths, type FoundFile, faultOfPath, nowNs, stampOf } from "./found-file.js";
import { type PathFilter, type PathRules, pathFilter } from "./path-filter.js";

export interface ScanJob extends PathRules {
  /** The path with all links resolved. */
  readonly root: string;
  readonly recursive: boolean;
  /** Only what comes behind this path; "": from the beginning. */
  readonly after: string;
  /** Files of a page. */
  readonly filesMax: number;
}

export interface ScanPage {
  readonly files: readonly FoundFile[];
  /** Where the next page begins; null: this was the last. */
  readonly next: string | null;
  /** Folders that cannot be read: what was known to be there may still be. Each ends in `/`. */
  readonly unreadable: readonly string[];
  /** What is no file to be read, each with why. */
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
}

/** Entries of folders that one page looks at, for each file that it may have. */
const ENTRIES_PER_FILE = 20;
const SKIPPED_SHOWN_MAX = 100;
/** Sorts behind every name. */
const BEHIND_ALL = "\u{10ffff}";

/** Rejects when the folder itself cannot be read: then nothing is known of its files. */
export async function scanFolder(job: ScanJob): Promise<ScanPage> {
  if (!(await isStraight(job.root))) throw new Error("the folder is not there, or has become a link");
  const scan = new Scan(job);
  await scan.folder("", await readdir(job.root, { withFileTypes: true }));
  return scan.page();
}

class Scan {
  private readonly files: FoundFile[] = [];
  private readonly unreadable: string[] = [];
  private readonly skipped: { path: string; why: string }[] = [];
  private readonly filter: PathFilter;
  private entries = 0;
  private last = "";
  private full = false;

  constructor(private readonly job: ScanJob) {
    this.filter = pathFilter(job);
  }

  page(): ScanPage {
    const { files, unreadable, skipped } = this;
    return { files, next: this.full ? this.last : null, unreadable, skipped };
  }

  /** `prefix`: the folder's path with a `/` behind, or "". */
  async folder(prefix: string, entries: readonly Dirent[]): Promise<void> {
    const { after, filesMax, recursive } = this.job;
    const named = entries.map((entry) => ({ entry, key: prefix + entry.name + (entry.isDirectory() ? "/" : "") }));
    named.sort((a, b) => comparePaths(a.key, b.key));
    for (const { entry, key } of named) {
      const isBehind = after === "" || comparePaths(key, after) > 0;
      if (!isBehind && !(entry.isDirectory() && after.startsWith(key))) continue;
      if (this.files.length >= filesMax || ++this.entries > filesMax * ENTRIES_PER_FILE) {
        this.full = true;
        return;
      }
      if (!entry.isDirectory()) await this.file(key, entry);
      else if (recursive) await this.inner(key);
      if (this.full) return;
      this.last = entry.isDirectory() ? key + BEHIND_ALL : key;
    }
  }

  private async inner(key: string): Promise<void> {
    const path = key.slice(0, -1);
    if (!this.filter.folder(path)) return;
    const fault = faultOfPath(path);
    if (fault !== null) {
      this.skip(key, fault);
      return;
    }
    let entries: readonly Dirent[];
    try {
      entries = await readdir(`${this.job.root}/${path}`, { withFileTypes: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      this.unreadable.push(key);
      this.skip(key, "the folder cannot be read");
      return;
    }
    await this.folder(key, entries);
  }

  private async file(path: string, entry: Dirent): Promise<void> {
    if (!this.filter.file(path)) return;
    const fault = faultOfPath(path) ?? (entry.isFile() ? null : faultOfEntry(entry));
    if (fault !== null) {
      this.skip(path, fault);
      return;
    }
    const found = await foundFile(this.job.root, path);
    if (found !== null) this.files.push(found);
  }

  private skip(path: string, why: string): void {
    if (this.skipped.length < SKIPPED_SHOWN_MAX) this.skipped.push({ path, why });
  }
}

function faultOfEntry(entry: Dirent): string {
  return entry.isSymbolicLink() ? "it is a symbolic link, and those are not followed" : "it is no ordinary file";
}

async function foundFile(root: string, path: string): Promise<FoundFile | null> {
  let stats: BigIntStats;
  try {
    stats = await lstat(`${root}/${path}`, { bigint: true });
  } catch {
    // It is gone by now.
    return null;
  }
  if (!stats.isFile()) return null;
  return { path, size: Number(stats.size), stamp: stampOf(stats, nowNs()) };
}

export interface LookJob extends PathRules {
  readonly root: string;
  readonly recursive: boolean;
  readonly paths: readonly string[];
}

/** The files at paths that were reported as changed; files that are not found do not exist. */
export async function lookAtFiles(job: LookJob): Promise<readonly FoundFile[]> {
  const filter = pathFilter(job);
  const straight = new Map<string, boolean>();
  const found: FoundFile[] = [];
  for (const path of job.paths) {
    if (faultOfPath(path) !== null || !isWanted(filter, path, job.recursive)) continue;
    const folder = dirname(`${job.root}/${path}`);
    if (!straight.has(folder)) straight.set(folder, await isStraight(folder));
    const file = straight.get(folder) ? await foundFile(job.root, path) : null;
    if (file !== null) found.push(file);
  }
  return found;
}

/** As a scan would find it: no folder on its way is left out. */
function isWanted(filter: PathFilter, path: string, recursive: boolean): boolean {
  const names = path.split("/");
  if (!recursive && names.length > 1) return false;
  for (let n = 1; n < names.length; n++) if (!filter.folder(names.slice(0, n).join("/"))) return false;
  return filter.file(path);
}

/** No link is on the way. */
async function isStraight(folder: string): Promise<boolean> {
  try {
    return (await realpath(folder)) === folder;
  } catch {
    return false;
  }
}
