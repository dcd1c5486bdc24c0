/**
 * SQLite in this process, through better-sqlite3 of bench/peers: a file in a temporary folder, indexed and analyzed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate, type Row, TABLES } from "./generate.js";
import type { Cell, TpchSide } from "./side.js";

interface Statement {
  /** It gives rows. */
  readonly reader: boolean;
  run(...params: unknown[]): void;
  raw(): { all(): unknown[][] };
}

interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

const PEERS = new URL("../../../bench/peers/package.json", import.meta.url);

/** Null when better-sqlite3 is not installed (`make bench` installs it). */
export function sqliteSide(schema: string, indexes: string): TpchSide | null {
  let open: new (path: string) => Database;
  try {
    open = createRequire(PEERS)("better-sqlite3");
  } catch {
    return null;
  }
  const directory = mkdtempSync(join(tmpdir(), "tessera-tpch-sqlite-"));
  const connect = (): Database => {
    const made = new open(join(directory, "tpch.db"));
    made.exec("PRAGMA journal_mode = WAL; PRAGMA cache_size = -524288");
    return made;
  };
  let database = connect();
  return {
    name: "sqlite",
    load: async (scale) => {
      database.exec(schema);
      for (const table of TABLES) {
        database.exec("BEGIN");
        let insert: Statement | null = null;
        generate(table, scale, (row: Row) => {
          insert ??= database.prepare(`INSERT INTO ${table} VALUES (${row.map(() => "?").join(",")})`);
          insert.run(...row);
        });
        database.exec("COMMIT");
      }
      database.exec(indexes);
      database.exec("ANALYZE");
    },
    query: async (sql) => {
      const text = inSqlite(sql);
      const started = performance.now();
      const statement = database.prepare(text);
      const rows = statement.reader ? statement.raw().all() : [];
      if (!statement.reader) statement.run();
      const milliseconds = performance.now() - started;
      return { milliseconds, rows: rows.map((row) => row.map((cell): Cell => (cell === null ? null : String(cell)))) };
    },
    restart: async () => {
      database.close();
      database = connect();
    },
    stop: async () => {
      database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The query in SQLite's dialect: dates are texts there, and column names of a derived table stand inside it. */
function inSqlite(sql: string): string {
  return sql
    .replace(/CAST\(('[\d-]+') AS date\)/gi, "$1")
    .replace(/\bdate ('[\d-]+')/gi, "$1")
    .replace(/extract\(year FROM (\w+)\)/gi, "CAST(strftime('%Y', $1) AS INTEGER)")
    .replace(/substring\((\w+) FROM (\d+) FOR (\d+)\)/gi, "substr($1, $2, $3)")
    .replace(/count\(o_orderkey\)/i, "count(o_orderkey) AS c_count")
    .replace(/AS c_orders \(c_custkey,\s*c_count\)/i, "AS c_orders");
}
