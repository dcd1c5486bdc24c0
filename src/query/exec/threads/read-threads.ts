/**
 * What threads that read segments for a statement are asked for, and what they give. thread-reads.ts asks,
 * read-in-thread.ts works there; aggregate.ts, top-n.ts and distinct.ts take what they give.
 */
import type { ErrorCode } from "../../../protocol/errors.js";
import type { Value } from "../../../values/values.js";
import type { EvalContext } from "../../expr/expr.js";
import type { SentCondition, SentValue } from "../../expr/sent-condition.js";
import type { AggregateKey } from "../../expr/sent-expr.js";
import type { TypeKey } from "../../expr/sent-form.js";
import type { Column, SentSegmentColumn } from "../segments/column.js";

export interface SentColumn {
  readonly id: number;
  readonly type: TypeKey;
  readonly name: string;
}

export interface SentSortKey {
  readonly expr: SentCondition;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface SentCall {
  readonly fn: AggregateKey;
  readonly args: readonly SentCondition[];
}

/** What becomes of the rows. */
export type SentGoal =
  | {
      readonly kind: "aggregate";
      readonly groups: readonly SentCondition[];
      readonly calls: readonly SentCall[];
    }
  | { readonly kind: "topn"; readonly keys: readonly SentSortKey[] }
  | { readonly kind: "distinct" };

/** A scan, perhaps a projection above it, and what is made of its rows: the plan's nodes as plain values. */
export interface SentRead {
  /** Of the scan, by slot. */
  readonly columns: readonly SentColumn[];
  /** Column ids of the table, by slot. */
  readonly source: readonly number[];
  readonly filter: SentCondition | null;
  readonly project: { readonly columns: readonly SentColumn[]; readonly exprs: readonly SentCondition[] } | null;
  readonly goal: SentGoal;
}

export interface SentPlan {
  readonly read: SentRead;
  /** Parameters that the read needs, by place; constants are in it. */
  readonly parameters: readonly number[];
}

/** What other threads may do in the place of a scan's consumer. */
export interface ThreadWork {
  /** Asked where enough is to be read. Null: threads cannot do it. */
  plan(): SentPlan | null;
  /** Of top-n: how many rows are wanted. */
  readonly rowsMax: number | null;
  /** Whether it would take results now; asked before each. */
  wants(): boolean;
  /** Whether this result, which comes next, gives what its rows would give. Absent: any does. */
  canTake?(result: ThreadResult): boolean;
}

/** Columns of a segment that are in memory which threads share, by column id. */
export type SharedColumns = readonly (readonly [id: number, column: SentSegmentColumn])[];

export interface ReadSegment {
  readonly path: string;
  /** Of the file at the path. */
  readonly fileId: number;
  /** Its place in the file. */
  readonly number: number;
  readonly from: string;
  readonly to: string;
  /** What need not be read from the file. */
  readonly shared: SharedColumns;
}

export interface ReadJob {
  readonly read: SentRead;
  readonly parameters: readonly (readonly [index: number, value: SentValue])[];
  readonly rowsMax: number | null;
  readonly context: Pick<
    EvalContext,
    "transactionMicros" | "statementMicros" | "timeZone" | "style" | "user" | "tenant"
  >;
  /** Neighbours, without gaps. */
  readonly segments: readonly ReadSegment[];
  /** Of the keys of the table's rows. */
  readonly prefix: Uint8Array;
  readonly memoryBytesMax: number;
  /** Floats are added up as long as that is exact. */
  readonly addsUp: boolean;
  /** A thread that has worked for so long leaves the rest to the statement, as others wait for it. */
  readonly millisMax: number;
  /** Of one scan. Not 0: end soon. */
  readonly stop: Int32Array<SharedArrayBuffer>;
}

/** What an accumulator has of its groups, in their order. */
export type SentState =
  | { readonly kind: "counts"; readonly counts: Float64Array }
  | {
      readonly kind: "sums";
      readonly small: Float64Array;
      readonly counts: Float64Array;
      readonly scale: number;
      readonly rests: readonly { readonly group: number; readonly total: SentValue; readonly count: number }[];
    }
  /**
   * Sums by group of the first numbers, `total` without their signs, and then numbers themselves with their groups, in
   * the order of the rows: whoever adds them up rounds as if it had read them.
   */
  | {
      readonly kind: "numbers";
      readonly sums: Float64Array;
      readonly counts: Float64Array;
      readonly total: number;
      readonly numbers: Float64Array;
      /** Null: there is one group. */
      readonly groups: Int32Array | null;
    }
  /** Null: the group has none. */
  | { readonly kind: "extremes"; readonly values: readonly SentValue[] };

export interface SentGroups {
  readonly count: number;
  /** By group expression. */
  readonly keys: readonly Column[];
  /** By call. */
  readonly states: readonly SentState[];
}

export interface ReadAnswer {
  readonly thread: number;
  /** That passed the filter. */
  readonly rows: number;
  readonly result:
    | { readonly kind: "groups"; readonly groups: SentGroups }
    /** Columns by slot. */
    | { readonly kind: "rows"; readonly columns: readonly (readonly SentValue[])[]; readonly count: number }
    /** It cannot be done there, or was stopped. */
    | { readonly kind: "none"; readonly why: ErrorCode | "stopped" | "unreadable" | "late" | "unfit" };
  /** About, of the result. */
  readonly bytes: number;
  /** What was read from files, by the place of the segment in the job. */
  readonly shared: readonly SharedColumns[];
}

export type ThreadResult = Exclude<ReadAnswer["result"], { readonly kind: "none" }>;

export interface ReadThreads {
  readonly count: number;
  /** They have been started, and their program is loaded: they answer at once. */
  areReady(): boolean;
  start(): void;
  read(job: ReadJob): Reading;
}

/** A job that a thread has, or that waits for one. */
export interface Reading {
  /** Rejects when the thread has died, with `overloaded` where too many wait, or when it was withdrawn. */
  readonly answer: Promise<ReadAnswer>;
  /** True: no thread has begun it, and none will. */
  withdraw(): boolean;
}

/** Takes the place of a batch: what a thread has made of the rows of some segments. */
export class FromThread {
  constructor(
    /** Rows that the scan would have given. */
    readonly length: number,
    readonly result: ThreadResult,
  ) {}

  /** Nobody who has not asked for it gets one. */
  get columns(): readonly ArrayLike<Value>[] {
    throw new Error("what a thread has made is no batch of rows");
  }
}
