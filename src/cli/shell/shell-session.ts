/**
 * The statements of a shell on a running server. BEGIN opens a transaction that lasts until COMMIT or ROLLBACK. One per
 * shell.
 */
import { type ApiClient, CommandError, EXIT } from "../api-client.js";
import type { ResultTable } from "../output-formats.js";

export interface ShellResult extends ResultTable {
  /** Null: the statement changes no rows. */
  readonly rowsAffected: number | null;
  readonly notices: readonly string[];
  /** There are more rows than were asked for. */
  readonly isTruncated: boolean;
  /** Of a statement without rows: `CREATE TABLE`. */
  readonly command: string | null;
}

interface Answer {
  readonly columns: readonly { readonly name: string }[];
  readonly rows: readonly (readonly unknown[])[];
  readonly rows_affected?: number;
  readonly notices?: readonly string[];
  readonly truncated?: boolean;
}

const BEGIN = /^(?:begin|start\s+transaction)\b(.*)$/is;
const COMMIT = /^(?:commit|end)(?:\s+(?:work|transaction))?$/i;
const ROLLBACK = /^(?:rollback|abort)(?:\s+(?:work|transaction))?$/i;

export class ShellSession {
  private transaction: string | null = null;
  private hasFailed = false;

  constructor(
    private readonly client: ApiClient,
    private readonly maxRows: number,
  ) {}

  /** What the prompt shows: a star in a transaction, an exclamation mark in one that has failed. */
  get mark(): string {
    return this.transaction === null ? "" : this.hasFailed ? "!" : "*";
  }

  /** Throws CommandError with the server's words. */
  async run(sql: string, signal?: AbortSignal): Promise<ShellResult> {
    const begin = BEGIN.exec(sql);
    if (begin !== null) return this.begin(begin[1]!);
    if (this.transaction !== null && COMMIT.test(sql)) return this.end(this.hasFailed ? "rollback" : "commit");
    if (this.transaction !== null && ROLLBACK.test(sql)) return this.end("rollback");
    const path = this.transaction === null ? "/v1/query/execute" : `/v1/transactions/${this.transaction}/execute`;
    try {
      const answer: Answer = await this.client.call("POST", path, { sql, max_rows: this.maxRows }, signal);
      if (/^rollback\s+to\b/i.test(sql)) this.hasFailed = false;
      return resultOf(answer);
    } catch (error) {
      if (this.transaction !== null) await this.look();
      throw error;
    }
  }

  /** All rows of a query of the shell's own, by column. */
  async query(sql: string): Promise<ResultTable> {
    return resultOf(await this.client.call("POST", "/v1/query/execute", { sql, max_rows: this.maxRows }));
  }

  private async begin(modes: string): Promise<ShellResult> {
    if (this.transaction !== null) throw new CommandError(EXIT.failed, "usage", "a transaction is open already");
    const isolation = /isolation\s+level\s+(serializable|repeatable\s+read|read\s+(?:un)?committed)/i.exec(modes)?.[1];
    const { id } = await this.client.call("POST", "/v1/transactions", {
      ...(isolation !== undefined && { isolation_level: isolation.toLowerCase().replace(/\s+/, "_") }),
      ...(/read\s+only/i.test(modes) && { read_only: true }),
    });
    this.transaction = id;
    this.hasFailed = false;
    return done("BEGIN");
  }

  /** The transaction is over also where its end fails: then it was rolled back. */
  private async end(how: "commit" | "rollback"): Promise<ShellResult> {
    const id = this.transaction!;
    this.transaction = null;
    await this.client.call("POST", `/v1/transactions/${id}/${how}`, {});
    return done(how.toUpperCase());
  }

  /** After an error: the transaction has failed, or is gone. */
  private async look(): Promise<void> {
    try {
      await this.client.call("GET", `/v1/transactions/${this.transaction}`);
      this.hasFailed = true;
    } catch (error) {
      if (error instanceof CommandError && error.exitCode === EXIT.unreachable) return;
      this.transaction = null;
    }
  }
}

const done = (command: string): ShellResult => {
  return { columns: [], rows: [], rowsAffected: null, notices: [], isTruncated: false, command };
};

function resultOf({ columns, rows, rows_affected, notices = [], truncated = false }: Answer): ShellResult {
  const common = { rowsAffected: rows_affected ?? null, notices, isTruncated: truncated };
  const isCommand = columns.length === 1 && columns[0]!.name === "result" && rows.length === 1;
  if (isCommand && /^[A-Z ]+$/.test(String(rows[0]![0]))) {
    return { columns: [], rows: [], ...common, command: String(rows[0]![0]) };
  }
  return { columns: columns.map(({ name }) => name), rows, ...common, command: null };
}
