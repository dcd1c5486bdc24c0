/** Makes the context of one run of a statement. The session calls it; tests too. */

import type { DerivedIndexes } from "../../derived/derived-indexes.js";
import { runAlgorithm } from "../../graph/algorithms/run-algorithm.js";
import { sqlError } from "../../protocol/errors.js";
import { BATCH_ROWS } from "../../protocol/limits.js";
import type { Transaction } from "../../storage/store.js";
import type { TextStyle } from "../../values/text-style.js";
import type { Value } from "../../values/values.js";
import type { ListedRows } from "../expr/listed-places.js";
import { NO_SERVICES } from "../expr/no-services.js";
import { type BindTable, type ExecContext, type ExecServices, StatementState } from "./context.js";
import type { RowNumbers } from "./row-numbers.js";
import type { SegmentCache } from "./segments/segment-cache.js";
import type { SpillArea } from "./spill/spill-area.js";
import { runSubquery } from "./subquery.js";

/** Of contexts that ask for nothing else; tests cut rows into other batches and look for the same answers. */
export const contextDefaults = { batchRows: BATCH_ROWS };

export interface ContextInit {
  readonly tx: Transaction;
  readonly tenantNumber: number;
  readonly tenant: string;
  readonly user: string;
  readonly params: readonly Value[];
  readonly rowNumbers: RowNumbers;
  /** Who asks may not see all rows and columns: errors tell no values. Absent: they do. */
  readonly hidesRows?: boolean;
  /** Absent: it is not. */
  readonly isReplica?: boolean;
  readonly sessionUser?: string;
  /** Microseconds since the epoch. */
  readonly transactionMicros: number;
  readonly statementMicros: number;
  readonly timeZone: string;
  readonly style?: TextStyle | undefined;
  /** Bytes that the statement's operators may hold. */
  readonly memoryBytesMax: number;
  readonly batchRows?: number;
  readonly segments?: SegmentCache | null;
  readonly derived?: DerivedIndexes | null;
  readonly spill?: SpillArea | null;
  readonly listed?: ListedRows | undefined;
  /** Throws when the statement was cancelled or ran past its deadline. */
  checkpoint(): void;
  shouldYield(): boolean;
  yieldTurn(): Promise<void>;
  /** Absent: nobody cancels it. */
  readonly signal?: (() => AbortSignal) | undefined;
  /** With `runSubquery` of this room; absent: that alone. */
  readonly services?: ExecServices;
  readonly bindTable?: BindTable;
}

/** One object and one state per statement: it costs a point read almost nothing. */
export function createContext(init: ContextInit): ExecContext {
  return {
    tx: init.tx,
    tenantNumber: init.tenantNumber,
    tenant: init.tenant,
    user: init.user,
    sessionUser: init.sessionUser ?? init.user,
    hidesRows: init.hidesRows ?? false,
    isReplica: init.isReplica ?? false,
    params: init.params,
    rowNumbers: init.rowNumbers,
    transactionMicros: init.transactionMicros,
    statementMicros: init.statementMicros,
    timeZone: init.timeZone,
    style: init.style,
    listed: init.listed,
    outer: null,
    segments: init.segments ?? null,
    derived: init.derived ?? null,
    spill: init.spill ?? null,
    batchRows: init.batchRows ?? contextDefaults.batchRows,
    bindTable: init.bindTable ?? null,
    statement: new StatementState(init.memoryBytesMax),
    checkpoint: init.checkpoint,
    shouldYield: init.shouldYield,
    yieldTurn: init.yieldTurn,
    signal: init.signal ?? neverFiring,
    services: init.services ?? SUBQUERIES_ONLY,
  };
}

const neverFiring = () => new AbortController().signal;

const refuse = (): never => {
  throw sqlError("0A000", "graphs, triggers and definitions cannot be used here");
};

/** Of contexts without a session. */
export const SUBQUERIES_ONLY: ExecServices = Object.freeze({
  ...NO_SERVICES,
  runSubquery: (expr, context) => runSubquery(expr, context as ExecContext),
  catalogView: refuse,
  runAlgorithm: async (job) => runAlgorithm(job),
  progress: () => undefined,
  showBuild: () => () => undefined,
  estimatedRows: () => 0,
  noteAccess: () => undefined,
  noteAuditChange: () => undefined,
  nextRowId: refuse,
  fireTrigger: refuse,
} satisfies ExecServices);
