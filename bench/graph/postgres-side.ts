/** PostgreSQL of this machine, reached over a unix socket through pg, with prepared statements. */
import { createRequire } from "node:module";
import { postgresBinaries, startPostgres } from "../contenders/postgres-cluster.js";
import { pairsOf } from "./data.js";
import { GRAPH_PEERS, type Side } from "./side.js";
import { INDEXES, pageRankSteps, SCHEMA, SQL } from "./sql-questions.js";

interface Client {
  connect(): Promise<void>;
  query(text: string | object): Promise<{ readonly rows: readonly (readonly unknown[])[] }>;
  end(): Promise<void>;
}

const EDGES_PER_INSERT = 10_000;

/** Null when it is not installed, or the client is not. */
export async function postgresSide(): Promise<Side | null> {
  const binaries = postgresBinaries();
  let clients: { readonly Client: new (options: object) => Client };
  try {
    clients = createRequire(GRAPH_PEERS)("pg");
  } catch {
    return null;
  }
  if (binaries === null) return null;
  const cluster = await startPostgres(binaries, { shared_buffers: "512MB", work_mem: "64MB" });
  const client = new clients.Client({ host: cluster.directory, user: "bench", database: "postgres" });
  await client.connect();
  const version = (await client.query({ text: "SHOW server_version", rowMode: "array" })).rows[0]![0];
  const { steps, answer } = pageRankSteps("double precision");
  const numbers = async (query: object): Promise<number[]> => {
    const { rows } = await client.query({ ...query, rowMode: "array" });
    return rows.flat().map(Number);
  };
  return {
    name: "postgresql",
    version: String(version),
    load: async (data) => {
      await client.query(SCHEMA);
      await client.query(`INSERT INTO n SELECT generate_series(1, ${data.nodes})`);
      for (let first = 0; first < data.from.length; first += EDGES_PER_INSERT) {
        const rows = pairsOf(data, first, EDGES_PER_INSERT).map(([a, b]) => `(${a},${b})`);
        await client.query(`INSERT INTO e VALUES ${rows.join(",")}`);
      }
      await client.query(INDEXES);
      await client.query("VACUUM ANALYZE");
    },
    ask: async (question, at) => {
      if (question === "PageRank, 20 iterations") {
        for (const step of steps) await client.query(step);
        return numbers({ text: answer });
      }
      const text = SQL[question];
      return text === undefined ? null : numbers({ name: question, text, values: at });
    },
    stop: async () => {
      await client.end();
      await cluster.stop();
    },
  };
}
