/**
 * Relations of pg_catalog in which users see what is their own of the tables that features keep. Features add theirs
 * when the process starts. Only a statement that its user sends may name one: in a function, trigger, view,
 * rule, policy or recipe that somebody else made, it could carry the rows away.
 */
import { sqlError } from "../../../protocol/errors.js";
import type { TableFunction } from "../../../query/expr/table-function.js";
import type { Binding } from "../binding.js";

const relations = new Map<string, TableFunction>();

export function registerOwnRelation(rows: TableFunction): void {
  relations.set(rows.name, rows);
}

/** A call of it gives the rows; null: there is no such relation. Throws 42501. */
export function findOwnRelation(schema: string, name: string, binding: Binding): TableFunction | null {
  const rows = schema === "pg_catalog" ? (relations.get(name) ?? null) : null;
  if (rows === null || binding.isSent) return rows;
  throw notSent(name);
}

export function notSent(name: string): Error {
  return sqlError("42501", `permission denied for relation ${name}: only a statement that its user sends may name it`);
}
