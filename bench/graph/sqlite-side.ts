/** SQLite in this process, through better-sqlite3: a file in a temporary folder, indexed and analyzed. */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GRAPH_PEERS, type Question, type Side } from "./side.js";
import { INDEXES, pageRankSteps, SCHEMA, SQL } from "./sql-questions.js";

interface Statement {
  run(...params: unknown[]): void;
  raw(): { all(...params: unknown[]): unknown[][] };
}

interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** Null when it is not installed. */
export function sqliteSide(): Side | null {
  let open: new (path: string) => Database;
  try {
    open = createRequire(GRAPH_PEERS)("better-sqlite3");
  } catch {
    return null;
  }
  const directory = mkdtempSync(join(tmpdir(), "tessera-graph-sqlite-"));
  const database = new open(join(directory, "graph.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA cache_size = -524288; PRAGMA temp_store = MEMORY");
  const prepared = new Map<Question, Statement>();
  const { steps, answer } = pageRankSteps("real");
  return {
    name: "sqlite",
    version: String(database.prepare("SELECT sqlite_version()").raw().all()[0]![0]),
    load: async ({ nodes, from, to }) => {
      database.exec(`${SCHEMA} BEGIN`);
      const node = database.prepare("INSERT INTO n VALUES (?)");
      for (let id = 1; id <= nodes; id++) node.run(id);
      const edge = database.prepare("INSERT INTO e VALUES (?, ?)");
      for (const [i, id] of from.entries()) edge.run(id, to[i]!);
      database.exec(`COMMIT; ${INDEXES} ANALYZE`);
    },
    ask: async (question, at) => {
      if (question === "PageRank, 20 iterations") {
        for (const step of steps) database.exec(step);
        return database.prepare(answer).raw().all().flat() as number[];
      }
      const sql = SQL[question];
      if (sql === undefined) return null;
      const statement = prepared.get(question) ?? database.prepare(sql.replaceAll(/\$\d/g, "?"));
      prepared.set(question, statement);
      return statement
        .raw()
        .all(...at)
        .flat() as number[];
    },
    stop: async () => {
      database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
