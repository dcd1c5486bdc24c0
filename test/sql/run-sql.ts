/**
 * Statements run end to end on an empty database in memory: rows as PostgreSQL's text, or the error with its SQLSTATE.
 */
import type { Test } from "tap";
import { open } from "../conformance/sql-adapter.js";

/**
 * A statement, and its rows as `a|b` lines (NULL is ∅) or its error as "SQLSTATE message"; without either it must run.
 */
export type Case = readonly [sql: string, expected?: readonly string[] | string];

export async function checkStatements(t: Test, cases: readonly Case[]): Promise<void> {
  const database = await open();
  for (const [sql, expected] of cases) {
    const outcome = await database.exec(sql).then(
      ({ rows }) => rows.map((row) => row.map((value) => value ?? "∅").join("|")),
      (error: Error & { code: string }) => `${error.code} ${error.message}`,
    );
    if (expected !== undefined) t.same(outcome, expected, sql);
    else t.not(typeof outcome, "string", `${sql}: ${outcome}`);
  }
  await database.close();
}
