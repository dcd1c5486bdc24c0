/** DuckDB for bench/growth. */
import { join } from "node:path";
import { DuckDbProcess } from "../contenders/duckdb-process.js";
import { removeDirectory, temporaryDirectory } from "../servers.js";
import type { GrowthSide } from "./side.js";

export async function duckDbSide(threads: number): Promise<GrowthSide> {
  const folder = temporaryDirectory("duckdb");
  const open = (): Promise<DuckDbProcess> => DuckDbProcess.start(join(folder, "growth.duckdb"), threads);
  let running = await open();
  return {
    id: `duckdb-${threads}`,
    name: `DuckDB, ${threads} thread${threads === 1 ? "" : "s"}`,
    version: running.version,
    folder,
    get roots() {
      return [running.pid];
    },
    start: async (question) => {
      const started = performance.now();
      running = await open();
      const { rows } = await running.query(question);
      return { rows, milliseconds: performance.now() - started };
    },
    end: (how) => running.end(how),
    importCsv: async (file) => (await running.query(`COPY t FROM '${file}' (FORMAT csv, HEADER true)`)).milliseconds,
    query: (sql) => running.query(sql),
    stop: async () => {
      await running.end("kill");
      removeDirectory(folder);
    },
  };
}
