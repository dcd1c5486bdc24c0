/** Runs statements of a session and writes their rows, notices and command tags. One per session. */
import { fieldsOfNotice, type Notice, type NoticeFields, warning } from "../../protocol/notice.js";
import { writeNotice } from "../../protocol/postgres/error-message.js";
import { BACK } from "../../protocol/postgres/message-types.js";
import { needsBlock } from "../../session/control-outside.js";
import type { Outcome } from "../../session/sql-result.js";
import type { StatementRun } from "../../session/statement-run.js";
import type { BoundStatement } from "../../sql/bind/bound-statement.js";
import { commandTag } from "./command-tag.js";
import { isPlainStatement } from "./plain-statement.js";
import { RowOutput } from "./row-output.js";
import { timeoutOf } from "./timeouts.js";
import type { Ran, RunOptions, SentText, WireHost } from "./wire-host.js";

/** Levels of messages, as client_min_messages names them; those before the first are debug1 and the like. */
const LEVELS = ["log", "notice", "warning", "error", "fatal", "panic"];

export class StatementRuns {
  /** Characters before the statement in the text that the client sent: positions of errors count from its beginning. */
  shift = 0;
  /** That text. */
  sent = "";

  constructor(private readonly wire: WireHost) {}

  run(text: SentText, { formats, describes, told = null }: RunOptions): Ran | Promise<Ran> {
    const { session, client, writer, flush } = this.wire;
    const { settings } = session;
    client.begin(timeoutOf(settings, client.request));
    const output = new RowOutput({ writer, formats, settings, describes, told, flush });
    let bound: BoundStatement | null = null;
    const { sql, params, declared, kept, long } = text;
    const { collector } = output;
    const planned = (found: BoundStatement): void => {
      bound = found;
      // Of a transaction that the protocol has begun, the client controls no parts.
      const refusal = this.wire.isInImplicit && found.kind === "transaction" ? needsBlock(found) : null;
      if (refusal !== null) throw refusal;
    };
    const maxRows = Number.MAX_SAFE_INTEGER;
    // Spelled out: to spread the text would take longer than to look up its plan.
    const run: StatementRun =
      kept === undefined
        ? { sql, params, long, maxRows, collector, request: client, planned }
        : declared === undefined
          ? { sql, params, kept, long, maxRows, collector, request: client, planned }
          : { sql, params, declared, kept, long, maxRows, collector, request: client, planned };
    const outcome = session.execute(run, (tx) => client.request.commitPart(tx));
    if (outcome instanceof Promise) return outcome.then((done) => this.finished(done, output, bound));
    return this.finished(outcome, output, bound);
  }

  /** Commits the protocol's own transaction. */
  commit(): void | Promise<void> {
    const { session, client } = this.wire;
    client.begin(0);
    const commit = (): void | Promise<void> => {
      session.commit((tx) => client.request.commitPart(tx));
      return client.request.linked() ?? undefined;
    };
    const prepared = session.prepareCommit(client);
    if (!(prepared instanceof Promise)) return commit();
    return prepared.then(commit, (error: unknown) => {
      if (session.inTransaction) session.rollback();
      throw error;
    });
  }

  private finished(outcome: Outcome, output: RowOutput, bound: BoundStatement | null): Ran | Promise<Ran> {
    const { command, shape, rowsAffected } = outcome;
    if (command !== undefined || (rowsAffected !== null && shape.outputs.length === 0)) output.discard();
    // BEGIN makes the protocol's own transaction the client's: nothing to warn of. Of a COMMIT that rolled back the
    // tag says so.
    const isRefusal = command === "ROLLBACK" && bound?.kind === "transaction" && bound.action === "commit";
    const isNews = !isRefusal && (command !== "BEGIN" || !this.wire.isInImplicit);
    if (isNews) this.tellAll(outcome.notices);
    this.complete(commandTag(outcome, output.rows, bound));
    this.shift = 0;
    const ran = { command, isPlain: bound !== null && isPlainStatement(bound) };
    return this.wire.client.request.linked()?.then(() => ran) ?? ran;
  }

  complete(tag: string): void {
    const { writer } = this.wire;
    writer.begin(BACK.commandComplete);
    writer.cstring(tag);
    writer.end();
  }

  warn(message: string, sqlstate: string): void {
    this.tell(warning(message, sqlstate));
  }

  tellAll(notices: readonly Notice[]): void {
    for (const notice of notices) this.tell(fieldsOfNotice(notice));
  }

  /** Unless client_min_messages leaves it out. */
  private tell(notice: NoticeFields): void {
    const { session, writer } = this.wire;
    const least = session.settings.find("client_min_messages") ?? "notice";
    const { level = "NOTICE" } = notice;
    if (level === "INFO" || LEVELS.indexOf(level.toLowerCase()) >= LEVELS.indexOf(least)) writeNotice(writer, notice);
  }
}
