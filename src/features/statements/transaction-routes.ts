/** /v1/transactions: transactions that a client drives by id over several requests. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import type { Input } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { after } from "../../query/exec/operator.js";
import type { Answer } from "../../session/answer.js";
import type { InteractiveTransaction } from "../../session/interactive-transactions.js";
import { clientOptions } from "../../session/session-options.js";
import { resultAnswer } from "../../session/sql-result.js";
import type { IsolationLevel } from "../../sql/parse/ast.js";
import { executeSetsIn, possibleSets } from "./parameter-sets.js";
import { type RowFormat, RowStream } from "./row-stream.js";
import { runOf, type StatementBody, streamFrom } from "./run-body.js";

export const transactionHandlers = {
  "transactions.begin": beginTransaction,
  "transactions.get": (request, { params }) => ({ plain: describe(request.transactions.get(params.id!, request)) }),
  "transactions.execute": (request, { params, body }) =>
    inTransaction(request, params.id!, (transaction) => {
      const started = performance.now();
      const { session } = transaction;
      const run = runOf(request, body);
      const execute = () => session.execute(run, (tx) => tx.rollback());
      const sets = session.status === "active" ? possibleSets(run.params) : null;
      const outcome =
        sets === null ? execute() : executeSetsIn(request, session, run, sets).then((done) => done ?? execute());
      return after(outcome, (done) => resultAnswer(done, started));
    }),
  "transactions.commit": (request, { params }) => commitTransaction(request, params.id!),
  "transactions.rollback": (request, { params }) => rollbackTransaction(request, params.id!),
  "transactions.savepoint": (request, { params, body }) =>
    inTransaction(request, params.id!, (transaction) => {
      transaction.session.savepoint(body.name);
      return { plain: { id: transaction.id, savepoint: body.name } };
    }),
  "transactions.savepoint.rollback": (request, { params }) =>
    inTransaction(request, params.id!, (transaction) => {
      transaction.session.rollbackTo(params.name!);
      return { plain: { id: transaction.id, savepoint: params.name! } };
    }),
} satisfies Handlers;

/** The underscore and the space form of each standard level, in any case. */
const ISOLATION_LEVELS: readonly IsolationLevel[] = [
  "serializable",
  "repeatable read",
  "read committed",
  "read uncommitted",
];

function isolationOf(text: string | undefined): IsolationLevel | null {
  if (text === undefined) return null;
  const level = text
    .trim()
    .toLowerCase()
    .replace(/[_\s-]+/g, " ");
  if (level === "snapshot") return "repeatable read";
  const known = ISOLATION_LEVELS.find((name) => name === level);
  if (known === undefined) {
    throw new DbError("invalid_request", `The field "isolation_level" must be one of ${ISOLATION_LEVELS.join(", ")}.`, {
      field: "isolation_level",
    });
  }
  return known;
}

type TransactionState = ResponseOf<"transactions.get">;
type Committed = Answer<ResponseOf<"transactions.commit">>;
type RolledBack = Answer<ResponseOf<"transactions.rollback">>;

export function beginTransaction(request: Request, { body }: Input): Answer<TransactionState> {
  const options = {
    ...clientOptions(request, "routes"),
    isolation: isolationOf(body.isolation_level),
  };
  const transaction = request.transactions.begin(options, body.read_only === true, body.timeout_secs, request.head);
  return { plain: describe(transaction) };
}

function describe({ id, session, createdMs, expiresMs }: InteractiveTransaction): TransactionState {
  return {
    id,
    status: session.status,
    isolation_level: session.isolation,
    read_only: session.readOnly,
    created_at: new Date(createdMs).toISOString(),
    expires_at: new Date(expiresMs).toISOString(),
    savepoints: session.savepointNames,
  };
}

export function commitTransaction(request: Request, id: string): Committed | Promise<Committed> {
  return inTransaction(request, id, (transaction) => commit(request, transaction));
}

export function rollbackTransaction(request: Request, id: string): RolledBack | Promise<RolledBack> {
  return inTransaction(request, id, (transaction) => {
    request.transactions.finish(transaction, "it was rolled back");
    transaction.session.rollback();
    return { plain: { id: transaction.id, status: "rolled_back" } };
  });
}

/** A statement of the transaction, whose rows are sent as they come. */
export function executeInTransaction(
  request: Request,
  id: string,
  body: StatementBody,
  format: RowFormat,
  headers: readonly string[],
): Answer<never> | Promise<Answer<never>> {
  return inTransaction(request, id, ({ session }) =>
    streamFrom(request, body, new RowStream(request, format, headers), (run) =>
      session.execute(run, (tx) => tx.rollback()),
    ),
  );
}

function inTransaction<T>(
  request: Request,
  id: string,
  work: (transaction: InteractiveTransaction) => Answer<T> | Promise<Answer<T>>,
): Answer<T> | Promise<Answer<T>> {
  const { transactions } = request;
  return transactions.inOrder(transactions.get(id, request), () => work(transactions.get(id, request)));
}

/** Temporary relations of the transaction go with it. */
function commit(request: Request, transaction: InteractiveTransaction): Committed | Promise<Committed> {
  const { session } = transaction;
  const ending =
    session.status === "active" ? session.endTemporaries(request, (tx) => request.tenant.commit(tx)) : undefined;
  const prepared =
    ending === undefined ? session.prepareCommit(request) : ending.then(() => session.prepareCommit(request));
  if (prepared === undefined) return commitNow(request, transaction);
  return prepared.then(
    () => commitNow(request, transaction),
    (error: Error) => {
      if (session.inTransaction) session.rollback();
      throw notCommitted(request, transaction, error);
    },
  );
}

function commitNow(request: Request, transaction: InteractiveTransaction): Committed {
  const { transactions } = request;
  const answer: Committed = { plain: { id: transaction.id, status: "committed" } };
  try {
    transaction.session.commit((tx) => request.commit(tx, answer));
    transactions.finish(transaction, "it was committed");
    return answer;
  } catch (error) {
    throw notCommitted(request, transaction, error as Error);
  }
}

function notCommitted({ transactions }: Request, transaction: InteractiveTransaction, error: Error): Error {
  transactions.finish(transaction, `it was rolled back when it should commit (${error.message})`);
  return error;
}
