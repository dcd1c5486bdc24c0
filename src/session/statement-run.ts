/** The input of one run of one statement, as a session's client asks for it. */

import type { ModelBudget } from "../ai/model-budget.js";
import type { DdlCommand } from "../catalog/ddl-command.js";
import type { ProgressHearer } from "../query/exec/context.js";
import type { BoundStatement } from "../sql/bind/bound-statement.js";
import type { KeyHolder } from "../storage/key-locks.js";
import type { Transaction } from "../storage/store.js";
import type { SqlType, Value } from "../values/values.js";
import type { AuditedCaller } from "./audited-caller.js";
import type { LongInsert } from "./long-insert.js";
import type { RowCollector } from "./sql-result.js";
import type { Trace } from "./trace.js";

/** How much a client may still get. Its methods throw budget_exhausted where less is left. */
export interface RowBudget extends ModelBudget {
  takeRows(count: number): void;
  /** The answer gets longer by about so many bytes; asked before a statement commits, taken when the answer leaves. */
  owe(bytes: number): void;
}

/** On whose behalf a statement runs: a Request. */
export interface Client {
  readonly requestId?: string;
  /** Receives the text that runs, and that it is Cypher, for reports of what is at work. */
  atStatement?(text: string): void;
  inCypher?(): void;
  checkpoint(): void;
  shouldYield(): boolean;
  yieldTurn(): Promise<void>;
  /** Wants to hear how far long computations of the statement are. */
  readonly progress?: ProgressHearer | null;
  /** Null or absent: the request is not traced. */
  readonly trace?: Trace | null;
  /** Something was done that cannot be done again unnoticed: the statement is not run a second time by itself. */
  hasActed?: boolean;
  /** Null or absent: any number of rows may leave. */
  readonly budget?: RowBudget | null;
  /** The request that this client works for; absent: it is the client itself. */
  readonly origin?: Client;
  /** The session's client, of a client that is made for some of its work: cursors, turns. Absent: it is none. */
  readonly standsFor?: Client | null;
  /** Who it is, for the audit of data; absent or null: the engine, on behalf of the session's user. */
  audited?(): AuditedCaller | null;
  /** Throws why agents cannot run on its behalf; absent: they can. */
  checkAgents?(): void;
  /** Itself without what makes an administrator of its caller; absent: there is no such client. */
  asMember?(): Client;
  /** Commits one of several transactions; absent: the client cannot have several. */
  commitPart?(tx: Transaction): void;
  /** Told for whom the statement waits, and that it does not any more. */
  waiting?(holder: KeyHolder | null): void;
  /** Fires when `checkpoint` would throw, with its error; absent: never. */
  signal?(): AbortSignal;
}

/** The client of checks at the end of a transaction, which are neither cancelled nor interrupted. */
export const UNINTERRUPTED: Client = {
  checkpoint: () => undefined,
  shouldYield: () => false,
  yieldTurn: () => Promise.resolve(),
};

export type Language = "sql" | "cypher";

/** Of $1, $2, …, or by name. Names are Cypher's. */
export type ParameterValues = readonly unknown[] | Readonly<Record<string, unknown>>;

/**
 * Under what a session's plans know a text, and what the session's names meant then. Kept by whoever keeps the text.
 */
export interface KeptKey {
  key: string;
  names: number;
}

/** A statement as it was sent. */
export interface StatementText {
  readonly sql: string;
  readonly params: ParameterValues;
  /** What the client called them, for errors; absent: `parameters`. */
  readonly paramsField?: string;
  /**
   * Types of $1, $2, … that the client declared, null where the statement decides. Then `params` are values of the
   * plan's types already.
   */
  readonly declared?: readonly (SqlType | null)[];
  /** Absent: who can parse it decides (statement-language.ts). */
  readonly language?: Language;
  /** The graph that Cypher is about; absent: the default one. */
  readonly graph?: string;
  /** `sql` was long and was made short; null: that cannot be done. Absent: it was not looked at. */
  readonly long?: LongInsert | null | undefined;
  /** It has overrun: its plan gives way within expressions, too. */
  readonly waits?: true;
  /** Of a text that runs again and again: its key, as it was. */
  readonly kept?: KeptKey;
  /** Of a statement in a function: the values of its variables, which stand for parameters in it. */
  readonly variables?: readonly Value[];
  /** A feature's own statement: tables that it keeps for itself are open to it, beside what the session may do. */
  readonly own?: true;
  /** A definition of a route's own; then there is no text. With `graph` it is about one that has to be there. */
  readonly command?: DdlCommand;
}

export interface StatementRun extends StatementText {
  readonly maxRows: number;
  /** The form in which rows are wanted. */
  readonly collector: RowCollector;
  readonly request: Client;
  /** Told what runs before it does; again where the statement is run again. */
  readonly planned?: (bound: BoundStatement) => void;
  /**
   * Told the plan as JSON, of EXPLAIN and of PROFILE, whose rows are then those of the statement that they are about.
   */
  readonly explained?: (json: string) => void;
  /** It has overrun even so: its turns may be long. */
  readonly inLongTurns?: true;
}

/** What tells the types of parameters that a statement leaves open; null: they were declared. */
export function openValuesOf({ params, declared }: StatementText): ParameterValues | null {
  return declared === undefined ? params : null;
}
