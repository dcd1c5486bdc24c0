/**
 * Runs several statements of a document route in one transaction, and finds collections by name. A single statement
 * goes through run-alone.ts instead. Called by the handlers of collections and documents.
 */
import type { Request } from "../../actor/request.js";
import { meant } from "../../catalog/did-you-mean.js";
import { type Collection, collectionOf } from "../../document/collection.js";
import type { Statement } from "../../document/document-rows.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer } from "../../session/answer.js";
import type { Session } from "../../session/session.js";
import type { StatementText } from "../../session/statement-run.js";
import { type Ran, together } from "../statements/run-together.js";
import { withDefinitions } from "../statements/with-definitions.js";

export type PlainRow = Ran["rows"][number];

/** Runs one statement. `own`: a feature's own, as of `StatementText`. */
export type RunStatement = (statement: Statement & Pick<StatementText, "own">) => Promise<Ran>;

/** Runs `work` in one transaction and commits it with its answer. */
export function writeTogether<T>(
  request: Request,
  work: (run: RunStatement, session: Session) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  return together(
    request,
    request,
    (run, session) => work(({ sql, params, own }) => run(sql, params, own), session),
    (tx, answer) => request.commit(tx, answer),
  );
}

/** Throws not_found. */
export function findCollection(request: Request, name: string): Collection {
  return withDefinitions(request, (catalog) => {
    const table = catalog.table(null, name);
    const collection = table === null ? null : collectionOf(table);
    if (collection !== null) return collection;
    const names = catalog.tables().flatMap((each) => (collectionOf(each) === null ? [] : [each.name]));
    const hint = meant(name, names).hint ?? "GET /v1/collections lists the collections.";
    throw new DbError("not_found", `The collection "${name}" does not exist.`, { sqlstate: "42P01", hint });
  });
}
