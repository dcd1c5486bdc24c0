/** A hint for texts in double quotes, which MySQL and SQLite take for texts and SQL for names. Called where statements are planned. */
import { DbError } from "../protocol/errors.js";

/** The error, and if it is about a column that stands in double quotes in `sql`, a word on quotes. */
export function withQuotesHint(error: unknown, sql: string): unknown {
  if (!(error instanceof DbError) || error.details?.sqlstate !== "42703") return error;
  const { position, hint } = error.details;
  if (typeof position !== "number") return error;
  const rest = [...sql].slice(position - 1).join("");
  const quoted = /^"((?:[^"]|"")*)"(?!\s*\.)/.exec(rest)?.[1];
  if (quoted === undefined) return error;
  const text = quoted.replaceAll('""', '"').replaceAll("'", "''");
  const word = `Double quotes are for names; a text is written '${text}'.`;
  const all = typeof hint === "string" ? `${hint} ${word}` : word;
  return new DbError(error.code, error.message, { ...error.details, hint: all });
}
