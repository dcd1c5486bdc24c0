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

/** The tree of a short text, with what is known of its rows; null: VALUES are not all that it inserts. */
export function withListedRows(tree: StatementTree, { rows }: LongInsert): StatementNode | null {
  const node = tree.language === "sql" && tree.node.kind === "insert" ? tree.node : null;
  const source = node?.source ?? null;
  if (node === null || source?.body.kind !== "values") return null;
  const isPlain = source.orderBy.length === 0 && source.limit === null && source.offset === null;
  return isPlain ? { ...node, listed: rows } : null;
}

/** Errors of a short text get the position that they have in the text as it was sent. */
export function inLongText<T>(long: LongInsert, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw placedInLong(error, long);
  }
}

function placedInLong(error: unknown, { cut: { at, from, to }, sql, rows }: LongInsert): unknown {
  const position = error instanceof DbError ? error.details?.position : undefined;
  const behind = characterCount(sql.slice(0, at));
  if (position === undefined || position <= behind) return error;
  const { code, message, details } = error as DbError;
  const missing = characterCount(rows.text.slice(from, to)) - (behind - characterCount(sql.slice(0, from)));
  return new DbError(code, message, { ...details, position: position + missing });
}
