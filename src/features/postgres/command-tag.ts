/** The tag with which CommandComplete says what a statement did: `INSERT 0 3`. */
import type { Outcome } from "../../session/sql-result.js";
import type { BoundStatement } from "../../sql/bind/bound-statement.js";

export function commandTag(
  { command, rowsAffected, rowsFilled, executed }: Outcome,
  rows: number,
  bound: BoundStatement | null,
): string {
  if (rowsFilled !== undefined) return `SELECT ${rowsFilled}`;
  if (bound === null) return command ?? `SELECT ${rows}`;
  switch (bound.kind) {
    case "query":
      return queryTag(bound.command, rowsAffected, rows);
    case "explain":
    case "explain execute":
      return "EXPLAIN";
    case "show":
      return "SHOW";
    case "fetch":
      return bound.isMove ? `MOVE ${rowsAffected ?? rows}` : `FETCH ${rows}`;
    case "call":
      return "CALL";
    case "execute":
      return queryTag(executed ?? "select", rowsAffected, rows);
    case "transaction":
      return bound.isStart ? "START TRANSACTION" : command!;
    default:
      return command ?? `SELECT ${rows}`;
  }
}

function queryTag(command: string, rowsAffected: number | null, rows: number): string {
  switch (command) {
    case "insert":
      return `INSERT 0 ${rowsAffected ?? rows}`;
    case "update":
    case "delete":
    case "merge":
      return `${command.toUpperCase()} ${rowsAffected ?? rows}`;
    default:
      return `SELECT ${rows}`;
  }
}
