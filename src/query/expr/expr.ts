/**
 * Bound expressions: what every binder (SQL, Cypher, document filters) produces, the optimizer rewrites and
 * `compile.ts` turns into closures. Nodes are frozen, tagged by `kind`, and carry their type.
 *
 * A column is named by a ColumnId that is unique within one statement, never by a position: rules can move an
 * expression between operators without renumbering, and the compiler maps ids to positions at the very end.
 */

import type { FunctionDef } from "../../catalog/function.js";
import type { Turns } from "../../protocol/turns.js";
import type { TextStyle } from "../../values/text-style.js";
import type { SqlType, Value } from "../../values/values.js";
import type { GraphNode } from "../../values/variant.js";
import type { Capability } from "./capability.js";
import type { ListedRows } from "./listed-places.js";
import type { SentExpr } from "./sent-form.js";

export type ColumnId = number;

export type Expr =
  | ConstExpr
  | ParamExpr
  | ColumnExpr
  | CallExpr
  | CastExpr
  | LogicExpr
  | NotExpr
  | IsNullExpr
  | CaseExpr
  | InListExpr
  | SubqueryExpr
  | ListExpr;

export interface ConstExpr {
  readonly kind: "const";
  readonly type: SqlType;
  readonly value: Value;
}

/** `$n`; index is 0-based. Its value arrives already converted to `type`. */
export interface ParamExpr {
  readonly kind: "param";
  readonly type: SqlType;
  readonly index: number;
}

export interface ColumnExpr {
  readonly kind: "column";
  readonly type: SqlType;
  readonly id: ColumnId;
  /** For EXPLAIN and messages. */
  readonly name: string;
}

/** A function or operator, resolved to one overload; arguments already have the overload's types. */
export interface CallExpr {
  readonly kind: "call";
  readonly type: SqlType;
  readonly fn: ScalarFunction;
  readonly args: readonly Expr[];
  /** For a deferred function: the position of the call in the statement. */
  readonly position?: number;
}

/** A conversion that may fail at run time (22P02 and friends). */
export interface CastExpr {
  readonly kind: "cast";
  readonly type: SqlType;
  readonly input: Expr;
  /** On storing into a column: text too long for the type is refused, where a written cast would cut it. */
  readonly assignment?: boolean;
}

/** Three-valued AND / OR over two or more booleans; evaluated left to right, stopping as soon as decided. */
export interface LogicExpr {
  readonly kind: "and" | "or";
  readonly type: SqlType;
  readonly args: readonly Expr[];
}

export interface NotExpr {
  readonly kind: "not";
  readonly type: SqlType;
  readonly input: Expr;
}

export interface IsNullExpr {
  readonly kind: "isnull";
  readonly type: SqlType;
  readonly input: Expr;
  readonly negated: boolean;
}

/** Searched CASE (a simple CASE is bound to one). COALESCE and NULLIF bind to functions marked `lazy`. */
export interface CaseExpr {
  readonly kind: "case";
  readonly type: SqlType;
  readonly branches: readonly { readonly when: Expr; readonly then: Expr }[];
  readonly otherwise: Expr | null;
}

/** `input [NOT] IN (items)` with SQL's NULL rules; `equals` is the overload that compares them. */
export interface InListExpr {
  readonly kind: "in";
  readonly type: SqlType;
  readonly input: Expr;
  readonly items: readonly Expr[];
  readonly equals: ScalarFunction;
  readonly negated: boolean;
}

/**
 * What expressions hold and never look into: its types are of rooms above, which import this one and say them here by
 * `declare module` (plan.ts).
 */
// biome-ignore lint/suspicious/noEmptyInterface: its members are declared above.
export interface HeldByExpressions {}

/**
 * A subquery inside an expression. The optimizer unnests it, or the executor runs it per distinct outer row.
 */
export interface SubqueryExpr {
  readonly kind: "subquery";
  readonly type: SqlType;
  readonly form: "scalar" | "exists" | "in" | "any" | "all" | "array" | "list";
  readonly plan: HeldByExpressions["plan"];
  /** Columns of enclosing queries that the plan reads. */
  readonly outer: readonly ColumnId[];
  /** For in/any/all: the left operand and the comparison. */
  readonly input: Expr | null;
  readonly compare: ScalarFunction | null;
  /** The same for those of a query that are written alike, so that they have the same value. */
  readonly alike?: object;
}

/**
 * Cypher's expressions over the elements of a list (a variant; NULL gives NULL): `variable` is each in turn, a local
 * variable that the parts inside read as a column of an enclosing query (`context.outer`).
 *   map                    [variable IN list WHERE where | result], a list
 *   all any none single    the quantifiers over `where`, three-valued
 *   reduce                 `result` with `accumulator`, from `initial` on
 */
export interface ListExpr {
  readonly kind: "list";
  readonly form: "map" | "all" | "any" | "none" | "single" | "reduce";
  readonly type: SqlType;
  readonly list: Expr;
  readonly variable: ColumnId;
  /** bool; null: no condition. */
  readonly where: Expr | null;
  /** null: the element itself. */
  readonly result: Expr | null;
  readonly accumulator: ColumnId | null;
  readonly initial: Expr | null;
}

/** A table of rows that a statement changed, as a trigger's function sees it. */
export interface TransitionTable {
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  readonly rows: readonly (readonly Value[])[];
}

/** What a scalar function may know of the statement that runs it. */
export interface EvalContext {
  readonly params: readonly Value[];
  /** Start of the transaction, microseconds since the epoch: now(), CURRENT_DATE. */
  readonly transactionMicros: number;
  /** Start of the statement, microseconds since the epoch. */
  readonly statementMicros: number;
  readonly timeZone: string;
  /** DateStyle and IntervalStyle; absent: ISO and postgres. */
  readonly style?: TextStyle | undefined;
  readonly user: string;
  /** Who the session began as, where SET ROLE has made it another one; absent: `user`. */
  readonly sessionUser?: string;
  readonly tenant: string;
  /** Rows of enclosing queries, by column id, for correlated subqueries. */
  readonly outer: ReadonlyMap<ColumnId, Value> | null;
  /** Throws when the statement was cancelled or ran past its deadline. Long loops inside a function call it. */
  checkpoint(): void;
  /** Work inside the evaluation of an expression, which may not wait for anything. */
  readonly isUninterrupted?: true;
  /** The rows of a long INSERT. */
  readonly listed?: ListedRows | undefined;
  /** In a trigger's function: by the names that REFERENCING gives them. */
  readonly transitions?: ReadonlyMap<string, TransitionTable>;
  /** Services that live outside this room (sequences, subqueries, models), by name; see query/exec/context.ts. */
  readonly services: EvalServices;
}

/**
 * What a statement offers its expressions. Features offer more: see capability.ts. Outside of statements:
 * no-services.ts.
 */
export interface EvalServices {
  /** A setting's value; null: there is no such setting. */
  setting(name: string): string | null;
  /** The value that somebody has given it; null: it has the one that it begins with, or there is no such setting. */
  givenSetting(name: string): string | null;
  /**
   * Runs the subquery's plan; `context.outer` holds the values of `expr.outer`, put there by the compiled expression.
   * scalar: the value, NULL for no row (21000 for several). exists: a boolean. array: a SqlArray. list, in, any, all:
   * the rows as a list of values (of records when there are several columns), of which list is the value, and which the
   * compiled expression compares with its input otherwise.
   */
  runSubquery(expr: SubqueryExpr, context: EvalContext): Value;
  /**
   * Runs a function that a statement made and answers with its value. With `canWait` it gives the actor's loop its
   * turns and then answers with a promise.
   */
  callRoutine(
    routine: RoutineCall,
    args: readonly Value[],
    context: EvalContext,
    canWait: boolean,
  ): Value | Promise<Value>;
  /** The same for its rows, each a list of the fields of `shape` (of one value, when that is no record). */
  routineRows(
    routine: RoutineCall,
    args: readonly Value[],
    shape: SqlType,
    context: EvalContext,
  ): RoutineRows | Promise<RoutineRows>;
  /** A node of the graph that the statement is about, as the statement sees it now. */
  graphNode(id: number): GraphNode;
  /**
   * Computes an expression over these values in another process. Undefined: it has to be computed here, since it asks
   * for more than values, or these cannot be sent.
   */
  computeElsewhere(expr: SentExpr, values: readonly Value[], context: DeferredContext): Promise<Value | undefined>;
  /**
   * Runs a statement in the transaction of the context, as a function of PL/pgSQL would. `own`: tables that features
   * keep for themselves are open to it; no part of it may be a client's.
   */
  runStatement(
    sql: string,
    params: readonly unknown[],
    maxRows: number,
    context: EvalContext,
    own?: true,
  ): Promise<InnerResult>;
  /** What a feature provides for its functions; null: nobody provides it here. */
  capability<T>(capability: Capability<T>): T | null;
  /** While the statement waits, having read nothing that it needs again: nothing old must be kept for it. */
  renewSnapshot(): void;
}

export type RoutineRows = readonly (readonly Value[])[];

/** A function that a statement made, as one call of it was bound. Equal calls have the same object. */
export interface RoutineCall {
  readonly definition: FunctionDef;
  /** Types of the arguments and of the result: a row's or a value's. */
  readonly parameterTypes: readonly SqlType[];
  readonly returns: SqlType;
}

/** One overload of a scalar function or operator. */
export interface ScalarFunction {
  readonly name: string;
  readonly args: readonly SqlType[];
  /** The type of any further argument; absent: fixed arity. */
  readonly variadic?: SqlType;
  readonly returns: SqlType;
  /** `immutable` calls with constant arguments are folded; `stable` are fixed within a statement. */
  readonly volatility: "immutable" | "stable" | "volatile";
  /** True (the usual case): any NULL argument gives NULL without calling `apply`. */
  readonly strict: boolean;
  /** Evaluates its own arguments (COALESCE, NULLIF, GREATEST): receives thunks instead of values. */
  readonly lazy?: true;
  /** As an infix or prefix operator, how EXPLAIN prints it. */
  readonly operator?: string;
  // Arguments have the declared types, so each implementation names its own parameter types.
  // biome-ignore lint/suspicious/noExplicitAny: overloads of one table have different parameter types
  readonly apply: (...args: any[]) => Value;
  /** True when `apply` wants the EvalContext as its first argument. */
  readonly needsContext?: true;
  /** A call takes long, so others get their turns between the rows; it is not folded. */
  readonly slow?: true;
  /**
   * The same as `apply`, with turns for others in between: of functions that make long lists, which cannot be sent
   * between processes.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as for apply
  readonly applyInTurns?: (context: DeferredContext, ...args: any[]) => Promise<Value>;
  /** About how many nanoseconds it takes per character, byte or element of its arguments; absent: NANOS_PER_UNIT. */
  readonly nanosPerUnit?: number;
  /**
   * Its values have to be waited for, which expressions cannot: so calls are moved into nodes of their own
   * (optimize/lift-deferred.ts). `apply` is called where that was not possible; it throws 0A000.
   */
  readonly deferred?: DeferredEvaluation;
  /** A call changes data, although it is part of a query. */
  readonly writes?: true;
  /** Of a function that a statement made. */
  readonly routine?: RoutineCall;
  /** Of `x op ANY (array)`: the operator. */
  readonly anyOf?: ScalarFunction;
}

/** What a deferred function may use, beside what every function may. */
export interface DeferredContext extends EvalContext {
  /** Fires when the statement is cancelled or ran past its deadline: nobody waits for the values any more. */
  readonly signal: AbortSignal;
  /**
   * Runs a statement of SQL in the same transaction, after those that it runs already. `params` as clients send them.
   * Of the rows the first `maxRows`. Rejects with the statement's error, and once `signal` has fired. `own`: as of
   * `runStatement`.
   */
  run(sql: string, params: readonly unknown[], maxRows: number, own?: true): Promise<InnerResult>;
  /**
   * The row's writer applies the function to the same arguments, where it cannot wait: then the values must be at hand.
   */
  readonly keeps: boolean;
  /** As in ExecContext: for work between waits. */
  shouldYield(): boolean;
  yieldTurn(): Promise<void>;
}

/** What a statement inside a statement gave. */
export interface InnerResult {
  readonly columns: readonly { readonly name: string; readonly type: SqlType }[];
  readonly rows: readonly (readonly Value[])[];
  /** Rows that it gave or changed. */
  readonly count: number;
}

/** How a deferred function gets its values. */
export interface DeferredEvaluation {
  /**
   * The values of `count` (≥ 1) calls, in their order: `args[a][i]` is argument a of call i. Of a strict function none
   * is NULL; of one that is not volatile no two calls are the same. Rejects with a DbError when any of them fails.
   */
  evaluate(args: readonly (readonly Value[])[], count: number, context: DeferredContext): Promise<readonly Value[]>;
  /**
   * Calls that are computed together at most; absent: DEFERRED_ROWS_MAX. Fewer where each takes long, so that a LIMIT
   * stops early.
   */
  readonly rowsMax?: number;
  /**
   * Throws or rejects with what is wrong with a call before there are rows: `args[a]` is argument a, undefined where it
   * depends on the row.
   */
  check?(args: readonly (Value | undefined)[], context: EvalContext): Promise<void> | void;
  /**
   * The function can be `apply`ed as any other, unless the arguments of the call (as OptimizeOptions.answersAtOnce
   * knows) say that it has to be waited for.
   */
  readonly mayBeApplied?: true;
}

/** How an aggregate computes. A state is made per group; over a window `result` is asked again and again. */
export interface AggregateSteps {
  // biome-ignore lint/suspicious/noExplicitAny: each aggregate has its own state
  init(): any;
  // biome-ignore lint/suspicious/noExplicitAny: each aggregate has its own state
  step(state: any, ...args: any[]): any;
  /** `direct`: of ordered-set aggregates, the values of the arguments before WITHIN GROUP. */
  // biome-ignore lint/suspicious/noExplicitAny: each aggregate has its own state
  result(state: any, direct?: readonly Value[]): Value;
  /** As `result` of a state that nobody needs afterwards, with turns for others in between. Null: `result` is quick. */
  // biome-ignore lint/suspicious/noExplicitAny: each aggregate has its own state
  resultInTurns?(state: any, turns: Turns): Promise<Value> | null;
}

/** Steps that can be taken back, for frames that rows leave again (PostgreSQL's moving-aggregate mode). */
export interface MovingSteps extends AggregateSteps {
  /** The state without a value that was stepped; undefined when it cannot be told from what is kept. */
  // biome-ignore lint/suspicious/noExplicitAny: each aggregate has its own state
  inverse(state: any, ...args: any[]): any;
}

/** One overload of an aggregate function. */
export interface AggregateFunction extends AggregateSteps {
  readonly name: string;
  readonly args: readonly SqlType[];
  readonly variadic?: SqlType;
  readonly returns: SqlType;
  /** True: rows with a NULL argument are passed over. */
  readonly strict: boolean;
  readonly moving?: MovingSteps;
  /** Of ordered-set aggregates: how many of `args` come before WITHIN GROUP. */
  readonly directArgs?: number;
  /** Its state holds its input, so that its order and its memory count. */
  readonly keepsInput?: boolean;
  /** With DISTINCT, too, it gets its input in the order that it comes in. */
  readonly arrivalOrder?: boolean;
  /** Of an aggregate that a statement made: the same with steps that can be called, for one run of a statement. */
  readonly open?: (context: EvalContext) => AggregateFunction;
  /** Its steps make JSON of its arguments, which is made ahead where they are large (exec/large-json.ts). */
  readonly takesJson?: boolean;
  /** Calls a function that a statement made and that may write. */
  readonly mayWrite?: boolean;
  /** Of min and max: positive when the first value is the more extreme one, which then outlasts earlier ones. */
  readonly extreme?: (a: Value, b: Value) => number;
}

/** One overload of a function that is only called with OVER. */
export interface WindowFunction {
  readonly name: string;
  readonly args: readonly SqlType[];
  readonly variadic?: SqlType;
  readonly returns: SqlType;
  /** Whether it looks at the frame rather than at the whole partition. */
  readonly readsFrame: boolean;
  /** Called per partition; what it gives is called for the rows 0, 1, 2, … in this order. */
  start(partition: PartitionView): (row: number) => Value;
}

/** The rows of a partition in their order, as a window function sees them; rows are numbered from 0. */
export interface PartitionView {
  readonly length: number;
  argument(index: number, row: number): Value;
  /** The number of the row's group of peers: rows that ORDER BY does not tell apart. */
  peerGroup(row: number): number;
  /** The first row of a group of peers; of the one after the last, the partition's length. */
  groupStart(group: number): number;
  /** The n-th row (from 0; negative: from the end) of the current row's frame; −1 when it has no such row. */
  frameRow(n: number): number;
}

/**
 * Rows in columns. `columns[c][r]` is the value of column c in row r; `length` ≤ BATCH_ROWS rows.
 * A batch belongs to its consumer until it asks for the next one.
 */
export interface Batch {
  readonly columns: readonly ArrayLike<Value>[];
  readonly length: number;
}

/** A compiled expression: its value for one row of a batch. */
export type Evaluate = (batch: Batch, row: number, context: EvalContext) => Value;
