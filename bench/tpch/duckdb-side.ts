/** DuckDB with one thread, filled from CSV. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DuckDbProcess } from "../contenders/duckdb-process.js";
import { removeDirectory, temporaryDirectory } from "../servers.js";
import { generate, TABLES } from "./generate.js";
import { writeCsv } from "./postgres-side.js";
import type { TpchSide } from "./side.js";

const THREADS = 1;

export async function duckDbSide(schema: string): Promise<TpchSide> {
  const folder = temporaryDirectory("tpch-duckdb");
  const open = (): Promise<DuckDbProcess> => DuckDbProcess.start(join(folder, "tpch.duckdb"), THREADS);
  let running = await open();
  return {
    name: "duckdb",
    load: async (scale) => {
      await running.query(schema);
      for (const table of TABLES) {
        const file = join(folder, `${table}.csv`);
        writeCsv(file, (emit) => generate(table, scale, emit));
        await running.query(`COPY ${table} FROM '${file}' (FORMAT csv, HEADER false)`);
        rmSync(file);
      }
      await running.query("ANALYZE");
    },
    query: (sql) => running.query(sql),
    restart: async () => {
      await running.end("clean");
      running = await open();
    },
    stop: async () => {
      await running.end("kill");
      removeDirectory(folder);
    },
  };
}
