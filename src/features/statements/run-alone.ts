/** Runs the statements of a route in a transaction of their own. */

import type { Request } from "../../actor/request.js";
import { after } from "../../query/exec/operator.js";
import type { Answer } from "../../session/answer.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import { type Outcome, plainRows, type RowCollector } from "../../session/sql-result.js";
import type { StatementText } from "../../session/statement-run.js";

export interface LoneStatement extends StatementText {
  /** No bound unless said. */
  readonly maxRows?: number;
  /** Plain values unless said. */
  readonly collector?: RowCollector;
  /** Settings that hold for the statement. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** `answerOf` is called before the commit, whose records may include the answer; what it throws takes all back. */
export function runAlone<T>(
  request: Request,
  { settings, maxRows = Number.MAX_SAFE_INTEGER, collector = plainRows, ...text }: LoneStatement,
  answerOf: (outcome: Outcome) => Answer<T>,
): Answer<T> | Promise<Answer<T>> {
  const session = new Session(request.tenant, sessionOptions(request, "routes"));
  for (const name in settings) session.settings.setText(name, settings[name]!, false);
  const run = { ...text, maxRows, collector, request };
  let answer: Answer<T> = {};
  const outcome = session.execute(run, (tx, done) => {
    answer = answerOf(done);
    request.commit(tx, answer);
  });
  return after(outcome, () => answer);
}

/** Answers the rows of a statement. */
export type Ask = (text: StatementText) => readonly (readonly unknown[])[] | Promise<readonly (readonly unknown[])[]>;

/** The rows of a feature's own statement, which may name tables that features keep for themselves. */
export function ownRowsOf(request: Request, { sql, params }: Pick<StatementText, "sql" | "params">) {
  return rowsOf(request, { sql, params, own: true });
}

/** The rows of a statement that a route asks on the way. */
export function rowsOf(request: Request, text: StatementText): ReturnType<Ask> {
  return askIn(readingSession(request), request)(text);
}

/**
 * Several statements that read one snapshot, with the session's `catalog` as definitions: nothing changes while they
 * run.
 */
export async function readTogether<T>(request: Request, read: (session: Session, ask: Ask) => Promise<T>): Promise<T> {
  const session = readingSession(request);
  session.begin({ readOnly: true });
  try {
    return await read(session, askIn(session, request));
  } finally {
    if (session.inTransaction) session.rollback();
  }
}

function readingSession(request: Request): Session {
  return new Session(request.tenant, { ...sessionOptions(request, "routes"), readOnly: true });
}

/** Asks in the session: in its transaction, where one is open. */
export function askIn(session: Session, request: Request): Ask {
  return (text) => {
    const run = { ...text, maxRows: Number.MAX_SAFE_INTEGER, collector: plainRows, request };
    const outcome = session.execute(run, (tx) => request.tenant.rollback(tx));
    return after(outcome, ({ rows }) => rows.plain!);
  };
}

/** A timestamptz of such rows as the API writes times, which end in Z; SQL writes the zone as +00:00. */
export function timeOf(value: unknown): string {
  const date = new Date(value as string);
  // Where SQL has written the table: a time that JSON's form cannot express, such as infinity.
  return Number.isNaN(date.getTime()) ? (value as string) : date.toISOString();
}
