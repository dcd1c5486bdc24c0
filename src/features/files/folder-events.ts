/**
 * Events for followers of a filesystem collection: a scan of its folder, the result of each file, the end of all work.
 * One pass lasts from the first file that is to be read until none is left. Called by folder-work.ts.
 */
import type { ProgressHub, ProgressMessage } from "../jobs/progress-hub.js";
import type { ReadOutcome } from "./file-reader.js";
import type { FileCounts, FileRecord, Folder } from "./file-store.js";

export function topicOf(folderId: string): string {
  return `files/${folderId}`;
}

type EventType =
  | "scan_started"
  | "file_processing"
  | "file_done"
  | "file_failed"
  | "scan_complete"
  | "paused"
  | "resumed";

/** What is not said of an event is null. */
export interface EventFields {
  readonly document_id?: string;
  readonly filename?: string;
  readonly status?: string;
  /** 0 to 1: of the files of this pass those that are done. */
  readonly progress?: number;
  readonly message?: string;
  readonly error?: string;
  readonly [more: string]: unknown;
}

export function eventOf(type: EventType, folderId: string, fields: EventFields): ProgressMessage {
  const none = { document_id: null, filename: null, status: null, progress: null, message: null, error: null };
  return { type, collection_id: folderId, ...none, ...fields, timestamp: new Date().toISOString() };
}

/** For followers that come before the first event. */
export function eventOfRecord({ id, paused, problem, scannedAt }: Folder, counts: FileCounts): ProgressMessage {
  if (paused) return eventOf("paused", id, { status: "paused" });
  if (scannedAt === null || counts.pending.files > 0) {
    const done = counts.indexed.files + counts.failed.files;
    return eventOf("scan_started", id, {
      status: "ingesting",
      progress: done / Math.max(1, done + counts.pending.files),
    });
  }
  return completion(id, counts, problem);
}

function completion(id: string, { indexed, failed }: FileCounts, problem: string | null): ProgressMessage {
  const message = `${indexed.files} files are indexed in ${indexed.chunks} passages, ${failed.files} could not be read.`;
  return eventOf("scan_complete", id, {
    status: "ready",
    progress: 1,
    message,
    ...(problem !== null && { error: problem }),
    files: indexed.files + failed.files,
    indexed: indexed.files,
    failed: failed.files,
  });
}

export class FolderEvents {
  /** Files of this pass. */
  private done = 0;
  private left = 0;
  private inPass = false;

  constructor(
    private readonly hub: ProgressHub,
    private readonly tenant: number,
    private readonly folderId: string,
  ) {}

  /** `waiting`: files that are to be read. */
  scanned(waiting: number): void {
    this.left = waiting;
    this.begin();
  }

  begin(): void {
    if (this.inPass) return;
    this.inPass = true;
    this.done = 0;
    this.say("scan_started", { status: "scanning", progress: 0 });
  }

  get isInPass(): boolean {
    return this.inPass;
  }

  processing({ id, path, size }: FileRecord): void {
    this.begin();
    this.say("file_processing", {
      document_id: id,
      filename: path,
      status: "processing",
      progress: this.progress,
      size,
    });
  }

  read({ id, path }: FileRecord, { kind, chunks, error }: ReadOutcome): void {
    if (kind !== "later") this.done++;
    this.left = Math.max(0, this.left - 1);
    const fields = { document_id: id, filename: path, progress: this.progress };
    if (kind === "failed")
      this.say("file_failed", { ...fields, status: "failed", error: error!.message, code: error!.code });
    else if (kind === "later") {
      this.say("file_failed", {
        ...fields,
        status: "pending",
        message: "It is tried again.",
        error: error!.message,
        code: error!.code,
      });
    } else if (kind !== "dropped") this.say("file_done", { ...fields, status: "indexed", message: DONE[kind], chunks });
  }

  removed({ id, path }: FileRecord): void {
    this.say("file_done", {
      document_id: id,
      filename: path,
      status: "removed",
      message: "The file is no longer in the folder.",
    });
  }

  complete(counts: FileCounts, problem: string | null): void {
    this.inPass = false;
    this.hub.publish(this.tenant, topicOf(this.folderId), completion(this.folderId, counts, problem));
  }

  paused(): void {
    this.inPass = false;
    this.say("paused", { status: "paused" });
  }

  resumed(): void {
    this.say("resumed", { status: "ingesting" });
  }

  private get progress(): number {
    return Math.round((1000 * this.done) / Math.max(1, this.done + this.left)) / 1000;
  }

  private say(type: EventType, fields: EventFields): void {
    this.hub.publish(this.tenant, topicOf(this.folderId), eventOf(type, this.folderId, fields));
  }
}

const DONE = {
  indexed: "Its passages are in the collection.",
  unchanged: "Its content has not changed.",
  moved: "The file was moved. Its passages remain.",
} as const;
