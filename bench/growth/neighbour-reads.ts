/**
 * Point reads of another tenant on the same actor, an open loop in a process of its own that runs through all steps.
 * Each step is charged with the reads that were due in it.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { loadAccounts, ROWS, tenantToken } from "../fairness.js";
import type { ClientLoad, ClientResult, Sample } from "../load/client.js";
import { jsonRequest, writeRequests } from "../load/requests.js";
import { type Running, startChild } from "../servers.js";
import { sortedQuantile } from "../statistics.js";

const REQUESTS = 1000;
const CONNECTIONS = 32;
/** It is ended before. */
const SECONDS_MAX = 86_400;

export interface Waits {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Of the requests that were due in a span of time, in milliseconds since 1970. Null: none was. */
export function waitsBetween(samples: readonly Sample[], fromMs: number, toMs: number): Waits | null {
  const within = samples.filter(([due]) => due >= fromMs && due <= toMs).map(([, latency]) => latency);
  if (within.length === 0) return null;
  within.sort((a, b) => a - b);
  const quantile = (share: number): number => sortedQuantile(within, share)!;
  return { requests: within.length, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: within.at(-1)! };
}

export class NeighbourReads {
  private child: ChildProcess | null = null;
  private text = "";

  private constructor(
    private readonly token: string,
    private readonly file: string,
    private readonly perSecond: number,
  ) {}

  /** Makes the tenant and its table. */
  static async prepare(server: Pick<Running, "url" | "token">, folder: string): Promise<NeighbourReads> {
    const token = await tenantToken(server, "neighbour");
    await loadAccounts({ url: server.url, token });
    return new NeighbourReads(token, join(folder, "neighbour-reads"), Number(process.env.RATE ?? 200));
  }

  /** Begins to read; answers when the first request is due. */
  async begin(url: string): Promise<void> {
    const requests = Array.from({ length: REQUESTS }, (_, i) => {
      const sql = "SELECT id, name, balance FROM accounts WHERE id = $1";
      const parameters = [1 + ((i * 7919) % ROWS)];
      return jsonRequest("/v1/query/execute", this.token, JSON.stringify({ sql, parameters }));
    });
    writeRequests(this.file, url, requests, true);
    const { hostname: host, port } = new URL(url);
    const load: ClientLoad = {
      ...{ host, port: Number(port), file: this.file, firstKey: 0, connections: CONNECTIONS, keepAlive: true },
      ...{ seconds: SECONDS_MAX, requestsPerSecond: this.perSecond, samples: true },
    };
    const script = new URL("../load/client.js", import.meta.url).pathname;
    const child = startChild(process.execPath, [script, JSON.stringify(load)], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    this.text = "";
    child.stdout!.on("data", (data: Buffer) => {
      this.text += data.toString();
    });
    this.child = child;
    await Promise.race([
      once(child, "message"),
      once(child, "exit").then(() => {
        throw new Error("the neighbour's client ended before it began");
      }),
    ]);
  }

  /** Sends no more, waits for what is under way, and gives all. */
  async end(): Promise<readonly Sample[]> {
    const child = this.child!;
    this.child = null;
    const closed = once(child, "close");
    child.kill("SIGTERM");
    await closed;
    const { samples, errors } = JSON.parse(this.text) as ClientResult;
    if (errors > 0) console.log(`  the neighbour: ${errors} reads failed`);
    return samples!;
  }
}
