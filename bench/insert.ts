/** Durable inserts of one row a request (fsync before the reply on both sides), 64 connections. */
import { compare } from "./compare.js";
import { post, startPeer, startTessera } from "./servers.js";

const KEYS_PER_ROUND = 10_000_000;

export async function insert(rounds: number, seconds: number): Promise<void> {
  const server = await startTessera();
  const peer = await startPeer();
  try {
    const sql = "CREATE TABLE accounts (id integer PRIMARY KEY, name text NOT NULL, balance integer NOT NULL)";
    await post(`${server.url}/v1/query/execute`, { sql }, server.token);
    await compare({
      title: "durable insert of one row, 64 connections",
      server,
      peer,
      rounds,
      load: (side, round) => ({
        path: side === "sql" ? "/v1/query/execute" : "/insert",
        script: "insert.lua",
        arguments: [side, String(round * KEYS_PER_ROUND)],
        connections: 64,
        seconds,
      }),
    });
  } finally {
    await Promise.all([server.stop(), peer.stop()]);
  }
}
