/**
 * The door of Cypher's parser, called by `cypher/bind`, by the session, and by `/v1/query/execute`.
 *
 * A text becomes a tree in one pass over its tokens:
 *   1. `lexer.ts` cuts it into tokens; `literals.ts` knows what they say.
 *   2. `token-reader.ts` steps through them; on it stand, each extending the one before,
 *      `expressions.ts` → `atoms.ts` → `patterns.ts` → `queries.ts` →
 *      `composed-parser.ts` → `show.ts` → `parser.ts`.
 *   3. `written-patterns.ts` refuses patterns that cannot be created or merged.
 * `print.ts` is the way back. Which variables there are and what they mean is for `cypher/bind` to say.
 *
 * **Which language a text is in** is decided by who can parse it, not by how it begins. A request may say
 * `language: "cypher" | "sql"`; if it does not:
 *   1. The plan cache knows the text: then it has been decided.
 *   2. PostgreSQL's grammar accepts it: SQL. What both accept (`CALL p(1)`, `DROP INDEX i`, `SET a.b = 1`) is SQL,
 *      because a statement must not change its meaning when the other language learns a new form.
 *   3. This parser accepts it: Cypher.
 *   4. Neither does: the error of the parser that came further (the greater `position`) is the answer, SQL's if equal.
 * The cost falls on a text's first use only, some microseconds for this parser.
 */
import { DbError } from "../../protocol/errors.js";
import { CYPHER_CHARACTERS_MAX } from "../../protocol/limits.js";
import { Parser } from "./parser.js";
import type { Statement } from "./statement-ast.js";

/**
 * The tree of one Cypher statement; a semicolon may end it. Throws `syntax_error` (see `syntax-error.ts`) for what is
 * not openCypher 9, and `query_too_long`.
 */
export function parseCypher(text: string): Statement {
  if (text.length > CYPHER_CHARACTERS_MAX) {
    throw new DbError("query_too_long", `A Cypher statement has at most ${CYPHER_CHARACTERS_MAX} characters.`);
  }
  return new Parser(text).statement();
}
