/** Loads a server with wrk (https://github.com/wg/wrk) and reads what it measured. */
import { spawn } from "node:child_process";
import type { Running } from "./servers.js";

export interface Load {
  readonly path: string;
  /** A script in bench/load/ that makes the requests; gets `arguments` after `--`. */
  readonly script: string;
  readonly arguments: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}

export interface Measured {
  readonly requestsPerSecond: number;
  readonly requestsPerCpuSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were not 2xx, and socket errors. */
  readonly errors: number;
}

export async function measure(server: Running, load: Load): Promise<Measured> {
  const before = server.cpuSeconds();
  const output = await wrk(server, load);
  const cpu = server.cpuSeconds() - before;
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk gave no result:\n${output}`);
  const result = JSON.parse(line) as { requests: number; micros: number; p50: number; p99: number; errors: number };
  return {
    requestsPerSecond: result.requests / (result.micros / 1e6),
    requestsPerCpuSecond: result.requests / cpu,
    p50Ms: result.p50 / 1000,
    p99Ms: result.p99 / 1000,
    errors: result.errors,
  };
}

function wrk(server: Running, load: Load): Promise<string> {
  const script = new URL(`../../bench/load/${load.script}`, import.meta.url).pathname;
  const flags = ["-t1", `-c${load.connections}`, `-d${load.seconds}s`, "-s", script, `${server.url}${load.path}`];
  return new Promise((resolve, reject) => {
    const child = spawn("wrk", [...flags, "--", server.token, ...load.arguments], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
    });
    child.on("error", () => reject(new Error("wrk is not installed (Debian and Ubuntu: apt-get install wrk).")));
    child.on("close", () => resolve(output));
  });
}
