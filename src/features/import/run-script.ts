/**
 * Runs a script of SQL as it arrives, statement by statement in one session: each in a transaction of its own unless
 * the script begins one, or all in one. Called by the route of scripts.
 */

import { errorBody } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { Session, type SessionOptions } from "../../session/session.js";
import { type Outcome, plainRows } from "../../session/sql-result.js";
import { type ScriptPart, ScriptReader } from "../../sql/script/script-reader.js";
import { CopiedRows } from "./copied-rows.js";
import { Neo4jShell } from "./neo4j-shell.js";

export interface ScriptOptions {
  /** All or none; the script must not begin transactions of its own. */
  readonly transactional: boolean;
  readonly stopOnError: boolean;
  /** Rows of one statement that the result shows. */
  readonly maxRows: number;
  readonly session: SessionOptions;
}

/** What the script did. Lists are cut at a number of items; counts cover all. */
export interface ScriptResult {
  statements: number;
  failed: number;
  rows_affected: number;
  readonly results: object[];
  readonly errors: object[];
}

const RESULTS_MAX = 1000;
const ERRORS_MAX = 100;
const SHOWN_ROWS_MAX = 10_000;

/** Commands of psql that mean nothing here. */
const PASSED_OVER = /^\\(restrict|unrestrict|echo|timing|pset|set)\b/;

/**
 * Throws the error of the first statement that fails, with its number and line, unless the script goes on after errors.
 */
export async function runScript(
  request: Request,
  pieces: AsyncIterable<Uint8Array>,
  options: ScriptOptions,
): Promise<ScriptResult> {
  const run = new ScriptRun(request, options);
  try {
    const reader = new ScriptReader();
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const take = async (isEnd: boolean): Promise<void> => {
      for (let part = reader.next(isEnd); part !== null; part = reader.next(isEnd)) await run.part(part);
    };
    await request.yieldTurn();
    for await (const piece of pieces) {
      reader.push(decoded(() => decoder.decode(piece, { stream: true })));
      await request.yieldTurn();
      await take(false);
    }
    reader.push(decoded(() => decoder.decode()));
    await take(true);
    return await run.finish();
  } finally {
    await run.close();
  }
}

function decoded(decode: () => string): string {
  try {
    return decode();
  } catch {
    throw sqlError("22021", 'invalid byte sequence for encoding "UTF8" in the script');
  }
}

class ScriptRun {
  private readonly session: Session;
  private readonly result: ScriptResult = { statements: 0, failed: 0, rows_affected: 0, results: [], errors: [] };
  private readonly shell = new Neo4jShell();
  private shownRows = 0;
  private copied: { readonly rows: CopiedRows; readonly isAlone: boolean; readonly line: number } | null = null;
  /** A COPY has failed: its rows are passed over. */
  private skipsRows = false;

  constructor(
    private readonly request: Request,
    private readonly options: ScriptOptions,
  ) {
    this.session = new Session(request.tenant, options.session);
    if (options.transactional) this.session.begin({});
  }

  async part(part: ScriptPart): Promise<void> {
    const { request } = this;
    request.checkpoint();
    if (request.shouldYield()) await request.yieldTurn();
    if (part.kind === "statement") this.result.statements++;
    try {
      await this.run(part);
    } catch (error) {
      await this.failed(error, part.line);
    }
  }

  private async run(part: ScriptPart): Promise<void> {
    switch (part.kind) {
      case "command":
        if (PASSED_OVER.test(part.text)) return;
        if (!part.text.startsWith("\\")) return this.shellLine(part);
        throw sqlError("42601", `"${part.text}" is a command of psql itself, not SQL`, {
          hint: "Remove it from the script. A request always works on the data of its own tenant.",
        });
      case "row":
        await this.copied?.rows.add(part.text, part.line);
        return;
      case "end of rows":
        this.skipsRows = false;
        await this.endOfRows();
        return;
      default:
        if (/^copy\s[^;]*\sfrom\s+stdin\b/i.test(part.text.trim())) await this.beginRows(part.text, part.line);
        else this.show(await this.execute(this.shell.filled(part.text)), part);
    }
  }

  private async shellLine(part: ScriptPart & { readonly text: string }): Promise<void> {
    const statement = this.shell.statementOf(part.text);
    if (statement === null) return;
    this.result.statements++;
    this.show(await this.execute(statement), part);
  }

  private async beginRows(statement: string, line: number): Promise<void> {
    const rows = new CopiedRows(statement, async (sql, params) => {
      this.result.rows_affected += (await this.execute(sql, params)).rowsAffected ?? 0;
    });
    // The rows of one COPY are stored together.
    const isAlone = !this.session.inTransaction;
    if (isAlone) await this.execute("BEGIN");
    this.copied = { rows, isAlone, line };
  }

  private async endOfRows(): Promise<void> {
    const { copied } = this;
    if (copied === null) return;
    await copied.rows.flush();
    this.copied = null;
    if (copied.isAlone) await this.execute("COMMIT");
  }

  private async execute(sql: string, params: readonly unknown[] = []): Promise<Outcome> {
    const { request, options, session } = this;
    const run = { sql, params, maxRows: options.maxRows, collector: plainRows, request };
    const outcome = await session.execute(run, (tx) => request.commitPart(tx));
    await request.linked();
    return outcome;
  }

  private show(outcome: Outcome, { line }: ScriptPart): void {
    const { result, options } = this;
    const { rowsAffected, command } = outcome;
    result.rows_affected += rowsAffected ?? 0;
    if (result.results.length === RESULTS_MAX) return;
    const { statements: statement } = result;
    if (command !== undefined) {
      result.results.push({ statement, line, command });
      return;
    }
    const rows = outcome.rows.plain ?? [];
    const shown = rows.slice(0, Math.min(options.maxRows, SHOWN_ROWS_MAX - this.shownRows));
    this.shownRows += shown.length;
    const columns = outcome.shape.outputs.map(({ name }) => name);
    result.results.push({
      statement,
      line,
      ...(rowsAffected !== null && { rows_affected: rowsAffected }),
      ...(columns.length > 0 && { columns, rows: shown }),
    });
  }

  private async failed(error: unknown, line: number): Promise<void> {
    if (!(error instanceof DbError) || error.code === "cancelled" || error.code === "request_timeout") throw error;
    const { result, options, copied } = this;
    this.copied = null;
    if (this.skipsRows) return;
    this.skipsRows = copied !== null;
    if (copied?.isAlone === true && this.session.inTransaction) await this.execute("ROLLBACK");
    result.failed++;
    const isJson = result.statements === 1 && /at or near "[{[]"/.test(error.message);
    const said = new DbError(error.code, error.message, {
      ...error.details,
      ...(isJson && { hint: "The body is the script itself, not JSON." }),
      statement: result.statements,
      line: error.details?.line ?? line,
      completed: options.transactional ? 0 : Math.max(0, result.statements - result.failed),
    });
    if (options.stopOnError || options.transactional) throw said;
    if (result.errors.length < ERRORS_MAX) result.errors.push(errorBody(said));
  }

  /** Commits what the script left open if it is all in one transaction. Throws 25P01 for one that the script began. */
  async finish(): Promise<ScriptResult> {
    const { session, request, options, result } = this;
    if (options.transactional) {
      await session.prepareCommit(request);
      session.commit((tx) => request.commitPart(tx));
    } else if (session.inTransaction) {
      const message = "The script ended inside a transaction, which was rolled back; end it with COMMIT.";
      throw new DbError("transaction_aborted", message, { sqlstate: "25P01" });
    }
    return result;
  }

  async close(): Promise<void> {
    const { session, request } = this;
    if (session.inTransaction) session.rollback();
    await session.endTemporaries(request, (tx) => request.tenant.commit(tx));
  }
}
