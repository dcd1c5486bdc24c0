/**
 * Statements whose texts are too long for the grammar, which reads a text in one piece: the rows of an INSERT are read
 * in turns instead, and the grammar gets what is around them.
 */
import { DbError } from "../protocol/errors.js";
import { LONG_SQL_CHARACTERS } from "../protocol/limits.js";
import type { Turns } from "../protocol/turns.js";
import type { StatementNode } from "../sql/parse/ast.js";
import { characterCount } from "../values/text-format.js";
import { type LongInsert, readLongInsert } from "./long-insert.js";
import type { StatementTree } from "./statement-language.js";
import type { StatementText } from "./statement-run.js";

/** Whether `shortened` is to be asked before the text is parsed. */
export function isLong({ sql, long, command, language }: StatementText): boolean {
  return sql.length > LONG_SQL_CHARACTERS && long === undefined && command === undefined && language !== "cypher";
}

export async function shortened<T extends StatementText>(text: T, turns: Turns): Promise<T> {
  const long = await readLongInsert(text.sql, turns);
  return long === null ? { ...text, long } : { ...text, sql: long.sql, long };
}

/** The tree of a short text, with what is known of its rows. Throws query_too_long where it inserts something else. */
export function withListedRows(tree: StatementTree, { rows }: LongInsert): StatementNode {
  const node = tree.language === "sql" && tree.node.kind === "insert" ? tree.node : null;
  const source = node?.source ?? null;
  const isPlain = source?.body.kind === "values" && source.orderBy.length === 0 && source.limit === null;
  if (node === null || !isPlain || source.offset !== null) {
    throw new DbError("query_too_long", "A long INSERT takes its rows from VALUES alone.");
  }
  return { ...node, listed: rows };
}

/** The error of a short text, with the position that it has in the text as it was sent. */
export function inLongText(error: unknown, { cut: { at, from, to }, sql, rows }: LongInsert): unknown {
  const position = error instanceof DbError ? error.details?.position : undefined;
  const behind = characterCount(sql.slice(0, at));
  if (position === undefined || position <= behind) return error;
  const { code, message, details } = error as DbError;
  const missing = characterCount(rows.text.slice(from, to)) - (behind - characterCount(sql.slice(0, from)));
  return new DbError(code, message, { ...details, position: position + missing });
}
