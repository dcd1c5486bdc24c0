/** Errors and notices as messages of PostgreSQL's protocol: the fields that its clients read (chapter 55.8). */

import { type DbError, ERRORS, type ErrorCode, type ErrorDetails } from "../errors.js";
import type { NoticeFields } from "../notice.js";
import { BACK } from "./message-types.js";
import type { MessageWriter } from "./message-writer.js";

export type Severity = "ERROR" | "FATAL" | "PANIC" | "WARNING" | "NOTICE" | "DEBUG" | "INFO" | "LOG";

/** Of errors that bring none: what PostgreSQL would say in their place. */
const SQLSTATES: Partial<Record<ErrorCode, string>> = {
  syntax_error: "42601",
  query_too_long: "54000",
  transaction_aborted: "25P02",
  read_only_transaction: "25006",
  unauthorized: "28000",
  missing_authorization: "28000",
  missing_claims: "28000",
  invalid_credentials: "28P01",
  forbidden: "42501",
  not_found: "42704",
  tenant_not_found: "3D000",
  statement_not_found: "26000",
  request_timeout: "57014",
  cancelled: "57014",
  conflict: "42710",
  constraint_violation: "23000",
  serialization_failure: "40001",
  payload_too_large: "54000",
  rate_limited: "53400",
  too_many_transactions: "53300",
  internal_error: "XX000",
  not_supported: "0A000",
  overloaded: "53000",
  partition_unavailable: "57P03",
  partition_damaged: "XX001",
  statement_stopped: "57014",
  shutting_down: "57P01",
  disk_full: "53100",
  quota_exceeded: "53400",
};

export function sqlstateOf({ code, details }: Pick<DbError, "code" | "details">): string {
  if (details?.sqlstate !== undefined) return details.sqlstate;
  const known = SQLSTATES[code];
  if (known !== undefined) return known;
  return ERRORS[code].status >= 500 ? "XX000" : "22000";
}

/** Details of an error, and the fields that they are. */
const FIELDS = [
  ["detail", "D"],
  ["hint", "H"],
  ["position", "P"],
  ["where", "W"],
  ["schema", "s"],
  ["table", "t"],
  ["column", "c"],
  ["data_type", "d"],
  ["constraint", "n"],
  ["routine", "R"],
] as const;

/**
 * PostgreSQL's functions that find a prepared statement out of date. Clients (postgres.js, pgjdbc) know by their names
 * that the statement may be prepared again and run.
 */
const ROUTINES: Readonly<Record<string, string>> = { "26000": "FetchPreparedStatement" };

/** `shift`: characters before the statement in the text that the client sent. */
export function writeError(writer: MessageWriter, error: DbError, severity: Severity = "ERROR", shift = 0): void {
  const sqlstate = sqlstateOf(error);
  const details: ErrorDetails = { routine: ROUTINES[sqlstate], ...error.details };
  writer.begin(BACK.errorResponse);
  writeField(writer, "S", severity);
  writeField(writer, "V", severity);
  writeField(writer, "C", sqlstate);
  writeField(writer, "M", error.message);
  for (const [name, field] of FIELDS) {
    const value = details[name];
    if (value === undefined || value === null) continue;
    writeField(writer, field, String(name === "position" ? Number(value) + shift : value));
  }
  writer.byte(0);
  writer.end();
}

export function writeNotice(writer: MessageWriter, notice: NoticeFields): void {
  const { level = "NOTICE", sqlstate = level === "WARNING" ? "01000" : "00000", message } = notice;
  writer.begin(BACK.noticeResponse);
  writeField(writer, "S", level);
  writeField(writer, "V", level);
  writeField(writer, "C", sqlstate);
  writeField(writer, "M", message);
  for (const [name, field] of FIELDS) {
    const value = name in notice ? notice[name as keyof NoticeFields] : undefined;
    if (value !== undefined) writeField(writer, field, value);
  }
  writer.byte(0);
  writer.end();
}

function writeField(writer: MessageWriter, field: string, text: string): void {
  writer.byte(field.charCodeAt(0));
  writer.cstring(text);
}
