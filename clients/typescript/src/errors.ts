/** What the client throws. Every error of the server is a TesseraError, of a class that its status and code choose. */

/** What the server says of an error beside its message. */
export interface ErrorFacts {
  /** A code of the server's table of errors. */
  readonly code: string;
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  readonly requestId?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** When the server says that it can be tried again. */
  readonly retryAfterMs?: number | undefined;
}

/** An error of the server, or of the way to it. */
export class TesseraError extends Error {
  override readonly name: string = "TesseraError";
  /** A code of the server's table of errors, such as `query_error`. */
  readonly code: string;
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** Everything else that the server says of it. */
  readonly details: Readonly<Record<string, unknown>>;
  /** When it can be tried again, as the server says. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { code, status, requestId, details = {}, retryAfterMs }: ErrorFacts, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }

  /** The SQLSTATE that PostgreSQL gives the same mistake. */
  get sqlstate(): string | undefined {
    return textOf(this.details.sqlstate);
  }

  /** The character of the statement where it is wrong, from 1. */
  get position(): number | undefined {
    const { position } = this.details as { readonly position?: unknown };
    return typeof position === "number" ? position : undefined;
  }

  /** What mends it. */
  get hint(): string | undefined {
    return textOf(this.details.hint);
  }

  /** The field of the request that it is about. */
  get field(): string | undefined {
    return textOf(this.details.field);
  }
}

/** The request is wrong: 400, 413, 415 or 422. */
export class RequestError extends TesseraError {
  override readonly name: string = "RequestError";
}

/** A statement is wrong; `sqlstate` and `position` say how and where. */
export class QueryError extends RequestError {
  override readonly name: string = "QueryError";
}

/** The credential is missing or not valid: 401. */
export class AuthenticationError extends TesseraError {
  override readonly name: string = "AuthenticationError";
}

/** The caller may not do this: 403. */
export class PermissionError extends TesseraError {
  override readonly name: string = "PermissionError";
}

/** There is no such thing: 404 or 410. */
export class NotFoundError extends TesseraError {
  override readonly name: string = "NotFoundError";
}

/** It conflicts with what is there: 409. */
export class ConflictError extends TesseraError {
  override readonly name: string = "ConflictError";
}

/** A concurrent transaction changed what this one has read. `tx` repeats its work by itself. */
export class SerializationError extends ConflictError {
  override readonly name: string = "SerializationError";
}

/** The change breaks a constraint. */
export class ConstraintError extends ConflictError {
  override readonly name: string = "ConstraintError";
}

/** A limit was reached: 429. */
export class RateLimitError extends TesseraError {
  override readonly name: string = "RateLimitError";
}

/** It took too long: 408. */
export class TimeoutError extends TesseraError {
  override readonly name: string = "TimeoutError";
}

/** The server cannot do it, or not now: 5xx. */
export class ServerError extends TesseraError {
  override readonly name: string = "ServerError";
}

/** There was no answer, or not all of it. What the request has changed is not known. */
export class ConnectionError extends TesseraError {
  override readonly name: string = "ConnectionError";

  constructor(message: string, cause?: unknown) {
    super(message, { code: "connection_failed", status: 0 }, cause);
  }
}

/** The error of an answer or a message of the server. */
export function errorOf(message: string, facts: ErrorFacts): TesseraError {
  return new (classOf(facts))(message, facts);
}

type ErrorClass = new (message: string, facts: ErrorFacts) => TesseraError;

const BY_CODE: Readonly<Record<string, ErrorClass>> = {
  query_error: QueryError,
  syntax_error: QueryError,
  query_too_long: QueryError,
  transaction_aborted: QueryError,
  read_only_transaction: QueryError,
  serialization_failure: SerializationError,
  constraint_violation: ConstraintError,
};

const BY_STATUS: Readonly<Record<number, ErrorClass>> = {
  ...{ 401: AuthenticationError, 403: PermissionError, 404: NotFoundError, 410: NotFoundError },
  ...{ 408: TimeoutError, 409: ConflictError, 429: RateLimitError },
};

function classOf({ code, status, details }: ErrorFacts): ErrorClass {
  if (details?.sqlstate === "40001") return SerializationError;
  return BY_CODE[code] ?? BY_STATUS[status] ?? (status >= 500 ? ServerError : RequestError);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
