/**
 * What one run of one statement may use: its transaction, its bounds, its scheduler, and state of its own. The session
 * makes one per statement with `create-context.ts`; operators and expressions only read it.
 *
 * A context is a plain object, so that a subquery's context is a copy with other `outer` values. Everything that
 * changes during the run is in `statement`, which all copies share.
 */
import type { CatalogView } from "../../catalog/catalog-view.js";
import type { IndexBuild } from "../../catalog/index-build.js";
import type { TableDef } from "../../catalog/table.js";
import type { DerivedIndexes } from "../../derived/derived-indexes.js";
import type { AlgorithmResult } from "../../graph/algorithms/algorithm.js";
import type { AlgorithmJob } from "../../graph/algorithms/run-algorithm.js";
import { DbError } from "../../protocol/errors.js";
import type { Load } from "../../storage/load.js";
import type { Transaction } from "../../storage/store.js";
import type { Value } from "../../values/values.js";
import type { Batch, EvalContext, EvalServices, SubqueryExpr } from "../expr/expr.js";
import type { AuditedTables } from "../plan/audited-tables.js";
import type { BoundTable } from "../plan/bound-table.js";
import type { CommonTable } from "../plan/plan.js";
import type { ConstraintEvent } from "./constraint-event.js";
import type { EdgeSource, EdgeSourceProgram } from "./edge-source.js";
import type { GraphChanges } from "./graph-changes.js";
import type { IndexThreads } from "./index-threads.js";
import type { RowNumbers } from "./row-numbers.js";
import type { SegmentCache } from "./segments/segment-cache.js";
import type { SpillArea } from "./spill/spill-area.js";
import type { ReadThreads } from "./threads/read-threads.js";
import type { TriggerFiring } from "./trigger-firing.js";

/** The expressions of a table's definition, bound as the transaction sees the catalog. */
export type BindTable = (table: TableDef, tx: Transaction) => BoundTable;

/** What a long computation is doing; `done`, beside it, goes from 0 to 1. */
export type ProgressPhase = "reading" | "computing" | "finishing";

export type ProgressHearer = (phase: ProgressPhase, done: number) => void;

export type TriggerAnswer = readonly Value[] | null;

/** What statements ask of the session, beside what expressions do. */
export interface ExecServices extends EvalServices {
  /** The definitions that the statement's transaction sees. */
  catalogView(): CatalogView;
  /** Runs an algorithm over a graph in another thread, which gets the graph's arrays. Rejects with its DbError. */
  runAlgorithm(job: AlgorithmJob): Promise<AlgorithmResult>;
  /** Reports the progress of a long computation to the client that waits for the statement. */
  readonly progress: ProgressHearer;
  /** Shows the tenant's sessions that an index is being built. Answers how to end that. */
  showBuild(build: IndexBuild): () => void;
  /** Null or absent: indexes are built in this thread. */
  readonly indexThreads?: IndexThreads | null;
  /** Null or absent: this thread reads by itself. */
  readonly readThreads?: ReadThreads | null;
  /** As the optimizer estimates. */
  estimatedRows(table: TableDef): number;
  /** Notes that rows of audited tables are about to be used (session/data-audit.ts). */
  noteAccess(tables: AuditedTables, context: ExecContext): void;
  noteAuditChange(table: TableDef, context: ExecContext): void;
  /** An id for a new row of a graph's table, which no other row has or had. */
  nextRowId(table: TableDef): number;
  /** Runs a trigger's function. Answers the row that it returned, by column; null: none. */
  fireTrigger(firing: TriggerFiring, context: ExecContext): TriggerAnswer | Promise<TriggerAnswer>;
}

/** A table that is new in the transaction: its rows may be stored ahead of the commit (session/unseen-rows.ts). */
export interface UnseenTable {
  readonly table: TableDef;
  /** Bytes of rows from which on it pays. */
  readonly bytes: number;
  /** A load that the transaction does not count. */
  beginLoad(): Load;
  /** Gives it a storage whose rows may stand in the engine before the commit, and answers its definition. */
  move(): TableDef;
  /** Stores rows that are sorted and checked; the engine takes them while the statement goes on. */
  store(load: Load): Promise<void>;
  /** Resolves when the engine has all that was stored: the transaction can read it then. */
  stored(): Promise<void>;
  /** What was stored stays if the transaction commits. */
  keep(): void;
}

/** Who takes the table's rows ahead of the commit; null: nobody does. */
export function storesAhead(table: TableDef, { unseen }: ExecContext): UnseenTable | null {
  return unseen?.table === table && (table.foreignKeys ?? []).length === 0 ? unseen : null;
}

/** A GraphWriter (graph-writer.ts), which contexts hand on without knowing it. */
export interface SharedWriter {
  readonly version: number;
}

export interface ExecContext extends EvalContext {
  /** Who asks may not see all rows and columns: errors tell no values. */
  readonly hidesRows?: boolean;
  /** session_replication_role is replica: foreign keys are neither checked nor followed, and usual triggers rest. */
  readonly isReplica?: boolean;
  /** In a function that runs with other rights than the session's: the statement (its number) for which it has them. */
  readonly lentIn?: number;
  readonly services: ExecServices;
  readonly tx: Transaction;
  /** Of a statement that fills a table which nobody else sees yet: how many rows are stored before the end. */
  readonly unseen?: UnseenTable;
  /** Of a query that a writing clause runs for each of its rows: the clause's writer, which writes for it. */
  readonly graphWriter?: SharedWriter;
  /** Of a writing clause's searches: sources of relationships that are open, until it writes. */
  readonly edgeSources?: Map<EdgeSourceProgram, EdgeSource> | undefined;
  /** What writers write to, where `tx` is the snapshot from before the statement (statement-snapshot.ts). */
  readonly live?: Transaction;
  /** The tenant's number, part of every key. */
  readonly tenantNumber: number;
  /** Numbers for rows of tables without a primary key; one allocator per actor. */
  readonly rowNumbers: RowNumbers;
  /** Column segments of the actor's tables; null: scans read records. */
  readonly segments: SegmentCache | null;
  /** Indexes that live in memory; null: searches read records. */
  readonly derived: DerivedIndexes | null;
  /** Where operators put rows that do not fit into the statement's memory; null: they end in 53200. */
  readonly spill: SpillArea | null;
  /** Rows of a full batch: BATCH_ROWS, less in tests. */
  readonly batchRows: number;
  readonly statement: StatementState;
  /** Binds the expressions of table definitions; null in contexts that write to no such table. */
  readonly bindTable: BindTable | null;
  /** True when the statement has used up its turn of the actor's loop. Cheap; asked every few hundred rows. */
  shouldYield(): boolean;
  /** Resolves at the statement's next turn. Rejects if it was cancelled. */
  yieldTurn(): Promise<void>;
  /** Fires, with the error that `checkpoint` throws, when the statement was cancelled or ran past its deadline. */
  signal(): AbortSignal;
}

/** What an uncorrelated subquery's value is made of, or the error that it ended in, thrown when its value is needed. */
export type SubqueryOutcome = { readonly values: readonly Value[] } | { readonly error: unknown };

/** Rows of a WITH table, which several scans read, each from the beginning. */
export interface CommonRows {
  /** Gives columns `slots`; as chunks, if it likes, when the reader takes them. */
  open(context: ExecContext, slots: readonly number[], asChunks: boolean): CommonRowsReader;
  /** Computes what is left of the rows. */
  complete(context: ExecContext): void | Promise<void>;
  close(): void;
}

/** One scan of them: as an operator. */
export interface CommonRowsReader {
  next(): Batch | null | Promise<Batch | null>;
  close(): void;
}

/** Part of a statement's memory beyond which operators go to disk; the rest is for what they need to do so. */
const CROWDED_SHARE = 0.6;

/** What index-spool.ts keeps, which contexts hand on without knowing it. */
export interface KeptForLookups {
  stop(): void;
}

/** Remembers what correlated subqueries answered (subquery-memo.ts). */
export interface SubqueryAnswers {
  answer(expr: SubqueryExpr, context: ExecContext, run: () => readonly Value[]): readonly Value[];
}

/** What changes while a statement runs: counters, reserved memory, results of uncorrelated subqueries. */
export class StatementState {
  /** Rows that INSERT, UPDATE or DELETE changed. */
  rowsAffected = 0;
  /** Estimated bytes that operators hold now. */
  memoryBytes = 0;
  /** The most that `memoryBytes` was. */
  memoryBytesPeak = 0;
  /** Bytes that operators have in temporary files now. */
  spilledBytes = 0;
  /** Rows of WITH tables that are open. */
  commonRows: Map<CommonTable, CommonRows> | null = null;
  /** What is left to check when the statement ends. */
  constraintEvents: ConstraintEvent[] | null = null;
  /** Ids of the indexes among them that forbid overlaps. */
  overlapping: Set<number> | null = null;
  subqueryOutcomes: Map<SubqueryExpr, SubqueryOutcome> | null = null;
  /** How often joins have looked rows of a table up in the engine. */
  lookups: Map<TableDef, number> | null = null;
  /** Answers of correlated subqueries by their outer values. */
  subqueryMemo: SubqueryAnswers | null = null;
  /** Rows of a batch for each of which parts of the plan are opened now. */
  rowsAtWork = 0;
  /** Tables that are kept in the order of an index (index-spool.ts), by the program that looks them up. */
  indexSpools: Map<object, KeptForLookups> | null = null;
  /** Rows have left that cannot be taken back: the statement cannot be run again. */
  hasSent = false;
  /** What was changed in graphs; null: nothing can have been. */
  graphChanges: GraphChanges | null = null;
  /** Rows that were changed beside those of `rowsAffected`, by table, for its statistics. */
  changedRows: Map<TableDef, number> | null = null;

  /** Who holds memory that they can do without; they release it when they are called. */
  readonly canRelease = new Set<() => void>();

  constructor(readonly memoryBytesMax: number) {}

  /** Counts bytes that an operator is about to hold. Throws 53200 past the statement's bound. */
  reserve(bytes: number): void {
    this.memoryBytes += bytes;
    if (this.memoryBytes > this.memoryBytesMax) for (const release of [...this.canRelease]) release();
    if (this.memoryBytes > this.memoryBytesPeak) this.memoryBytesPeak = this.memoryBytes;
    if (this.memoryBytes > this.memoryBytesMax) {
      throw new DbError("query_error", "out of memory", {
        sqlstate: "53200",
        hint: `The statement needs more memory than its limit of ${this.memoryBytesMax} bytes (memoryBytesMax).`,
      });
    }
  }

  /**
   * True when an operator that holds `held` bytes should rather put them on disk: the memory is nearly used up, and
   * this operator has a good part of it.
   */
  isCrowded(held: number): boolean {
    return this.memoryBytes > this.memoryBytesMax * CROWDED_SHARE && held > this.memoryBytesMax / 16;
  }

  release(bytes: number): void {
    this.memoryBytes -= bytes;
  }

  /** Rows that were read may be others from now on, or nobody reads any more. */
  forgetRead(): void {
    this.subqueryMemo = null;
    for (const spool of this.indexSpools?.values() ?? []) spool.stop();
    this.indexSpools = null;
  }
}
