/** A function that is ready to run, and one run of it; shared by the runner and the languages of bodies. */

import { type ExecContext, StatementState } from "../../query/exec/context.js";
import type { RoutineRows } from "../../query/expr/expr.js";
import type { SqlType, Value } from "../../values/values.js";
import type { RoutineHost } from "./host.js";

/** One call: who runs it, where, and whether it can wait. */
export interface Invocation {
  readonly host: RoutineHost;
  readonly context: ExecContext;
  readonly canWait: boolean;
  /** Of functions that are not volatile: their statements may not write. */
  readonly readOnly: boolean;
  /** The body of a procedure or of DO, called by nothing else: it may commit and roll back. */
  readonly endsTransactions?: boolean;
}

/** A body made ready, for the types of one kind of call. */
export interface PreparedRoutine {
  /** A row of the fields of a record, else the value. */
  value(args: readonly Value[], invocation: Invocation): Value | Promise<Value>;
  /** Of a function that returns a set: its rows, as fields of `shape`. */
  rows(args: readonly Value[], shape: SqlType, invocation: Invocation): RoutineRows | Promise<RoutineRows>;
}

/** The context of one statement of a body. */
export function statementContext(base: ExecContext, params: readonly Value[]): ExecContext {
  return { ...base, params, statement: new StatementState(base.statement.memoryBytesMax) };
}
