/** Starts the server under test and its peer for a workload, each in a process and a temporary folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Running {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** CPU seconds that the process has used, all threads, user and system. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

const ROOT = new URL("../../", import.meta.url).pathname;
const PASSWORD = "bench-password";

export async function startTessera(environment: Record<string, string> = {}): Promise<Running> {
  const directory = mkdtempSync(join(tmpdir(), "tessera-bench-"));
  // SERVER_MAIN: another build, to be compared with this one.
  const main = process.env.SERVER_MAIN ?? join(ROOT, "dist/src/main.js");
  const child = spawn(process.execPath, [main, "serve"], {
    env: {
      ...process.env,
      TESSERA_PORT: "0",
      TESSERA_DATA_DIR: directory,
      TESSERA_ADMIN_PASSWORD: PASSWORD,
      TESSERA_RATE_LIMIT_PER_SECOND: "0",
      TESSERA_SERVER_LOG_LEVEL: "warn",
      ...environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await firstMatch(child, /^listening on (http:\S+)$/);
  const answer = await post(`${url}/v1/auth/login`, { username: "admin", password: PASSWORD }, null);
  return running("tessera", child, url, answer.access_token as string, directory);
}

export async function startPeer(): Promise<Running> {
  const folder = join(ROOT, "bench/peers");
  if (!existsSync(join(folder, "node_modules/better-sqlite3"))) {
    throw new Error("The peer is not installed: run `npm ci --prefix bench/peers` first (make bench does).");
  }
  const directory = mkdtempSync(join(tmpdir(), "tessera-bench-peer-"));
  const child = spawn(process.execPath, [join(folder, "fastify-sqlite.mjs"), directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await firstMatch(child, /^(\{.*\})$/);
  const { port, token } = JSON.parse(line) as { port: number; token: string };
  return running("fastify + better-sqlite3", child, `http://127.0.0.1:${port}`, token, directory);
}

/** The first group of the first line that matches. */
function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const match = pattern.exec(line);
      if (match !== null) resolve(match[1]!);
    });
    child.on("exit", (code) => reject(new Error(`the server ended with code ${code} before it listened`)));
  });
}

function running(name: string, child: ChildProcess, url: string, token: string, directory: string): Running {
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  return {
    name,
    url,
    token,
    pid: child.pid!,
    cpuSeconds: () => cpuSecondsOf(child.pid!),
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Fields 14 and 15 of /proc/PID/stat, in ticks of 1/100 s. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** POSTs JSON and gives the answer; throws what is not 2xx. */
export async function post(url: string, body: unknown, token: string | null): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
