/**
 * What threads that make entries of indexes are asked for, and what they give. index-run.ts works there, index-runs.ts
 * asks.
 */
import type { DbError } from "../../protocol/errors.js";
import type { PackedRun } from "../../storage/packed-run.js";
import type { SqlType } from "../../values/values.js";
import type { EntryLayout } from "./table-layout.js";

export interface IndexRunSegment {
  readonly path: string;
  /** Its place in the file. */
  readonly number: number;
  /** Whole keys of rows that are left out, if they are there. */
  readonly without: readonly Uint8Array[];
}

export interface IndexRunJob {
  readonly segments: readonly IndexRunSegment[];
  /** Of the keys of rows. */
  readonly prefixLength: number;
  /** What the entries are made of. */
  readonly columns: readonly { readonly id: number; readonly type: SqlType }[];
  readonly index: EntryLayout;
  /** Of the entries. */
  readonly prefix: Uint8Array;
  readonly bytesMax: number;
  /** Not 0: end soon. */
  readonly stop: Int32Array<SharedArrayBuffer>;
  /** Rows that have been read are added to it. */
  readonly rows: Int32Array<SharedArrayBuffer>;
}

export interface IndexRunAnswer {
  /** Null: it was stopped, or there is an error; or neither, when a file is missing or damaged. */
  readonly run: PackedRun | null;
  /** As the load counts them. */
  readonly bytes: number;
  /** Errors lose their class on the way. */
  readonly error: Pick<DbError, "code" | "message" | "details"> | null;
}

export interface IndexMergeJob {
  readonly prefix: Uint8Array;
  readonly parts: readonly PackedRun[];
  readonly stop: IndexRunJob["stop"];
}

/** Threads for index entries. */
export interface IndexThreads {
  readonly count: number;
  /** Gives entries for the segments' rows, sorted. */
  make(job: IndexRunJob): Promise<IndexRunAnswer>;
  /** Makes one run of sorted ones, its bytes in key order; null: it was stopped. The parts' memory goes with them. */
  merge(job: IndexMergeJob): Promise<PackedRun | null>;
}
