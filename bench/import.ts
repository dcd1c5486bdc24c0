/**
 * Import of one file over HTTP: rows a second through /v1/data/import/{csv,ndjson} and through fastify with
 * better-sqlite3, both streamed, in one transaction that is on disk before the answer; and how long another tenant's
 * point reads take meanwhile. ROWS (default 1,000,000).
 */
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { post, type Running, send, startPeer, startTessera } from "./servers.js";

const PIECE_CHARS = 64 * 1024;
const COLUMNS = "id integer PRIMARY KEY, name text, x double precision, at timestamp, ok boolean";
/** With what keeps rows from being stored as they come. */
const DEMANDING = `${COLUMNS}, CHECK (x >= 0), UNIQUE (name)`;
const TYPES = { csv: "text/csv", ndjson: "application/x-ndjson" } as const;
type Format = keyof typeof TYPES;

export async function importFiles(rounds: number): Promise<void> {
  const rows = Number(process.env.ROWS ?? 1_000_000);
  const server = await startTessera({ TESSERA_ACTORS: "1" });
  const peer = await startPeer();
  try {
    for (const format of ["csv", "ndjson"] as const) {
      const pieces = fileOf(format, rows);
      const ours: number[] = [];
      const demanding: number[] = [];
      const theirs: number[] = [];
      const waits: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const table = `bulk_${format}_${round}`;
        await post(`${server.url}/v1/query/execute`, { sql: `CREATE TABLE ${table} (${COLUMNS})` }, server.token);
        const pings = ping(server);
        ours.push(await load(server, `/v1/data/import/${format}?table=${table}`, format, pieces, rows));
        waits.push(...(await pings.stop()));
        await post(`${server.url}/v1/query/execute`, { sql: `DROP TABLE ${table}` }, server.token);
        await post(`${server.url}/v1/query/execute`, { sql: `CREATE TABLE ${table} (${DEMANDING})` }, server.token);
        demanding.push(await load(server, `/v1/data/import/${format}?table=${table}`, format, pieces, rows));
        await post(`${server.url}/v1/query/execute`, { sql: `DROP TABLE ${table}` }, server.token);
        theirs.push(await load(peer, `/import/${format}`, format, pieces, rows));
      }
      print(format, rows, { ours, demanding, theirs, waits }, server, peer);
    }
  } finally {
    await Promise.all([server.stop(), peer.stop()]);
  }
}

function fileOf(format: Format, rows: number): Buffer[] {
  const pieces: Buffer[] = [];
  let text = format === "csv" ? "id,name,x,at,ok\n" : "";
  for (let i = 0; i < rows; i++) {
    const at = `2024-03-01 12:${String(i % 60).padStart(2, "0")}:07.25`;
    text +=
      format === "csv"
        ? `${i},name of row ${i},${i / 4},${at},${i % 2 === 0 ? "f" : "t"}\n`
        : `{"id":${i},"name":"name of row ${i}","x":${i / 4},"at":"${at}","ok":${i % 2 === 1}}\n`;
    if (text.length < PIECE_CHARS) continue;
    pieces.push(Buffer.from(text));
    text = "";
  }
  pieces.push(Buffer.from(text));
  return pieces;
}

/** Sends the file; answers rows a second. */
async function load(
  { url, token }: Running,
  path: string,
  format: Format,
  pieces: readonly Buffer[],
  rows: number,
): Promise<number> {
  const started = performance.now();
  const text = await send({ url, token }, path, TYPES[format], Readable.from(pieces));
  const seconds = (performance.now() - started) / 1000;
  const answer = JSON.parse(text) as { data: { rows: number } };
  if (answer.data.rows !== rows) throw new Error(`${answer.data.rows} rows were stored, not ${rows}`);
  return rows / seconds;
}

/** Small statements one after the other, and how long each took. */
function ping({ url, token }: Running): { stop(): Promise<number[]> } {
  const waits: number[] = [];
  let stopped = false;
  const loop = (async () => {
    while (!stopped) {
      const started = performance.now();
      await post(`${url}/v1/query/execute`, { sql: "SELECT 1" }, token);
      waits.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await loop;
      return waits;
    },
  };
}

function print(
  format: Format,
  rows: number,
  { ours, demanding, theirs, waits }: Record<"ours" | "demanding" | "theirs" | "waits", number[]>,
  server: Running,
  peer: Running,
): void {
  const a = median(ours);
  const b = median(theirs);
  waits.sort((x, y) => x - y);
  const wait = (share: number): string => (waits[Math.floor((waits.length - 1) * share)] ?? 0).toFixed(1);
  console.log(`\nimport of ${rows} rows of five columns, ${format}, durable (median of ${ours.length})`);
  console.log(`  ${server.name.padEnd(26)} ${a.toFixed(0).padStart(10)} rows/s`);
  const checked = median(demanding).toFixed(0).padStart(10);
  console.log(`  ${"… with a CHECK and a UNIQUE".padEnd(26)} ${checked} rows/s`);
  console.log(`  ${peer.name.padEnd(26)} ${b.toFixed(0).padStart(10)} rows/s`);
  console.log(
    `  ratio ${(a / b).toFixed(2)}; small statements meanwhile: p50 ${wait(0.5)} ms, p99 ${wait(0.99)}, max ${wait(1)}`,
  );
  console.log(`  memory of ${server.name} at its peak: ${peakMegabytes(server)} MB`);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

function peakMegabytes({ pid }: Running): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024);
}
