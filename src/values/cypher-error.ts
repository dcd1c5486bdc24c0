/** Errors that Cypher statements raise while they run, by the kinds and details that openCypher's TCK names. */
import { DbError } from "../protocol/errors.js";

export type CypherErrorType =
  | "TypeError"
  | "ArgumentError"
  | "ArithmeticError"
  | "EntityNotFound"
  | "ParameterMissing"
  | "ConstraintValidationFailed"
  | "ConstraintVerificationFailed"
  | "ProcedureError"
  | "PropertyNotFound"
  | "SemanticError"
  | "SyntaxError";

/**
 * A `query_error`, or `constraint_violation`, whose details carry `type`, `detail`, `phase` and the SQLSTATE of the
 * nearest kin among SQL's errors.
 */
export function cypherError(
  type: CypherErrorType,
  detail: string,
  message: string,
  phase: "runtime" | "compile time" = "runtime",
): DbError {
  const code = type.startsWith("Constraint") ? "constraint_violation" : "query_error";
  return new DbError(code, message, { sqlstate: SQLSTATES[type], type, detail, phase });
}

const SQLSTATES: Record<CypherErrorType, string> = {
  TypeError: "42804",
  ArgumentError: "22023",
  ArithmeticError: "22003",
  EntityNotFound: "02000",
  ParameterMissing: "42P02",
  ConstraintValidationFailed: "23000",
  ConstraintVerificationFailed: "23000",
  ProcedureError: "42883",
  PropertyNotFound: "42703",
  SemanticError: "42P10",
  SyntaxError: "42601",
};
