/**
 * Starts servers for the workloads, each in processes and a temporary folder of its own, and ends them: Tessera, and
 * the peers of bench/peers. Whatever still runs when this process ends is ended with it.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { cpuSecondsOf } from "./processes.js";

export interface Running {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** Of which all its other processes are descendants. */
  readonly roots: readonly number[];
  /** CPU seconds that all its processes have used, user and system. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

export interface RunningPeer extends Running {
  readonly versions: Readonly<Record<string, string>>;
  readonly durability: string;
}

export const ROOT = new URL("../../", import.meta.url).pathname;
export const PEERS_FOLDER = join(ROOT, "bench/peers");
export const PASSWORD = "bench-password";

/** Requests a second and tenant: the limiter works, but nobody reaches it. */
const RATE_LIMIT = "10000000";

const children = new Set<ChildProcess>();
const directories = new Set<string>();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

/** A folder that is removed when the process ends, or before by `removeDirectory`. Other accounts may enter it. */
export function temporaryDirectory(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `tessera-bench-${name}-`));
  chmodSync(directory, 0o755);
  directories.add(directory);
  return directory;
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  directories.delete(directory);
}

export function startChild(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options);
  children.add(child);
  child.on("exit", () => children.delete(child));
  return child;
}

/** Ends the child by the signal and waits for it. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  child.kill(signal);
  await ended;
}

export async function startTessera(environment: Record<string, string> = {}): Promise<Running> {
  const directory = temporaryDirectory("tessera");
  const { child, url } = await launchTessera(directory, environment);
  return running("Tessera", child, url, await adminToken(url), directory);
}

/** A server on that data directory, as soon as it listens. `flags` of `tessera serve`. */
export async function launchTessera(
  directory: string,
  environment: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<{ child: ChildProcess; url: string }> {
  const child = startChild(serverProgram(), ["serve", ...flags], {
    env: {
      ...process.env,
      // SERVER_FLAGS: options of node, such as --trace-gc.
      TESSERA_NODE_FLAGS: process.env.SERVER_FLAGS ?? "",
      TESSERA_PORT: "0",
      TESSERA_DATA_DIR: directory,
      TESSERA_ADMIN_PASSWORD: PASSWORD,
      TESSERA_RATE_LIMIT_PER_SECOND: RATE_LIMIT,
      TESSERA_SERVER_LOG_LEVEL: process.env.SERVER_LOG_LEVEL ?? "warn",
      ...environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  // SERVER_LOG: a file for what the server prints, such as its log or what --trace-gc tells.
  const log = process.env.SERVER_LOG;
  if (log !== undefined) child.stdout?.on("data", (data: Buffer) => appendFileSync(log, data));
  return { child, url: await firstMatch(child, "stdout", /^listening on (http:\S+)$/) };
}

/** SERVER_PROGRAM: another build, to be compared with this one. */
export function serverProgram(): string {
  return process.env.SERVER_PROGRAM ?? join(ROOT, "bin/tessera");
}

export async function adminToken(url: string): Promise<string> {
  const answer = await post(`${url}/v1/auth/login`, { username: "admin", password: PASSWORD }, null);
  return answer.access_token as string;
}

/** `store` is a file of the folder's stores; `environment` is added to the process's. */
export async function startPeer(
  store = "sqlite",
  name = "fastify + better-sqlite3",
  environment: Record<string, string> = {},
  folder = PEERS_FOLDER,
): Promise<RunningPeer> {
  if (!existsSync(join(folder, "node_modules/fastify"))) {
    throw new Error(`the peers are not installed: run \`npm ci --prefix ${relative(ROOT, folder)}\` (make bench does)`);
  }
  const directory = temporaryDirectory(store);
  const child = startChild(process.execPath, [join(folder, "server.mjs"), store, directory], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await firstMatch(child, "stdout", /^(\{"port".*\})$/);
  const { port, token, versions, durability } = JSON.parse(line) as {
    port: number;
    token: string;
    versions: Record<string, string>;
    durability: string;
  };
  return { ...running(name, child, `http://127.0.0.1:${port}`, token, directory), versions, durability };
}

/** The first group of the first line that matches. */
export function firstMatch(child: ChildProcess, stream: "stdout" | "stderr", pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child[stream]! }).on("line", (line) => {
      const match = pattern.exec(line);
      if (match !== null) resolve(match[1] ?? line);
    });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`the server ended with code ${code} before it listened`)));
  });
}

function running(name: string, child: ChildProcess, url: string, token: string, directory: string): Running {
  const roots = [child.pid!];
  return {
    name,
    url,
    token,
    pid: child.pid!,
    roots,
    cpuSeconds: () => cpuSecondsOf(roots),
    stop: async () => {
      await endChild(child);
      removeDirectory(directory);
    },
  };
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

/** POSTs a body as it is read, however long that and the answer take, and gives the answer; throws what is not 2xx. */
export function send(
  { url, token }: Pick<Running, "url" | "token">,
  path: string,
  type: string,
  body: Readable,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": type };
    const request = http.request(url + path, { method: "POST", headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(pieces).toString();
        if (Math.floor(response.statusCode! / 100) === 2) resolve(text);
        else reject(new Error(`${path} answered ${response.statusCode}: ${text}`));
      });
    });
    request.on("error", reject);
    body.on("error", reject);
    body.pipe(request);
  });
}
