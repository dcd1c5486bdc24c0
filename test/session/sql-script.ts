/** Runs SQL in process for tests of definitions and constraints: rows as text, errors as their SQLSTATE and message. */
import type { Test } from "tap";
import { open } from "../conformance/sql-adapter.js";

export interface Script {
  /** Rows as PostgreSQL prints them, columns by `|`. */
  rows(sql: string): Promise<string[]>;
  /** `23505 duplicate key value …` of a statement that must fail. */
  fails(sql: string): Promise<string>;
  /** Statements that must not fail. */
  run(...statements: string[]): Promise<void>;
}

export async function script(t: Test): Promise<Script> {
  const database = await open();
  t.teardown(() => database.close());
  return {
    async rows(sql) {
      const { rows } = await database.exec(sql);
      return rows.map((row) => row.map((value) => value ?? "∅").join("|"));
    },
    async fails(sql) {
      try {
        await database.exec(sql);
      } catch (error) {
        const { code, message } = error as Error & { code: string };
        return `${code} ${message}`;
      }
      throw new Error(`did not fail: ${sql}`);
    },
    async run(...statements) {
      for (const sql of statements) await database.exec(sql);
    },
  };
}
