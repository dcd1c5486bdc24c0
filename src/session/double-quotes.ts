/**
 * A hint for strings in double quotes, which MySQL and SQLite accept as strings and SQL reads as names. Called where
 * statements are planned.
 */
import { DbError } from "../protocol/errors.js";

/** The error; if it is about a column that is in double quotes in `sql`, with a hint about quotes. */
export function withQuotesHint(error: unknown, sql: string): unknown {
  if (!(error instanceof DbError) || error.details?.sqlstate !== "42703") return error;
  const { position, hint } = error.details;
  if (typeof position !== "number") return error;
  const rest = [...sql].slice(position - 1).join("");
  const quoted = /^"((?:[^"]|"")*)"(?!\s*\.)/.exec(rest)?.[1];
  if (quoted === undefined) return error;
  const text = quoted.replaceAll('""', '"').replaceAll("'", "''");
  const word = `Double quotes are for names. Write a string as '${text}'.`;
  const all = typeof hint === "string" ? `${hint} ${word}` : word;
  return new DbError(error.code, error.message, { ...error.details, hint: all });
}
