/**
 * Errors as Bolt's FAILURE: Neo4j's code for each, which tells drivers what to run again, and since 5.7 GQL's status.
 */
import { DbError, ERRORS, type ErrorCode } from "../errors.js";
import { type BoltVersion, isSince, TELL } from "./message-tags.js";
import type { PackValue, PackWriter } from "./pack-writer.js";

const CLIENT = "Neo.ClientError.";
const TRANSIENT = "Neo.TransientError.";
const UNKNOWN = "Neo.DatabaseError.General.UnknownError";

const TIMED_OUT = `${CLIENT}Transaction.TransactionTimedOut`;

/** By what openCypher calls the kind of error. */
const OF_CYPHER: Readonly<Record<string, string>> = {
  SyntaxError: `${CLIENT}Statement.SyntaxError`,
  SemanticError: `${CLIENT}Statement.SyntaxError`,
  TypeError: `${CLIENT}Statement.TypeError`,
  ArgumentError: `${CLIENT}Statement.ArgumentError`,
  ArithmeticError: `${CLIENT}Statement.ArithmeticError`,
  EntityNotFound: `${CLIENT}Statement.EntityNotFound`,
  ParameterMissing: `${CLIENT}Statement.ParameterMissing`,
  PropertyNotFound: `${CLIENT}Statement.PropertyNotFound`,
  ConstraintValidationFailed: `${CLIENT}Schema.ConstraintValidationFailed`,
  ConstraintVerificationFailed: `${CLIENT}Schema.ConstraintValidationFailed`,
  ProcedureError: `${CLIENT}Procedure.ProcedureCallFailed`,
};

const OF_SQLSTATE: Readonly<Record<string, string>> = {
  "22003": `${CLIENT}Statement.ArithmeticError`,
  "22012": `${CLIENT}Statement.ArithmeticError`,
  "22023": `${CLIENT}Statement.ArgumentError`,
  "42804": `${CLIENT}Statement.TypeError`,
  "42P02": `${CLIENT}Statement.ParameterMissing`,
  "40001": `${TRANSIENT}Transaction.Outdated`,
  "40P01": `${TRANSIENT}Transaction.DeadlockDetected`,
  "53200": `${CLIENT}General.TransactionOutOfMemoryError`,
  "55P03": `${TRANSIENT}Transaction.LockAcquisitionTimeout`,
  "57014": TIMED_OUT,
};

const OF_CODE: Partial<Record<ErrorCode, string>> = {
  invalid_request: `${CLIENT}Request.Invalid`,
  query_error: `${CLIENT}Statement.ExecutionFailed`,
  syntax_error: `${CLIENT}Statement.SyntaxError`,
  query_too_long: `${CLIENT}Statement.ArgumentError`,
  transaction_aborted: TIMED_OUT,
  read_only_transaction: `${CLIENT}Statement.AccessMode`,
  unauthorized: `${CLIENT}Security.Unauthorized`,
  missing_authorization: `${CLIENT}Security.Unauthorized`,
  missing_claims: `${CLIENT}Security.Unauthorized`,
  invalid_credentials: `${CLIENT}Security.Unauthorized`,
  forbidden: `${CLIENT}Security.Forbidden`,
  not_found: `${CLIENT}Database.DatabaseNotFound`,
  conflict: `${CLIENT}Schema.EquivalentSchemaRuleAlreadyExists`,
  constraint_violation: `${CLIENT}Schema.ConstraintValidationFailed`,
  serialization_failure: `${TRANSIENT}Transaction.Outdated`,
  request_timeout: TIMED_OUT,
  not_supported: `${CLIENT}Statement.UnsupportedOperationError`,
  payload_too_large: `${CLIENT}General.TransactionOutOfMemoryError`,
  rate_limited: `${CLIENT}Security.AuthenticationRateLimit`,
  partition_unavailable: `${TRANSIENT}Database.DatabaseUnavailable`,
  log_unavailable: `${TRANSIENT}Database.DatabaseUnavailable`,
  shutting_down: `${TRANSIENT}Database.DatabaseUnavailable`,
  overloaded: `${TRANSIENT}Request.NoThreadsAvailable`,
};

/** Neo4j's code for the error. */
export function neo4jCodeOf({ code, details }: DbError): string {
  if (typeof details?.bolt === "string") return details.bolt;
  if (details?.detail === "ProcedureNotFound") return `${CLIENT}Procedure.ProcedureNotFound`;
  if (details?.detail === "UnsupportedAdministrationCommand") return `${CLIENT}Statement.${details.detail}`;
  if (typeof details?.detail === "string" && /AlreadyExists$/.test(details.detail))
    return `${CLIENT}Schema.${details.detail}`;
  const ofCypher = OF_CYPHER[String(details?.type)];
  if (ofCypher !== undefined) return ofCypher;
  const known = OF_SQLSTATE[details?.sqlstate ?? ""] ?? OF_CODE[code];
  if (known !== undefined) return known;
  const { retry, status } = ERRORS[code];
  if (retry) return `${TRANSIENT}Transaction.Interrupted`;
  return status < 500 ? `${CLIENT}Statement.ExecutionFailed` : UNKNOWN;
}

/** GQL's status and what it means, by Neo4j's code or the part of it before the last dot. */
const GQL: Readonly<Record<string, readonly [status: string, meaning: string]>> = {
  [`${CLIENT}Statement.SyntaxError`]: ["42001", "syntax error or access rule violation - invalid syntax"],
  [`${CLIENT}Statement.UnsupportedAdministrationCommand`]: [
    "51N27",
    "system configuration or operation exception - not supported in this edition",
  ],
  [`${CLIENT}Statement.ParameterMissing`]: ["42N51", "syntax error or access rule violation - invalid parameter"],
  [`${CLIENT}Statement.AccessMode`]: ["25G02", "invalid transaction state - transaction is read only"],
  [`${CLIENT}Statement.ArithmeticError`]: ["22000", "data exception"],
  [`${CLIENT}Statement.ArgumentError`]: ["22000", "data exception"],
  [`${CLIENT}Statement.TypeError`]: ["22G03", "data exception - invalid value type"],
  [`${CLIENT}Schema.ConstraintValidationFailed`]: ["22N77", "data exception - property constraint violated"],
  [`${CLIENT}Database.DatabaseNotFound`]: ["22N51", "data exception - database not found"],
  [`${CLIENT}Request.Invalid`]: ["08N06", "connection exception - protocol error"],
  [`${CLIENT}Security`]: ["42NFF", "syntax error or access rule violation - permission/access denied"],
  [`${CLIENT}Transaction`]: ["25000", "invalid transaction state"],
  [`${TRANSIENT}Transaction.DeadlockDetected`]: ["50N05", "general processing exception - deadlock detected"],
  [`${TRANSIENT}Transaction`]: ["40000", "transaction rollback"],
  [`${TRANSIENT}Database`]: ["08N09", "connection exception - database unavailable"],
};

const GENERAL = ["50N42", "general processing exception - unexpected error"] as const;

function gqlOf(neo4jCode: string): readonly [status: string, meaning: string] {
  return GQL[neo4jCode] ?? GQL[neo4jCode.slice(0, neo4jCode.lastIndexOf("."))] ?? GENERAL;
}

export const DIAGNOSTIC_RECORD = { OPERATION: "", OPERATION_CODE: "0", CURRENT_SCHEMA: "/" } as const;

function classOf(neo4jCode: string): string {
  if (neo4jCode.startsWith(CLIENT)) return "CLIENT_ERROR";
  return neo4jCode.startsWith(TRANSIENT) ? "TRANSIENT_ERROR" : "DATABASE_ERROR";
}

/** Clients of Neo4j look for that word where a transaction was ended. */
function terminated(message: string, neo4jCode: string): string {
  const isSaid = neo4jCode !== TIMED_OUT || message.includes("terminated");
  return isSaid ? message : `The transaction has been terminated: ${message}`;
}

/** `expected … at offset …, found "x"` begins as tools expect of Neo4j, and some of them look for. */
function invalidInput(message: string): string {
  const [, expected, found] = /^(expected .* at offset .*), found (the end|".*")$/su.exec(message) ?? [];
  if (expected === undefined || found === undefined) return message;
  return `Invalid input '${found === "the end" ? "" : (JSON.parse(found) as string)}': ${expected}`;
}

export function writeFailure(writer: PackWriter, error: DbError, version: BoltVersion): void {
  const code = neo4jCodeOf(error);
  const { hint, position } = error.details ?? {};
  const said = terminated(invalidInput(error.message), code);
  const message = hint === undefined ? said : `${said.replace(/[^.!?]$/, "$&.")} ${hint}`;
  if (!isSince(version, 5, 7)) {
    writer.message(TELL.failure, { code, message });
    return;
  }
  const [status, meaning] = gqlOf(code);
  const place: PackValue =
    position === undefined ? {} : { _position: { offset: position - 1, line: 1, column: position } };
  writer.message(TELL.failure, {
    neo4j_code: code,
    message,
    gql_status: status,
    description: `error: ${meaning}. ${message}`,
    diagnostic_record: { ...DIAGNOSTIC_RECORD, _classification: classOf(code), ...place },
  });
}

/** A driver is to be told that code. */
export function boltError(code: ErrorCode, neo4jCode: string, message: string): DbError {
  return new DbError(code, message, { bolt: neo4jCode });
}
