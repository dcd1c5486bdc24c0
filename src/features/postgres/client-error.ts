/** Errors as PostgreSQL words them where the engine words them for clients that do not know the sent text. */
import { DbError } from "../../protocol/errors.js";

const AT_END = "syntax error at end of input";
/** Clients show the place themselves. */
const PLACE = / \(line \d+, column \d+\)$/;

/**
 * `sent`: the text that the client sent; `shift`: characters in it before the statement, which has lost its semicolon.
 */
export function asSent(error: DbError, sent: string, shift: number): DbError {
  const { details, code } = error;
  if (details?.sqlstate !== "42601" || details.position === undefined) return error;
  const message = error.message.replace(PLACE, "");
  const isAtSemicolon = message === AT_END && characterAt(sent, shift + Number(details.position)) === ";";
  if (isAtSemicolon) return new DbError(code, 'syntax error at or near ";"', { ...details, hint: undefined });
  return message === error.message ? error : new DbError(code, message, details);
}

/** Positions count from 1. */
function characterAt(text: string, position: number): string | undefined {
  let at = 1;
  for (const character of text) if (at++ === position) return character;
  return undefined;
}
