/** Errors of Cypher's compile time, used by all of the room and by `cypher/bind`. */
import { DbError } from "../../protocol/errors.js";

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
  | "InvalidRelationshipPattern";

/**
 * A `syntax_error` that says `what at offset N (line L, column C)` and then what was `found`. Its details carry `type` (openCypher's kind of
 * error), `detail`, `phase`, `offset` (0-based, UTF-16), `line` and `column` (1-based), and `position` (1-based) as
 * SQL errors do.
 */
export function syntaxError(
  text: string,
  offset: number,
  detail: SyntaxErrorDetail,
  what: string,
  found = "",
): DbError {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  const column = offset - before.lastIndexOf("\n");
  const message = `${what} at offset ${offset} (line ${line}, column ${column})${found}`;
  return new DbError("syntax_error", message, {
    sqlstate: "42601",
    type: "SyntaxError",
    detail,
    phase: "compile time",
    position: offset + 1,
    offset,
    line,
    column,
  });
}
