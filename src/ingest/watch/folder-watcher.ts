/**
 * Watches one folder (chokidar: inotify, FSEvents, ReadDirectoryChangesW) and reports which paths to look at. It only
 * makes a collection quick to follow; scans find what it misses. Runs in the watcher's thread (workers/watch.ts).
 */
import { type FSWatcher, watch } from "chokidar";
import { type ChangedPaths, PathCollector, type Quiet } from "./changed-paths.js";
import { pathFilter } from "./path-filter.js";
import type { ScanJob } from "./scan-folder.js";

export interface WatchOptions extends Pick<ScanJob, "root" | "recursive" | "include" | "exclude"> {
  /** Time without a further change before changes are reported. */
  readonly quietMs: number;
}

export interface WatchHearer {
  /** From now on nothing is missed, as far as the system tells. */
  ready(): void;
  changed(paths: ChangedPaths): void;
  /** The folder is not watched any more, or not wholly: say the system's bound of watched folders is reached. */
  failed(message: string): void;
}

/** A folder that is never quiet is reported anyway. */
function quietOf(quietMs: number): Quiet {
  return { quietMs, waitMsMax: Math.max(1000, 4 * quietMs), pathsMax: 2000 };
}

export class FolderWatcher {
  private readonly watcher: FSWatcher;
  private readonly collector: PathCollector;
  private hasFailed = false;

  constructor({ root, recursive, include, exclude, quietMs }: WatchOptions, hearer: WatchHearer) {
    const filter = pathFilter({ include, exclude });
    this.collector = new PathCollector(quietOf(quietMs), (paths) => hearer.changed(paths));
    const inFolder = (path: string): string => path.slice(root.length + 1);
    this.watcher = watch(root, {
      ignoreInitial: true,
      followSymlinks: false,
      ignorePermissionErrors: true,
      ...(!recursive && { depth: 0 }),
      ignored: (path, stats) => {
        if (path.length <= root.length) return false;
        // Before it is known what a path is, only folders that are left out can be told.
        return stats?.isFile() ? !filter.file(inFolder(path)) : !filter.folder(inFolder(path));
      },
    });
    this.watcher.on("all", (event, path) => {
      if (path.length > root.length && (event === "add" || event === "change" || event === "unlink")) {
        this.collector.add(inFolder(path));
      } else if (event === "unlinkDir" || event === "addDir") this.collector.add(null);
    });
    this.watcher.on("ready", () => hearer.ready());
    this.watcher.on("error", (error) => {
      this.collector.add(null);
      if (this.hasFailed) return;
      this.hasFailed = true;
      hearer.failed(watchError(error as NodeJS.ErrnoException));
    });
  }

  async close(): Promise<void> {
    this.collector.close();
    await this.watcher.close();
  }
}

function watchError(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOSPC" || error.code === "EMFILE") {
    return "The system cannot watch more folders (on Linux, raise fs.inotify.max_user_watches). Only scans find changes.";
  }
  return `Parts of the folder cannot be watched (${error.message}). Only scans find changes there.`;
}
