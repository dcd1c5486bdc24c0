/**
 * RESTORE TABLE and RESTORE GRAPH as calls of a function (features/branches/restore-functions.ts). Called by
 * client-statements.ts. Stateless.
 *
 *   RESTORE TABLE t, u [WHERE condition] AS OF moment    SELECT … FROM restore_rows('{"tables": ["t", "u"], …}', …)
 *   RESTORE GRAPH [g] AS OF moment                       SELECT … FROM restore_rows('{"graph": "g", …}', …)
 *   EXPLAIN RESTORE …                                    the same with "dry_run"
 */
import { shownPath } from "../../values/shown-path.js";
import {
  isName,
  isSymbol,
  isWord,
  nameOf,
  quotedText,
  syntaxErrorAt,
  type Token,
  type TokenizedStatement,
  tableName,
} from "./tokens.js";

/** Whether the statement is one; `AS OF` belongs to it then, and does not say what it reads. */
export function isRestoreStatement(tokens: readonly Token[]): boolean {
  const at = isWord(tokens[0], "explain") ? 1 : 0;
  return isWord(tokens[at], "restore") && isWord(tokens[at + 1], "table", "graph");
}

/** Null: it is a different statement. Throws 42601 for invalid forms. */
export function restoreStatement(statement: TokenizedStatement): string | null {
  const { tokens } = statement;
  if (!isRestoreStatement(tokens)) return null;
  const isDry = isWord(tokens[0], "explain");
  const what = isDry ? 2 : 1;
  const { wanted, next } = isWord(tokens[what], "table") ? tablesAt(statement, what + 1) : graphAt(tokens, what + 1);
  const asOf = tokens.findLastIndex((token, i) => isAsOf(tokens, i) && token.depth === 0);
  const where = "tables" in wanted && isWord(tokens[next], "where") ? conditionOf(statement, next, asOf) : undefined;
  if (where === undefined && !isAsOf(tokens, next)) throw syntaxErrorAt(statement, next, "AS OF and a moment");
  const call = JSON.stringify({ ...wanted, ...(where !== undefined && { where }), ...(isDry && { dry_run: true }) });
  const rows = `(SELECT restore_rows(${quotedText(call)}, ${momentAt(statement, asOf + 2)}) AS found) AS list`;
  const columns = isDry
    ? `"table" text, change text, before jsonb, after jsonb`
    : `"table" text, added int8, removed int8, changed int8`;
  return `SELECT line.* FROM ${rows}, jsonb_to_recordset(list.found) AS line (${columns})`;
}

function isAsOf(tokens: readonly Token[], at: number): boolean {
  return isWord(tokens[at], "as") && isWord(tokens[at + 1], "of");
}

function tablesAt(statement: TokenizedStatement, from: number) {
  const tables: string[] = [];
  for (let at = from; ; at++) {
    const found = tableName(statement.tokens, at);
    if (found === null) throw syntaxErrorAt(statement, at, "the name of a table");
    tables.push(shownPath(found.name.path));
    at = found.next;
    if (!isSymbol(statement.tokens[at], ",")) return { wanted: { tables }, next: at };
  }
}

function graphAt(tokens: readonly Token[], at: number) {
  const name = tokens[at];
  if (!isName(name) || isAsOf(tokens, at)) return { wanted: { graph: null }, next: at };
  return { wanted: { graph: nameOf(name) }, next: at + 1 };
}

/** The text between WHERE and AS OF. */
function conditionOf(statement: TokenizedStatement, where: number, asOf: number): string {
  const { text, tokens } = statement;
  const [first, last] = [tokens[where + 1], tokens[asOf - 1]];
  if (asOf <= where) throw syntaxErrorAt(statement, tokens.length, "AS OF and a moment");
  if (first === undefined || last === undefined || asOf === where + 1) {
    throw syntaxErrorAt(statement, where + 1, "a condition");
  }
  const parameter = tokens.findIndex((token, i) => i > where && i < asOf && token.kind === "parameter");
  if (parameter !== -1) throw syntaxErrorAt(statement, parameter, "a condition without parameters");
  return text.slice(first.start, last.end);
}

/** As two arguments: the number of a commit, or a time. */
function momentAt(statement: TokenizedStatement, at: number): string {
  const { text, tokens } = statement;
  const [first, second] = [tokens[at], tokens[at + 1]];
  if (first === undefined) throw syntaxErrorAt(statement, at, "a time, or SEQUENCE and the number of a commit");
  if (!isWord(first, "sequence")) return `NULL, (${text.slice(first.start, tokens.at(-1)!.end)})::timestamptz`;
  if (second === undefined || tokens.length > at + 2) throw syntaxErrorAt(statement, at + 1, "the number of a commit");
  return `(${second.text})::int8, NULL`;
}
