/** Transactions whose work is repeated when a concurrent one was faster. Called by the client. */
import { backoffMs, pause } from "./backoff.js";
import { ConnectionError, NotFoundError, SerializationError } from "./errors.js";
import type { CallOptions } from "./options.js";
import { Statements } from "./statements.js";
import { newKey, pathPart, type Transport } from "./transport.js";

/** Of one transaction. */
export interface TransactionOptions extends CallOptions {
  readonly isolation?: "serializable" | "repeatable_read" | "read_committed" | "read_uncommitted";
  readonly readOnly?: boolean;
  /** Seconds until an open transaction is rolled back. */
  readonly timeoutSeconds?: number;
  /** How often the work is done at most; 10 unless said. */
  readonly attempts?: number;
}

const ATTEMPTS = 10;
const FIRST_WAIT_MS = 5;
const MOST_WAIT_MS = 1_000;

/** An open transaction: its statements see one another's changes, and nobody else does. */
export class Transaction extends Statements {
  /** @internal */
  constructor(
    transport: Transport,
    /** Names the transaction at the server. */
    readonly id: string,
  ) {
    super(transport, `/v1/transactions/${pathPart(id)}/execute`);
  }
}

/** Whoever asks for it: the work's own error, or the last conflict. */
export async function runTransaction<T>(
  transport: Transport,
  work: (transaction: Transaction) => T | Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const { signal, attempts = ATTEMPTS } = options;
  for (let attempt = 1; ; attempt++) {
    const state = { isCommitting: false };
    try {
      return await once(transport, work, options, state);
    } catch (error) {
      signal?.throwIfAborted();
      if (!mayRepeat(error, state.isCommitting) || attempt >= attempts) throw error;
    }
    await pause(backoffMs(attempt, FIRST_WAIT_MS, MOST_WAIT_MS), signal);
  }
}

/**
 * What was not committed can be done again; of a commit without an answer nobody knows. A transaction that the server
 * does not know has not been committed: the answer to a commit is kept with what it wrote.
 */
function mayRepeat(error: unknown, isCommitting: boolean): boolean {
  if (error instanceof SerializationError) return true;
  if (error instanceof ConnectionError) return !isCommitting;
  return error instanceof NotFoundError && error.code === "transaction_not_found";
}

async function once<T>(
  transport: Transport,
  work: (transaction: Transaction) => T | Promise<T>,
  { signal, isolation, readOnly, timeoutSeconds }: TransactionOptions,
  state: { isCommitting: boolean },
): Promise<T> {
  const body = {
    ...(isolation !== undefined && { isolation_level: isolation }),
    ...(readOnly !== undefined && { read_only: readOnly }),
    ...(timeoutSeconds !== undefined && { timeout_secs: timeoutSeconds }),
  };
  const begun = { body, signal, idempotencyKey: newKey() };
  const { id } = await transport.ask<{ id: string }>("POST", "/v1/transactions", begun);
  const path = `/v1/transactions/${pathPart(id)}`;
  let done: T;
  try {
    done = await work(new Transaction(transport, id));
    signal?.throwIfAborted();
  } catch (error) {
    // The error that ended the work is the one to tell; a transaction that stays open ends by itself.
    await transport.ask("POST", `${path}/rollback`, { body: {} }).catch(() => undefined);
    throw error;
  }
  state.isCommitting = true;
  await transport.ask("POST", `${path}/commit`, { body: {}, signal, idempotencyKey: newKey() });
  return done;
}
