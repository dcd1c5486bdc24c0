/**
 * Several statements of a route on documents in one transaction, and collections by their names. One statement alone is
 * run-alone.ts's. Called by the handlers of collections and documents.
 */

import type { Answer } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import { type Collection, collectionOf } from "../../document/collection.js";
import type { Statement } from "../../document/document-rows.js";
import { DbError } from "../../protocol/errors.js";
import { Session } from "../../session/session.js";
import { plainRows } from "../../session/sql-result.js";
import { sessionOptions } from "../statements/query-routes.js";
import { withDefinitions } from "../statements/with-definitions.js";

export type PlainRow = readonly unknown[];

/** Runs one statement; its rows as plain values. */
export type RunStatement = (
  statement: Statement,
) => Promise<{ readonly rows: readonly PlainRow[]; readonly affected: number }>;

/** How often what lost against a concurrent change is done again. */
const ATTEMPTS_MAX = 3;

/** One transaction around `work`, which is done again when it lost against a concurrent change. */
export async function writeTogether(
  request: Request,
  work: (run: RunStatement, session: Session) => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const session = new Session(request.tenant, sessionOptions(request, "routes"));
    session.begin({});
    const run: RunStatement = async (statement) => {
      const whole = { ...statement, maxRows: Number.MAX_SAFE_INTEGER, collector: plainRows, request };
      const { rows, rowsAffected } = await session.execute(whole, (tx) => tx.rollback());
      return { rows: rows.plain!, affected: rowsAffected ?? 0 };
    };
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
