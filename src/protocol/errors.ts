/**
 * The one table of errors. Every error a client can see is a `DbError` whose code is listed here with its HTTP status,
 * whether an unchanged retry can succeed, and a default message. Docs and OpenAPI are generated from this table. SQL
 * errors also carry the SQLSTATE that PostgreSQL gives the same mistake (Appendix A of its manual).
 */

interface ErrorEntry {
  readonly status: number;
  /** True when the same request may succeed later without being changed. */
  readonly retry: boolean;
  readonly message: string;
}

export const ERRORS = {
  // 400: the request itself
  invalid_request: { status: 400, retry: false, message: "The request is not valid." },
  invalid_json: { status: 400, retry: false, message: "The body is not valid JSON." },
  query_error: { status: 400, retry: false, message: "The statement cannot be executed." },
  syntax_error: { status: 400, retry: false, message: "The statement has a syntax error." },
  query_too_long: { status: 400, retry: false, message: "The statement is longer than the limit." },
  transaction_aborted: { status: 400, retry: false, message: "The transaction was ended." },
  read_only_transaction: { status: 400, retry: false, message: "The transaction is read-only." },
  invalid_nli_request: { status: 400, retry: false, message: "The request is not valid." },
  invalid_recipe: { status: 400, retry: false, message: "The recipe is not valid." },
  // 401 and 403: the caller
  unauthorized: { status: 401, retry: false, message: "The credential is not valid." },
  missing_authorization: { status: 401, retry: false, message: "Send an Authorization: Bearer header." },
  missing_claims: { status: 401, retry: false, message: "The credential has no usable claims." },
  // Of a token that another issuer has signed (docs/guide/oidc.md)
  token_issuer_unknown: { status: 401, retry: false, message: "The token's issuer is not configured here." },
  token_audience_wrong: { status: 401, retry: false, message: "The token is meant for somebody else." },
  token_expired: { status: 401, retry: false, message: "The token has expired; get a new one from its issuer." },
  token_not_yet_valid: { status: 401, retry: false, message: "The token is not valid yet." },
  token_algorithm_refused: { status: 401, retry: false, message: "The token is not signed by an accepted algorithm." },
  token_key_unknown: { status: 401, retry: false, message: "The token's key is not among its issuer's." },
  token_signature_wrong: { status: 401, retry: false, message: "The token's signature is not its issuer's." },
  sign_in_failed: { status: 401, retry: false, message: "The sign-in was not completed; begin it anew." },
  claim_unknown: { status: 403, retry: false, message: "A claim has a value that means nothing here." },
  invalid_credentials: { status: 401, retry: false, message: "Unknown user or wrong password." },
  forbidden: { status: 403, retry: false, message: "You do not have permission to do this." },
  // 404 to 426: what is asked for
  not_found: { status: 404, retry: false, message: "There is no such resource." },
  endpoint_not_found: { status: 404, retry: false, message: "There is no such route." },
  tenant_not_found: { status: 404, retry: false, message: "There is no such tenant." },
  transaction_not_found: { status: 404, retry: false, message: "There is no such open transaction." },
  statement_not_found: { status: 404, retry: false, message: "There is no such prepared statement." },
  model_not_found: { status: 404, retry: false, message: "There is no such model." },
  nli_model_not_found: {
    status: 404,
    retry: false,
    message: "There is no such claim model, or it was installed after the server started.",
  },
  method_not_allowed: { status: 405, retry: false, message: "The route does not serve this method." },
  not_acceptable: { status: 406, retry: false, message: "The route cannot answer in the requested format." },
  request_timeout: { status: 408, retry: true, message: "The request ran past its deadline and was cancelled." },
  conflict: { status: 409, retry: false, message: "The resource already exists." },
  constraint_violation: { status: 409, retry: false, message: "The change violates a constraint." },
  serialization_failure: { status: 409, retry: true, message: "A concurrent change conflicts; retry the transaction." },
  idempotency_conflict: { status: 409, retry: false, message: "The Idempotency-Key was used with another request." },
  idempotency_in_progress: { status: 409, retry: true, message: "A request with this Idempotency-Key is running." },
  model_in_use: { status: 409, retry: true, message: "The model is in use." },
  folder_not_shared: { status: 409, retry: false, message: "The nodes do not share the folder of backups." },
  pull_cancelled: { status: 409, retry: true, message: "The pull was cancelled." },
  sequence_too_old: {
    status: 410,
    retry: false,
    message: "Changes since then are no longer kept. Load everything again.",
  },
  payload_too_large: { status: 413, retry: false, message: "The body is larger than the limit." },
  unsupported_media_type: { status: 415, retry: false, message: "Send application/json or application/msgpack." },
  question_not_understood: { status: 422, retry: false, message: "The question cannot be turned into SQL." },
  model_rejected: { status: 422, retry: false, message: "The source's content is not accepted as a model." },
  backup_damaged: { status: 422, retry: false, message: "The backup is damaged." },
  // Of one file of a filesystem collection
  file_unsupported: { status: 415, retry: false, message: "Files of this kind are not supported." },
  file_too_large: { status: 413, retry: false, message: "The file is larger than the limit." },
  file_encrypted: { status: 422, retry: false, message: "The file is encrypted; store it without a password." },
  file_corrupt: { status: 422, retry: false, message: "The file's content is broken or does not match its name." },
  file_timeout: { status: 422, retry: false, message: "Reading the file took too long." },
  reader_failed: { status: 422, retry: false, message: "Reading the file was interrupted." },
  file_changed: { status: 409, retry: true, message: "The file changed while it was read." },
  recipe_not_certified: { status: 422, retry: false, message: "The recipe fails its own tests." },
  upgrade_required: { status: 426, retry: false, message: "This route serves WebSockets only." },
  rate_limited: { status: 429, retry: true, message: "Too many requests; wait as long as Retry-After says." },
  budget_exhausted: { status: 429, retry: true, message: "The API key's budget of today is used up." },
  too_many_transactions: { status: 429, retry: true, message: "Too many transactions are open." },
  cancelled: { status: 499, retry: true, message: "The client disconnected." },
  // 5xx: ours
  internal_error: {
    status: 500,
    retry: false,
    message: "The server failed. Its log has the details under this request id.",
  },
  not_supported: { status: 501, retry: false, message: "This is not supported." },
  provider_error: {
    status: 502,
    retry: false,
    message: "The language model's provider refused the request or failed.",
  },
  model_source_failed: { status: 502, retry: true, message: "The model sources did not provide the model." },
  issuer_misconfigured: {
    status: 502,
    retry: false,
    message: "The issuer's metadata or keys are not as they have to be.",
  },
  fetch_failed: { status: 502, retry: true, message: "The address could not be fetched." },
  overloaded: { status: 503, retry: true, message: "The server is at its limit; retry shortly." },
  partition_unavailable: { status: 503, retry: true, message: "The tenant's partition is restarting; retry shortly." },
  log_unavailable: {
    status: 503,
    retry: true,
    message: "The replicated log takes no writes at the moment; retry shortly.",
  },
  copy_too_old: {
    status: 503,
    retry: true,
    message: "No copy is as new as X-Tessera-Consistency asks for; retry shortly, or allow more.",
  },
  statement_stopped: {
    status: 503,
    retry: true,
    message:
      "The statement blocked other requests, so it was stopped. Similar statements are rejected until Retry-After. Change it to do less at a time.",
  },
  answer_lost: {
    status: 503,
    retry: false,
    message:
      "The answer was lost when another statement had to be stopped. Check whether the request took effect. With an Idempotency-Key, just send it again.",
  },
  partition_damaged: {
    status: 503,
    retry: false,
    message: "Files of the tenant's partition are damaged. The server's log names them and says what to do.",
  },
  model_unavailable: { status: 503, retry: false, message: "The model is installed but cannot be used." },
  program_not_installed: { status: 503, retry: false, message: "A required program is not installed." },
  provider_unavailable: { status: 503, retry: true, message: "The language model's provider cannot be reached." },
  subscription_dropped: {
    status: 429,
    retry: true,
    message: "The client did not read its subscription; subscribe again with this sequence.",
  },
  subscription_interrupted: {
    status: 503,
    retry: true,
    message: "The subscription was interrupted; subscribe again with this sequence.",
  },
  issuer_unavailable: {
    status: 503,
    retry: true,
    message: "The issuer's keys cannot be fetched at the moment; retry shortly.",
  },
  nli_disabled: { status: 503, retry: false, message: "Claim verification is switched off." },
  nli_model_not_installed: {
    status: 503,
    retry: false,
    message: "The model's bundle was not installed when the server started.",
  },
  nli_model_unavailable: {
    status: 503,
    retry: false,
    message: "The claim model is installed but cannot be used.",
  },
  shutting_down: { status: 503, retry: true, message: "The server is shutting down." },
  quota_exceeded: { status: 507, retry: false, message: "The branch may not hold more bytes of its own." },
  disk_full: { status: 507, retry: true, message: "The disk is full; nothing was written." },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** SQLSTATE, five characters. */
  readonly sqlstate?: string;
  /** 1-based character position in the statement. */
  readonly position?: number;
  readonly hint?: string;
  readonly [key: string]: unknown;
}

/** An expected error: thrown anywhere, caught once per request, answered with its code's status. */
export class DbError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(code: ErrorCode, message?: string, details?: ErrorDetails) {
    super(message ?? ERRORS[code].message);
    this.name = "DbError";
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** A SQL error: `query_error` unless the SQLSTATE has a code of its own in the table (409s, syntax, unsupported). */
export function sqlError(sqlstate: string, message: string, extra?: Omit<ErrorDetails, "sqlstate">): DbError {
  return new DbError(codeOfSqlState(sqlstate), message, { sqlstate, ...extra });
}

function codeOfSqlState(sqlstate: string): ErrorCode {
  if (sqlstate === "42601") return "syntax_error";
  if (sqlstate === "40001") return "serialization_failure";
  if (sqlstate === "25006") return "read_only_transaction";
  if (sqlstate === "25P02") return "transaction_aborted";
  if (sqlstate === "57014") return "request_timeout";
  if (sqlstate === "42501") return "forbidden";
  if (sqlstate.startsWith("23")) return "constraint_violation";
  if (sqlstate.startsWith("0A")) return "not_supported";
  if (sqlstate === "42P07" || sqlstate === "42710" || sqlstate === "42701") return "conflict";
  return "query_error";
}
