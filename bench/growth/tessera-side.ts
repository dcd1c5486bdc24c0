/** Tessera for bench/growth: a server with its default configuration, asked over HTTP, and a neighbour on its actor. */
import type { ChildProcess } from "node:child_process";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { measuredVersion } from "../contenders/contenders.js";
import { adminToken, endChild, launchTessera, removeDirectory, send, temporaryDirectory } from "../servers.js";
import type { Answer, Cell } from "../tpch/side.js";
import { NeighbourReads } from "./neighbour-reads.js";
import type { GrowthSide } from "./side.js";

const SECONDS_MAX = "86400";
/**
 * One actor, as two cores have by default, so that the neighbour shares it. No limit is raised but those of time, for many
 * rows.
 */
const ENVIRONMENT = {
  TESSERA_ACTORS: "1",
  TESSERA_QUERY_TIMEOUT_SECONDS: SECONDS_MAX,
  TESSERA_SERVER_REQUEST_TIMEOUT: SECONDS_MAX,
  TESSERA_SERVER_LONG_REQUEST_TIMEOUT: SECONDS_MAX,
  TESSERA_AUTH_TOKEN_LIFETIME_SECONDS: SECONDS_MAX,
};
const ROWS_MAX = 100_000;
const PAUSE_MS = 2;

interface Reply {
  readonly data: { readonly rows: readonly (readonly (string | number | boolean | null)[])[] };
}

export async function tesseraSide(): Promise<GrowthSide> {
  const folder = temporaryDirectory("growth");
  const beside = temporaryDirectory("growth-neighbour");
  let server = await launchTessera(folder, ENVIRONMENT);
  const token = await adminToken(server.url);
  const reads = await NeighbourReads.prepare({ url: server.url, token }, beside);
  const query = (sql: string): Promise<Answer> => ask({ url: server.url, token }, sql);
  return {
    id: "tessera",
    name: "Tessera",
    version: measuredVersion(),
    folder,
    get roots() {
      return [server.child.pid!];
    },
    start: async (question) => {
      const started = performance.now();
      server = await launchTessera(folder, ENVIRONMENT);
      const { rows } = await askUntilReady(server, () => query(question));
      return { rows, milliseconds: performance.now() - started };
    },
    end: (how) => endChild(server.child, how === "clean" ? "SIGTERM" : "SIGKILL"),
    importCsv: async (file, rows) => {
      const started = performance.now();
      const path = "/v1/data/import/csv?table=t";
      const text = await send({ url: server.url, token }, path, "text/csv", createReadStream(file));
      const milliseconds = performance.now() - started;
      const stored = (JSON.parse(text) as { data: { rows: number } }).data.rows;
      if (stored !== rows) throw new Error(`${stored} rows were stored, not ${rows}`);
      return milliseconds;
    },
    query,
    neighbour: { begin: () => reads.begin(server.url), end: () => reads.end() },
    stop: async () => {
      await endChild(server.child, "SIGKILL");
      removeDirectory(folder);
      removeDirectory(beside);
    },
  };
}

async function ask(server: { readonly url: string; readonly token: string }, sql: string): Promise<Answer> {
  const body = JSON.stringify({ sql, max_rows: ROWS_MAX });
  const started = performance.now();
  const text = await send(server, "/v1/query/execute", "application/json", Readable.from([body]));
  const milliseconds = performance.now() - started;
  return { milliseconds, rows: (JSON.parse(text) as Reply).data.rows.map((row) => row.map(asCell)) };
}

/** Timestamps as the others write them. */
function asCell(value: string | number | boolean | null): Cell {
  return value === null ? null : String(value).replace(/^(\d{4}-\d\d-\d\d)T(?=\d\d:)/, "$1 ");
}

/** A server may listen before it can answer: it says 503 then. */
async function askUntilReady({ child }: { readonly child: ChildProcess }, question: () => Promise<Answer>) {
  for (;;) {
    try {
      return await question();
    } catch (error) {
      if (child.exitCode !== null || !(error as Error).message.includes("answered 503")) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
