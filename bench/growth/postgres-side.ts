/** PostgreSQL for bench/growth, asked by one psql over a unix socket. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { startPostgres } from "../contenders/postgres-cluster.js";
import { POSTGRES_MEMORY, Psql } from "../tpch/postgres-side.js";
import type { GrowthSide } from "./side.js";

export async function postgresSide(binaries: string): Promise<GrowthSide> {
  const cluster = await startPostgres(binaries, POSTGRES_MEMORY);
  const connect = (): Psql => new Psql(join(binaries, "psql"), cluster.directory);
  let client = connect();
  return {
    id: "postgres",
    name: "PostgreSQL",
    version: execFileSync(join(binaries, "postgres"), ["--version"], { encoding: "utf8" }).trim(),
    folder: cluster.directory,
    get roots() {
      return [cluster.pid];
    },
    start: async (question) => {
      const started = performance.now();
      await cluster.begin();
      client = connect();
      const { rows } = await client.run(`${question};`);
      return { rows, milliseconds: performance.now() - started };
    },
    end: async (how) => {
      await cluster.end(how === "clean" ? "SIGINT" : "SIGKILL");
      client.close();
    },
    importCsv: async (file) => (await client.run(`COPY t FROM '${file}' (FORMAT csv, HEADER true);`)).milliseconds,
    query: (sql) => client.run(`${sql};`),
    stop: async () => {
      await cluster.stop();
      client.close();
    },
  };
}
