/** A session of the protocol as its parts see it. */
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import type { Session } from "../../session/session.js";
import type { ResultShape } from "../../session/sql-result.js";
import type { StatementText } from "../../session/statement-run.js";
import type { Formats } from "./row-output.js";
import type { SpecialStatement } from "./special-statement.js";
import type { WireClient } from "./wire-client.js";

export interface RunOptions {
  readonly formats: Formats;
  /** RowDescription comes before the rows. */
  readonly describes: boolean;
  /** The columns that the client was told of when the statement was prepared; null or absent: none. */
  readonly told?: ResultShape | null;
}

/** A text with or without parameters; those have the types that were told when it was planned. */
export type SentText = Pick<StatementText, "sql" | "params" | "declared" | "kept" | "long">;

/** A statement that ran. */
export interface Ran {
  /** Of a statement without rows: "BEGIN"; absent for queries. */
  readonly command: string | undefined;
  /** plain-statement.ts. */
  readonly isPlain: boolean;
}

export interface WireHost {
  readonly session: Session;
  readonly client: WireClient;
  readonly writer: MessageWriter;
  readonly runs: {
    /** The text that the client sent. */
    sent: string;
    run(text: SentText, options: RunOptions): Ran | Promise<Ran>;
    /** Writes CommandComplete. */
    complete(tag: string): void;
  };
  /** Sends what was written so far. */
  flush(): Promise<void>;
  /** To be called with what `runs` gave. */
  ran(run: Ran | Promise<Ran>): void | Promise<void>;
  special(special: SpecialStatement, isSimple: boolean): void | Promise<void>;
  /** The open transaction is the protocol's own. */
  readonly isInImplicit: boolean;
  /** Begins a transaction that ends with the query or at the next Sync, unless one is open. */
  beginImplicit(): void;
}
