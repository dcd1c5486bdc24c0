/**
 * The interface that running functions need of the session in which they are called. The session implements it
 * (session/routine-host.ts).
 */

import type { Notice } from "../../protocol/notice.js";
import type { ExecContext } from "../../query/exec/context.js";
import type { Program } from "../../query/exec/operator.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import type { Value } from "../../values/values.js";
import type { BindEnvironment, BoundFetch, BoundStatement } from "../bind/bound-statement.js";
import type { StatementNode } from "../parse/ast.js";

/** A statement of a body, planned. */
export interface RoutinePlan {
  readonly bound: BoundStatement;
  /** Of a query; null for everything else. */
  readonly program: Program | null;
}

/** What binding a statement of a body knows beside what any statement of the session does. */
export type RoutineNames = Pick<BindEnvironment, "variables" | "expected" | "kept"> & {
  readonly searchPath?: readonly string[];
  /** A feature's own statement, not one of a body. */
  readonly own?: true;
};

/** What a statement of a body gave. */
export interface StatementResult {
  readonly columns: readonly OutputColumn[];
  readonly rows: readonly (readonly Value[])[];
  /** Rows that it gave or changed. */
  readonly count: number;
}

export interface RunOptions {
  /** More rows than these are not wanted. */
  readonly maxRows: number;
  /** False: what cannot be done at once is refused. */
  readonly canWait: boolean;
  /** As of `RoutineNames`. */
  readonly own?: true;
}

/** The query of a cursor, planned as DECLARE has it, with the values for its parameters and its text. */
export interface CursorQuery {
  readonly plan: RoutinePlan;
  readonly params: readonly Value[];
  readonly text: string;
}

/** Where FETCH and MOVE go; a count of Infinity is ALL. */
export type CursorMove = Pick<BoundFetch, "direction" | "count">;

/** Over how many rows a cursor went, and the last of them; null: there was none. */
export interface FetchedRow {
  readonly count: number;
  readonly columns: readonly OutputColumn[];
  readonly row: readonly Value[] | null;
}

/** Cursors of the session. Each method but `open` throws 34000. */
export interface RoutineCursors {
  /** Answers with its name, a new one for null. Throws 42P03. */
  open(name: string | null, query: CursorQuery, context: ExecContext): string;
  fetch(name: string, move: CursorMove, context: ExecContext): FetchedRow | Promise<FetchedRow>;
  /** It stays when the transaction ends, with the rows that are left. */
  pin(name: string): void;
  close(name: string): void;
}

export interface RoutineHost {
  readonly cursors: RoutineCursors;
  /** Changes when plans made before may not fit any more: definitions or the search path changed. */
  epoch(context: ExecContext): string;
  /** What names of types mean now. */
  environment(context: ExecContext): BindEnvironment;
  plan(node: StatementNode, names: RoutineNames, context: ExecContext): RoutinePlan;
  run(
    plan: RoutinePlan,
    params: readonly Value[],
    context: ExecContext,
    options: RunOptions,
  ): StatementResult | Promise<StatementResult>;
  /** The context with who the session is now: statements of the function may have changed that. */
  current(context: ExecContext): ExecContext;
  /** Checks what a query that was pulled row by row has left to check. */
  finish(plan: RoutinePlan, context: ExecContext): void | Promise<void>;
  /** Throws 42501 and 25006 when the plan writes and the session may not. */
  requireWritable(plan: RoutinePlan): void;
  /**
   * Applies settings; the returned function restores the earlier ones. Throws as SET does, and has then set nothing.
   */
  withSettings(settings: readonly (readonly [name: string, value: string])[], context: ExecContext): () => void;
  /**
   * Gives what follows the rights that the function (or the relation of a rule) runs with. Null: they are the
   * session's. `user`: its current_user. `lentIn`: the number of the session's statement. `isLess`: the session's
   * administrator keeps rights to himself. `isRule`: they are the relation's owner's, and the user stays.
   */
  withRights(
    of: { readonly id: number; readonly securityDefiner?: boolean },
    context: ExecContext,
    isRule?: boolean,
  ): { readonly user: string; readonly lentIn: number; readonly isLess: boolean; restore(): void } | null;
  /** A point to which all that follows can be taken back. */
  savepoint(context: ExecContext): Subtransaction;
  /**
   * COMMIT and ROLLBACK in a body that may (Invocation.endsTransactions); another transaction begins, with `chain` in
   * the same modes. Throws 2D000.
   */
  endTransaction(action: "commit" | "rollback", chain: boolean): Promise<void>;
  notice(notice: Notice): void;
}

export interface Subtransaction {
  release(): void;
  rollback(): void;
}
