/** One run of one statement, as a session's client asks for it. */
import type { RowCollector } from "./sql-result.js";

/** On whose behalf a statement runs: a Request. */
export interface Client {
  checkpoint(): void;
  shouldYield(): boolean;
  yieldTurn(): Promise<void>;
}

export interface StatementRun {
  readonly sql: string;
  readonly params: readonly unknown[];
  readonly maxRows: number;
  /** The form in which rows are wanted. */
  readonly collector: RowCollector;
  readonly request: Client;
}
