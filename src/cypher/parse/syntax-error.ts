/** Errors of Cypher's compile time, used by all of the room and by `cypher/bind`. */

import { DbError } from "../../protocol/errors.js";
import type { CypherErrorType } from "../../values/cypher-error.js";

/** The details that openCypher's TCK names for mistakes that are seen without a catalog. */
export type SyntaxErrorDetail =
  | "UnexpectedSyntax"
  | "InvalidNumberLiteral"
  | "IntegerOverflow"
  | "FloatingPointOverflow"
  | "InvalidUnicodeLiteral"
  | "InvalidUnicodeCharacter"
  | "InvalidParameterUse"
  | "InvalidClauseComposition"
  | "InvalidArgumentPassingMode"
  | "InvalidDelete"
  | "NoExpressionAlias"
  | "NoSingleRelationshipType"
  | "CreatingVarLength"
  | "RequiresDirectedRelationship"
  | "InvalidRelationshipPattern"
  /** Not of the TCK: a command of Neo4j for administrators. */
  | "UnsupportedAdministrationCommand";

/** Those that take knowledge of variables, types, functions and procedures. */
export type SemanticErrorDetail =
  | "UndefinedVariable"
  | "VariableAlreadyBound"
  | "VariableTypeConflict"
  | "RelationshipUniquenessViolation"
  | "InvalidArgumentType"
  | "InvalidNumberOfArguments"
  | "NegativeIntegerArgument"
  | "NonConstantExpression"
  | "InvalidAggregation"
  | "NestedAggregation"
  | "AmbiguousAggregationExpression"
  | "ColumnNameConflict"
  | "NoVariablesInScope"
  | "DifferentColumnsInUnion"
  | "UnknownFunction"
  | "ProcedureNotFound"
  | "MissingParameter";

/**
 * A `syntax_error` that says `what at offset N (line L, column C)` and then what was `found`, or what to do instead.
 * Its details carry `type` (openCypher's kind of error), `detail`, `phase`, `offset` (0-based, UTF-16), `line` and
 * `column` (1-based), and `position` (1-based) as SQL errors do.
 */
export function syntaxError(
  text: string,
  offset: number,
  detail: SyntaxErrorDetail | SemanticErrorDetail,
  what: string,
  found = "",
  type: CypherErrorType = "SyntaxError",
): DbError {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  const column = offset - before.lastIndexOf("\n");
  const message = `${what} at offset ${offset} (line ${line}, column ${column})${found}`;
  return new DbError("syntax_error", message, {
    sqlstate: SQLSTATES[detail] ?? "42601",
    type,
    detail,
    phase: "compile time",
    position: offset + 1,
    offset,
    line,
    column,
  });
}

/** Of the nearest kin among SQL's errors, where it is not a plain syntax error. */
const SQLSTATES: { readonly [detail in SyntaxErrorDetail | SemanticErrorDetail]?: string } = {
  UndefinedVariable: "42703",
  VariableAlreadyBound: "42712",
  VariableTypeConflict: "42804",
  InvalidArgumentType: "42804",
  NegativeIntegerArgument: "22023",
  InvalidAggregation: "42803",
  NestedAggregation: "42803",
  AmbiguousAggregationExpression: "42803",
  ColumnNameConflict: "42701",
  InvalidNumberOfArguments: "42883",
  UnknownFunction: "42883",
  ProcedureNotFound: "42883",
  MissingParameter: "42P02",
  UnsupportedAdministrationCommand: "0A000",
};
