/**
 * Runs the load generators as processes of their own. Throughput is measured by wrk where it is installed, otherwise by
 * our client; LOAD=wrk, autocannon or client chooses.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cpuSecondsOfEndedChildren } from "../processes.js";
import { PEERS_FOLDER, ROOT, startChild } from "../servers.js";
import type { AutocannonResult } from "./autocannon.js";
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

export interface Generator {
  readonly kind: "wrk" | "autocannon" | "client";
  /** For the report. */
  readonly name: string;
}

export function loadGenerator(): Generator {
  const kind = process.env.LOAD ?? "";
  const wrk = wrkVersion();
  switch (kind) {
    case "":
      return wrk === null ? OUR_CLIENT : { kind: "wrk", name: wrk };
    case "wrk":
      if (wrk === null) throw new Error("LOAD=wrk: wrk is not installed");
      return { kind, name: wrk };
    case "autocannon":
      return { kind, name: `autocannon ${autocannonVersion()}` };
    case "client":
      return OUR_CLIENT;
    default:
      throw new Error(`LOAD=${kind}: known are wrk, autocannon and client`);
  }
}

const OUR_CLIENT: Generator = { kind: "client", name: "bench/load/client.ts" };

function autocannonVersion(): string {
  const file = join(PEERS_FOLDER, "node_modules/autocannon/package.json");
  if (!existsSync(file)) throw new Error("LOAD=autocannon: it is not installed; run make peers");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

/** The version, or null when wrk is not installed. */
function wrkVersion(): string | null {
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
export async function throughput(load: Load, generator: Generator): Promise<Throughput> {
  const before = cpuSecondsOfEndedChildren();
  const measured = await BY_KIND[generator.kind](load);
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

async function ourClient(load: Load): Promise<Omit<Throughput, "clientCpuSeconds">> {
  const { requests, elapsedMs, errors } = await closedLoop(load);
  return { requests, seconds: elapsedMs / 1000, errors };
}

async function client(load: Load, requestsPerSecond: number | null): Promise<ClientResult> {
  return (await runScript("client.js", load, requestsPerSecond)) as ClientResult;
}

async function autocannon(load: Load): Promise<AutocannonResult> {
  return (await runScript("autocannon.js", load, null)) as AutocannonResult;
}

/** A script beside this one, which prints its result as a line of JSON. */
async function runScript(
  name: string,
  { url, file, firstKey, connections, seconds, keepAlive }: Load,
  requestsPerSecond: number | null,
): Promise<unknown> {
  const { hostname: host, port } = new URL(url);
  const argument: ClientLoad = {
    ...{ host, port: Number(port), file, firstKey, connections, seconds, keepAlive, requestsPerSecond },
  };
  const script = new URL(`./${name}`, import.meta.url).pathname;
  return JSON.parse(await output(process.execPath, [script, JSON.stringify(argument)]));
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

const BY_KIND: Readonly<Record<Generator["kind"], (load: Load) => Promise<Omit<Throughput, "clientCpuSeconds">>>> = {
  wrk,
  autocannon,
  client: ourClient,
};

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
