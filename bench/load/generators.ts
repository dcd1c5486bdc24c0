/** Runs the load generators as processes of their own: wrk for throughput where it is installed, our client otherwise. */
import { execFileSync } from "node:child_process";
import { cpuSecondsOfEndedChildren } from "../processes.js";
import { ROOT, startChild } from "../servers.js";
import type { ClientLoad, ClientResult } from "./client.js";

export interface Load {
  readonly url: string;
  /** Written by `writeRequests`. */
  readonly file: string;
  readonly firstKey: number;
  readonly connections: number;
  readonly seconds: number;
  readonly keepAlive: boolean;
}

export interface Throughput {
  readonly requests: number;
  readonly seconds: number;
  readonly errors: number;
  readonly clientCpuSeconds: number;
}

/** The version, or null when wrk is not installed. */
export function wrkVersion(): string | null {
  try {
    // It prints its version with the usage and exits with 1.
    execFileSync("wrk", ["-v"], { encoding: "utf8", stdio: "pipe" });
    return "unknown version";
  } catch (error) {
    const { code, stdout } = error as { code?: string; stdout?: string };
    return code === "ENOENT" ? null : (/wrk \S+/.exec(stdout ?? "")?.[0] ?? "wrk");
  }
}

/** As fast as answers come. */
export async function throughput(load: Load, useWrk: boolean): Promise<Throughput> {
  const before = cpuSecondsOfEndedChildren();
  const measured = useWrk ? await wrk(load) : await withoutWrk(load);
  return { ...measured, clientCpuSeconds: cpuSecondsOfEndedChildren() - before };
}

/** At a fixed rate, timed from when requests were due. */
export function latency(load: Load, requestsPerSecond: number): Promise<ClientResult> {
  return client(load, requestsPerSecond);
}

/** As fast as answers come, with their latencies, by our client. */
export function closedLoop(load: Load): Promise<ClientResult> {
  return client(load, null);
}

async function withoutWrk(load: Load): Promise<Omit<Throughput, "clientCpuSeconds">> {
  const { requests, elapsedMs, errors } = await closedLoop(load);
  return { requests, seconds: elapsedMs / 1000, errors };
}

async function client(
  { url, file, firstKey, connections, seconds, keepAlive }: Load,
  requestsPerSecond: number | null,
): Promise<ClientResult> {
  const { hostname: host, port } = new URL(url);
  const argument: ClientLoad = {
    ...{ host, port: Number(port), file, firstKey, connections, seconds, keepAlive, requestsPerSecond },
  };
  const script = new URL("./client.js", import.meta.url).pathname;
  return JSON.parse(await output(process.execPath, [script, JSON.stringify(argument)])) as ClientResult;
}

async function wrk(load: Load): Promise<Omit<Throughput, "clientCpuSeconds">> {
  const script = `${ROOT}bench/load/replay.lua`;
  const flags = ["-t1", `-c${load.connections}`, `-d${load.seconds}s`, "--timeout", "10s", "-s", script, load.url];
  const text = await output("wrk", [...flags, "--", load.file, String(load.firstKey)]);
  const line = /^RESULT (.*)$/m.exec(text)?.[1];
  if (line === undefined) throw new Error(`wrk gave no result:\n${text}`);
  const result = JSON.parse(line) as { requests: number; micros: number; failed: number; broken: number };
  // With a connection for each request the server closes it, which wrk may count as a broken read after the answer.
  const errors = result.failed + (load.keepAlive ? result.broken : 0);
  return { requests: result.requests, seconds: result.micros / 1e6, errors };
}

function output(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = startChild(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout!.on("data", (data: Buffer) => {
      text += data.toString();
    });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${command} ended with code ${code}:\n${text}`)),
    );
  });
}
