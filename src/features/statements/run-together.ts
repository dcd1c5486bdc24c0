/** Several statements of a route in one transaction. A single statement goes through run-alone.ts instead. */
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import { plainRows } from "../../session/sql-result.js";
import type { Client } from "../../session/statement-run.js";

const ATTEMPTS_MAX = 4;

/** The rows of a statement as plain values. */
export interface Ran {
  readonly rows: readonly (readonly unknown[])[];
  readonly affected: number;
}

/** Runs one of the statements. `own`: it is a feature's own, as those of `ownTogether` all are. */
export type Run = (sql: string, params: readonly unknown[], own?: true) => Promise<Ran>;

type Commit<T> = (tx: Parameters<Request["commitPart"]>[0], done: T) => void;

/**
 * Runs a feature's own statements as `together` does. They may name tables that features keep for themselves, so no
 * part of them may be a client's.
 */
export function ownTogether<T>(
  request: Request,
  client: Client,
  work: (run: Run) => Promise<T>,
  commit: Commit<T>,
): Promise<T> {
  return inOne(request, client, work, commit, true);
}

/** Runs `work` in one transaction, and again if it lost against a concurrent change; `commit` commits it. */
export function together<T>(
  request: Request,
  client: Client,
  work: (run: Run, session: Session) => Promise<T>,
  commit: Commit<T>,
): Promise<T> {
  return inOne(request, client, work, commit);
}

async function inOne<T>(
  request: Request,
  client: Client,
  work: (run: Run, session: Session) => Promise<T>,
  commit: Commit<T>,
  allOwn?: true,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const session = new Session(request.tenant, sessionOptions(request, "routes"));
    session.begin({});
    const run: Run = async (sql, params, own = allOwn) => {
      const text = own === undefined ? { sql, params } : { sql, params, own };
      const whole = { ...text, maxRows: Number.MAX_SAFE_INTEGER, collector: plainRows, request: client };
      const { rows, rowsAffected } = await session.execute(whole, (tx) => tx.rollback());
      return { rows: rows.plain!, affected: rowsAffected ?? 0 };
    };
    try {
      const done = await work(run, session);
      await session.prepareCommit(client);
      session.commit((tx) => commit(tx, done));
      return done;
    } catch (error) {
      const isLost = error instanceof DbError && error.code === "serialization_failure";
      if (!isLost || attempt === ATTEMPTS_MAX) throw error;
    } finally {
      if (session.inTransaction) session.rollback();
    }
  }
}

/**
 * The error with the place of the statement, or of its set of parameters, that failed; an end that is the whole's stays
 * as it is.
 */
export function errorAt(
  error: unknown,
  place: { readonly statement: number } | { readonly parameter_set: number },
): unknown {
  if (!(error instanceof DbError) || error.code === "cancelled" || error.code === "request_timeout") return error;
  return new DbError(error.code, error.message, { ...error.details, ...place });
}
