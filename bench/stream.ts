/**
 * A table streamed over the WebSocket: ROWS (1,000,000) of six columns as JSON and as MessagePack by columns: rows and
 * MiB a second, of the clock and of the server's CPU, and the server's memory, with a reader that keeps up and one that
 * does not.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { SocketReader } from "./load/socket-reader.js";
import { memoryOf } from "./processes.js";
import { post, type Running, startTessera } from "./servers.js";

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const MIB = 1024 * 1024;
const STALL_MS = 5000;

export async function stream(rounds: number): Promise<void> {
  const server = await startTessera({ TESSERA_ACTORS: "1", TESSERA_WEBSOCKET_READ_TIMEOUT: "60" });
  const sql = (text: string) => post(`${server.url}/v1/query/execute`, { sql: text }, server.token);
  await sql(
    "CREATE TABLE stream (id integer PRIMARY KEY, big bigint, price double precision, ok boolean, name text, at timestamptz)",
  );
  for (let from = 1; from <= ROWS; from += 100_000) {
    const to = Math.min(ROWS, from + 99_999);
    await sql(
      `INSERT INTO stream SELECT i, i::bigint * 1000003, i / 7.0, i % 2 = 0, 'name ' || i, timestamptz '2026-01-01' + i * interval '1 s' FROM generate_series(${from}, ${to}) i`,
    );
  }
  console.log(`${ROWS} rows of 6 columns over the WebSocket`);
  for (const format of ["json", "msgpack"]) {
    for (let round = 0; round < rounds; round++) await fast(server, format);
  }
  for (const format of ["json", "msgpack"]) await stalled(server, format);
  await server.stop();
}

async function begin(server: Running, format: string): Promise<SocketReader> {
  const reader = await SocketReader.open(server.url, server.token, format === "msgpack" ? "msgpack" : "");
  reader.send({ type: "sql.execute.stream", id: 1, sql: "SELECT * FROM stream", max_rows: ROWS });
  return reader;
}

/** Resolves with the last message, which is the only one that says so. */
function ended(reader: SocketReader): Promise<void> {
  return new Promise((resolve) => {
    reader.onMessage = (payload) => {
      if (payload.length < 400 && payload.includes("sql.done")) resolve();
    };
  });
}

async function fast(server: Running, format: string): Promise<void> {
  const before = memoryOf(server.roots);
  const cpu = server.cpuSeconds();
  const started = performance.now();
  const reader = await begin(server, format);
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, memoryOf(server.roots));
  }, 50);
  await ended(reader);
  clearInterval(watch);
  const seconds = (performance.now() - started) / 1000;
  const used = server.cpuSeconds() - cpu;
  const mib = reader.bytes / MIB;
  reader.destroy();
  const rate = `${Math.round(ROWS / seconds)} rows/s, ${(mib / seconds).toFixed(1)} MiB/s (${mib.toFixed(1)} MiB)`;
  const perCpu = `${Math.round(ROWS / used)} rows per CPU second`;
  console.log(`${format.padEnd(8)} ${rate}, ${perCpu}, memory +${Math.round((peak - before) / MIB)} MiB`);
}

async function stalled(server: Running, format: string): Promise<void> {
  const before = memoryOf(server.roots);
  const reader = await begin(server, format);
  reader.pause();
  await sleep(STALL_MS);
  const grown = Math.round((memoryOf(server.roots) - before) / MIB);
  const end = ended(reader);
  reader.resume();
  await end;
  reader.destroy();
  console.log(`${format.padEnd(8)} a reader that stalls for ${STALL_MS / 1000} s: memory +${grown} MiB, then all rows`);
}
