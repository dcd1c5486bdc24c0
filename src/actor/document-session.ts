import { type Collection, collectionOf } from "../document/collection.js";
import type { Statement } from "../document/document-rows.js";
import { DbError } from "../protocol/errors.js";
import { sessionOptions } from "./handlers/query.js";
import type { Answer } from "./reply.js";
import type { Request } from "./request.js";
import { Session } from "./session.js";
import { type Outcome, plainRows } from "./sql-result.js";
import type { StatementRun } from "./statement-run.js";
import { withDefinitions } from "./with-definitions.js";

export type PlainRow = readonly unknown[];

/** Runs one statement; its rows as plain values. */
export type RunStatement = (
  statement: Statement,
) => Promise<{ readonly rows: readonly PlainRow[]; readonly affected: number }>;

/** How often what lost against a concurrent change is done again. */
const ATTEMPTS_MAX = 3;

function runOf(request: Request, { sql, params }: Statement): StatementRun {
  return { sql, params, maxRows: Number.MAX_SAFE_INTEGER, collector: plainRows, request };
}

function resultOf({ rows, rowsAffected }: Outcome) {
  return { rows: rows.plain!, affected: rowsAffected ?? 0 };
}

/** The rows of a query. */
export async function readRows(request: Request, statement: Statement): Promise<readonly PlainRow[]> {
  const session = new Session(request.tenant, { ...sessionOptions(request, "routes"), readOnly: true });
  const outcome = await session.execute(runOf(request, statement), (tx) => request.tenant.rollback(tx));
  return resultOf(outcome).rows;
}

/** Runs one statement as a transaction. `answerOf` is called before the commit: what it throws takes all back. */
export async function writeAlone(
  request: Request,
  statement: Statement,
  answerOf: (affected: number) => Answer,
): Promise<Answer> {
  const session = new Session(request.tenant, sessionOptions(request, "routes"));
  let answer: Answer = {};
  await session.execute(runOf(request, statement), (tx, outcome) => {
    answer = answerOf(resultOf(outcome).affected);
    request.commit(tx, answer);
  });
  return answer;
}

/** One transaction around `work`, which is done again when it lost against a concurrent change. */
export async function writeTogether(
  request: Request,
  work: (run: RunStatement, session: Session) => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const session = new Session(request.tenant, sessionOptions(request, "routes"));
    session.begin({});
    const run: RunStatement = async (statement) =>
      resultOf(await session.execute(runOf(request, statement), (tx) => tx.rollback()));
    try {
      const answer = await work(run, session);
      await session.prepareCommit(request);
      session.commit((tx) => request.commit(tx, answer));
      return answer;
    } catch (error) {
      const isLost = error instanceof DbError && error.code === "serialization_failure";
      if (!isLost || attempt === ATTEMPTS_MAX) throw error;
    } finally {
      if (session.inTransaction) session.rollback();
    }
  }
}

/** Throws not_found. */
export function findCollection(request: Request, name: string): Collection {
  const table = withDefinitions(request, (catalog) => catalog.table(null, name));
  const collection = table === null ? null : collectionOf(table);
  if (collection !== null) return collection;
  throw new DbError("not_found", `The collection "${name}" does not exist.`, { sqlstate: "42P01" });
}
