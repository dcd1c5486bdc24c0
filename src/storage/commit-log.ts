/**
 * The interface between a shard and the log that makes its commits durable. The log is append-only and is also the
 * change log that subscriptions, caches and replication read. Owned by the shard; file-commit-log.ts and
 * memory-commit-log.ts implement it.
 */

import { DbError } from "../protocol/errors.js";
import type { Disk } from "./disk.js";
import type { FramedPart } from "./framed-part.js";
import type { CommitParts, Operation } from "./operation.js";
import type { LoadPart } from "./sorted-run.js";

/** Where the frames (operation-frame.ts) of a part begin. */
export interface PartPlace {
  readonly path: string;
  readonly position: number;
}

/** Where they stand (commit-parts.ts). */
export interface PartsFiles extends Readonly<CommitParts> {
  /** In order. */
  readonly files: readonly { readonly path: string; readonly length: number }[];
}

export interface Commit {
  /** One more than the commit before. */
  readonly sequence: number;
  /** Wall-clock time, microseconds since the epoch. */
  readonly micros: number;
  /** All of them, or those after its parts. */
  readonly operations: readonly Operation[];
  /** Of a large commit. */
  readonly parts?: CommitParts;
  /** What keys of watched tables held before the commit (null: nothing), for followers of changes; not replayed. */
  readonly before?: readonly Operation[];
}

/** The time of the last change of a commit: those that are followed have a microsecond each, so times name changes. */
export function lastMicrosOf({ micros, before }: Pick<Commit, "micros" | "before">): number {
  return lastMicros(micros, before?.length ?? 0);
}

export function lastMicros(micros: number, followed: number): number {
  return micros + Math.max(0, followed - 1);
}

/**
 * A commit, or a gap: the changes up to `sequence` since the entry before are not in the log, although the engine has
 * them (a power cut took them from the log before they were acknowledged). Whoever derives state from the log must
 * rebuild it after a gap.
 */
export interface LogEntry extends Omit<Commit, "operations"> {
  /** Read from the log as they are taken, where they are many. */
  readonly operations: Iterable<Operation>;
  /** The same of a large commit, its parts as they stand in the log. Absent: the log has no such bytes. */
  readonly framed?: FramedOperations;
  readonly gap: boolean;
}

export interface FramedOperations {
  /** Read as they are taken; each is of use until the next is asked for. */
  readonly parts: Iterable<FramedPart>;
  /** Those after the parts. */
  readonly late: readonly Operation[];
}

/** What a reader was to find is no longer in the log, as after a gap or where it was trimmed while it was read. */
export class LogLacks extends DbError {}

export interface CommitLog {
  /** The first sequence that `replay` can start from; 1 + lastSequence when there is none. */
  readonly firstSequence: number;
  /** Sequence of the newest entry, 0 when there has never been one. */
  readonly lastSequence: number;
  /** Greatest time of a change, microseconds since the epoch; 0 when there has never been one. */
  readonly lastMicros: number;
  /**
   * `trim` keeps commits after that time (microseconds since the epoch), in up to that many bytes; null: it need not.
   */
  keeps: { readonly afterMicros: number; readonly bytesMax: number } | null;
  /** Bytes appended since open. */
  readonly bytesAppended: number;
  /** Nobody holds all of a commit's parts in memory at once: commits may be of any size. */
  readonly takesAnySize: boolean;
  /**
   * Appends all of them or, throwing, none. Throws disk_full when there is no room, overloaded or log_unavailable when
   * it takes nothing at the moment (the log stays usable), else partition_unavailable (the log is unusable). Not
   * durable before `sync`.
   */
  append(commits: readonly Commit[]): void;
  /**
   * A commit that is too large to be written at once: its operations are appended in parts, between other commits, and
   * count for nothing until a commit that names them is appended. Each part throws as `append` does.
   */
  beginParts(): CommitParts;
  /** Answers where the part is; null: not in a file, or not as it was given. */
  appendPart(parts: CommitParts, operations: readonly Operation[] | LoadPart): PartPlace | null;
  /** How the files of parts are read; null: `appendPart` tells no places. */
  readonly partsDisk: Pick<Disk, "open" | "read" | "close"> | null;
  /** Where they stand; null: in no file. */
  filesOf(parts: CommitParts): PartsFiles | null;
  /** There will be no such commit. */
  dropParts(parts: CommitParts): void;
  /** Appends a gap entry: everything up to `sequence` happened without the log. */
  appendGap(sequence: number, micros: number): void;
  /** Resolves when everything appended before the call is durable. A failure is final: the log is unusable then. */
  sync(): Promise<void>;
  /**
   * Entries from `fromSequence` on, in order. Byte arrays are views of a larger buffer: copy what is kept. Throws
   * LogLacks where it is trimmed meanwhile.
   */
  replay(fromSequence: number): Iterable<LogEntry>;
  /** Where a reader of all commits after that time, microseconds since the epoch, has to begin. */
  sequenceBefore(micros: number): number;
  /** Recovery no longer needs entries up to `sequence`; drops old ones as far as the retention window allows. */
  trim(sequence: number): void;
  /** Syncs and closes. */
  close(): Promise<void>;
}
