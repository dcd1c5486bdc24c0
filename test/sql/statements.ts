/** Statements of tests through a session, and what comes of them. */
import type { open } from "../conformance/sql-adapter.js";

export type Database = Awaited<ReturnType<typeof open>>;

export const rows = async (database: Database, sql: string): Promise<string[]> =>
  (await database.exec(sql)).rows.map((row) => row.join("|"));

/** The code and message of its error; "none" where there is none. */
export const failure = (database: Database, sql: string): Promise<string> =>
  database.exec(sql).then(
    () => "none",
    (error) => `${(error as { code: string }).code} ${(error as Error).message}`,
  );
