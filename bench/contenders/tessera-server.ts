/**
 * A server of Tessera with a data directory of its own that can be ended and started again, with the default
 * configuration: no limit is raised but those of time, for many rows. Asked over HTTP, as the tenant of the
 * installation.
 */
import type { ChildProcess } from "node:child_process";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { adminToken, endChild, launchTessera, removeDirectory, send, temporaryDirectory } from "../servers.js";
import type { Answer, Cell } from "../tpch/side.js";

const SECONDS_MAX = "86400";
/** One actor, as two cores have by default, so that tenants are neighbours. */
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

export class TesseraServer {
  private constructor(
    readonly folder: string,
    private running: { readonly child: ChildProcess; readonly url: string },
    readonly token: string,
  ) {}

  /** On an empty directory. */
  static async start(): Promise<TesseraServer> {
    const folder = temporaryDirectory("tessera");
    const running = await launchTessera(folder, ENVIRONMENT);
    return new TesseraServer(folder, running, await adminToken(running.url));
  }

  get url(): string {
    return this.running.url;
  }

  get pid(): number {
    return this.running.child.pid!;
  }

  /** Starts it again and asks; the time is from the start of the process to the answer. */
  async startAndAsk(question: string): Promise<Answer> {
    const started = performance.now();
    this.running = await launchTessera(this.folder, ENVIRONMENT);
    const { rows } = await this.askUntilReady(question);
    return { rows, milliseconds: performance.now() - started };
  }

  end(how: "clean" | "kill"): Promise<void> {
    return endChild(this.running.child, how === "clean" ? "SIGTERM" : "SIGKILL");
  }

  /** Ends it and removes its data. */
  async stop(): Promise<void> {
    await this.end("kill");
    removeDirectory(this.folder);
  }

  async ask(sql: string): Promise<Answer> {
    const body = JSON.stringify({ sql, max_rows: ROWS_MAX });
    const started = performance.now();
    const text = await send(this, "/v1/query/execute", "application/json", Readable.from([body]));
    const milliseconds = performance.now() - started;
    return { milliseconds, rows: (JSON.parse(text) as Reply).data.rows.map((row) => row.map(asCell)) };
  }

  /** Answers the time. */
  async importCsv(table: string, file: string, header: boolean): Promise<number> {
    const started = performance.now();
    const path = `/v1/data/import/csv?table=${table}&header=${header}`;
    await send(this, path, "text/csv", createReadStream(file));
    return performance.now() - started;
  }

  /** A server may listen before it can answer: it says 503 then. */
  private async askUntilReady(question: string): Promise<Answer> {
    for (;;) {
      try {
        return await this.ask(question);
      } catch (error) {
        const { child } = this.running;
        if (child.exitCode !== null || !(error as Error).message.includes("answered 503")) throw error;
        await sleep(PAUSE_MS);
      }
    }
  }
}

/** Timestamps as the others write them. */
function asCell(value: string | number | boolean | null): Cell {
  return value === null ? null : String(value).replace(/^(\d{4}-\d\d-\d\d)T(?=\d\d:)/, "$1 ");
}
