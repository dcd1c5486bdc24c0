/** The work on filesystem collections that happens outside the actor's thread. Made by workers/file-tasks.ts. */
import type { FileFacts, FilePlace, ParsedFile, ParseJob } from "./parse/contract.js";
import type { WatchHearer, WatchOptions } from "./watch/folder-watcher.js";
import type { FoundFile } from "./watch/found-file.js";
import type { LookJob, ScanJob, ScanPage } from "./watch/scan-folder.js";

export interface FileTasks {
  /** Rejects with the system's error when the folder itself cannot be read. */
  scanFolder(job: ScanJob): Promise<ScanPage>;
  lookAtFiles(job: LookJob): Promise<readonly FoundFile[]>;
  /** Rejects with the DbErrors of parsing, as `parseFile`. */
  digestFile(place: FilePlace): Promise<FileFacts>;
  /**
   * Rejects with `file_timeout` after the job's time, `file_too_large` when it needs more memory than a thread may
   * have, and `reader_failed` when its thread broke off otherwise. `signal` ends it where it is.
   */
  parseFile(job: ParseJob, signal: AbortSignal): Promise<ParsedFile>;
  /** Watches until the returned function is called. */
  watchFolder(options: WatchOptions, hearer: WatchHearer): () => void;
}
