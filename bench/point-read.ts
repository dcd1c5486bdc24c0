/** Reads of one row by primary key, 64 connections, JSON with a JWT, against fastify + better-sqlite3. */
import { compare } from "./compare.js";
import { post, startPeer, startTessera } from "./servers.js";

const ROWS = 10_000;

export async function pointRead(rounds: number, seconds: number): Promise<void> {
  const server = await startTessera();
  const peer = await startPeer();
  try {
    const execute = (sql: string): Promise<unknown> => post(`${server.url}/v1/query/execute`, { sql }, server.token);
    await execute("CREATE TABLE accounts (id integer PRIMARY KEY, name text NOT NULL, balance integer NOT NULL)");
    for (let from = 1; from <= ROWS; from += 1000) {
      const rows = Array.from({ length: 1000 }, (_, i) => `(${from + i}, 'name of ${from + i}', ${(from + i) % 1000})`);
      await execute(`INSERT INTO accounts VALUES ${rows.join(", ")}`);
    }
    for (let id = 1; id <= ROWS; id++) {
      await post(`${peer.url}/insert`, { id, name: `name of ${id}`, balance: id % 1000 }, peer.token);
    }
    await compare({
      title: "point read by key, 64 connections",
      server,
      peer,
      rounds,
      load: (side) => ({
        path: side === "sql" ? "/v1/query/execute" : "/read",
        script: "point-read.lua",
        arguments: [side, String(ROWS)],
        connections: 64,
        seconds,
      }),
    });
  } finally {
    await Promise.all([server.stop(), peer.stop()]);
  }
}
